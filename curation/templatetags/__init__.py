"""What templates draw that needs more than a variable."""
