"""Comparisons of encoders by their training data and weights."""
