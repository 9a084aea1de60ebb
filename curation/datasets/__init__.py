"""Datasets, their pairs, score sets and members: what changes them, and what pages read of them."""
