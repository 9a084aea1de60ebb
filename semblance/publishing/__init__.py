"""A snapshot of a dataset as a published folder: facts of every app, brought together."""
