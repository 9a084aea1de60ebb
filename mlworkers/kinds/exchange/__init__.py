"""Files of pairs and sentences: checked, imported, exported."""
