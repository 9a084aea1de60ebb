"""The review of machine-written sentences: the queue, the verdicts, and the context of a sentence."""
