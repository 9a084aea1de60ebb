"""Sentences and pairs as values: what is the same, what stands twice, what hangs together. Knows numpy."""
