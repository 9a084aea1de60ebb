"""The demonstration: the main job on our own sentences whose relatedness is known."""
