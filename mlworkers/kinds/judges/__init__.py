"""Language models that judge tuples."""
