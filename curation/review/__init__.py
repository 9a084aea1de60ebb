"""The review of machine-written sentences: the queue, the verdicts, and what stands beside a sentence."""
