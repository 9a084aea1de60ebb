"""Where a model's weights come from, how they are loaded, and what computes with them: pure."""
