"""Sentences and pairs as values: what is the same, what occurs twice, what is connected. Uses numpy."""
