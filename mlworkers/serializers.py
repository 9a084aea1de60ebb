"""Runs and their files, as programs read them."""
