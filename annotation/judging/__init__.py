"""Judging: who gets which tuple, what becomes of the answer, what annotators see."""
