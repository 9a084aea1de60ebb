"""The description of a kind of run and of its settings, and the list of all kinds."""
