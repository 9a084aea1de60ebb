"""What a run found: estimates, tables, charts and sentences, for pages and files alike."""
