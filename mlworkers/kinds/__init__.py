"""The kinds of run, a folder for each family: its `kinds.py` declares them, and other modules carry them out."""
