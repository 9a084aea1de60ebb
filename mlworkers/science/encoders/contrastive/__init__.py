"""Encoders trained by contrast: a sentence is nearer to its positive than to the other sentences of its batch."""
