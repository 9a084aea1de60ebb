"""What enters and leaves a dataset: uploads, imports, generated pairs, exports and snapshots."""
