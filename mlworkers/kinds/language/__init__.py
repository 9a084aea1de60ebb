"""Measures of language."""
