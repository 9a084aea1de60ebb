"""Copies of a whole installation: backups, restoring them, and moving to another database."""
