"""The demonstration: the main job on sentences of our own whose relatedness is known."""
