"""Realism: how human a sentence sounds, p_D (RISE, section 3), here from a classifier that never saw it."""
