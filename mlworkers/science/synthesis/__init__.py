"""Synthetic pairs: instructions, self-debiased decoding, post-processing, and a small generator trained on the spot."""
