"""Paraphrases: written, translated, selected, rated."""
