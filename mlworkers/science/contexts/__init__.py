"""Pure: how similar two sentences are by the contexts that they fit (Sun et al. 2022)."""
