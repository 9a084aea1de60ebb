"""Statistics that every app uses: correlations with their intervals, histograms, kappa. Pure."""
