"""The kinds of run, and what can be set of each."""
