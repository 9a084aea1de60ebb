"""Realism: how human a sentence sounds, p_D, from a classifier that never saw it (RISE, section 3)."""
