"""Views of runs and of what they make, a module per subject."""
