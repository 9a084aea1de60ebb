"""Generated pairs."""
