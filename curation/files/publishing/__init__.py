"""A published folder: a dataset as files that a hub, a library and a reader understand. Values in, files out."""
