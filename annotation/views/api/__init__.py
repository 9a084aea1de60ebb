"""What answers programs, by subject."""
