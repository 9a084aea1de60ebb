"""Sentence encoders: loading, encoding, measuring. Knows numpy and torch, and no Django."""
