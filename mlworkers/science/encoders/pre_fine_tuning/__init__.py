"""Encoders that are trained on inference before they are fine-tuned on a task (STILTs; Phang et al. 2018)."""
