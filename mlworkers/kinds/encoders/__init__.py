"""Encoders: trained, scored, searched with."""
