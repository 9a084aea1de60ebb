"""Label consistency: whether a pair is as similar as it was meant to be, p_y, from a classifier that never saw it."""
