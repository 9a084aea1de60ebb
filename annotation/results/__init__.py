"""Results: what was judged, as arrays, figures, score sets and files."""
