"""Forms of runs, a module per subject."""
