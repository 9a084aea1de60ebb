"""Similarity from contexts."""
