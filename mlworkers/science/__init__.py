"""The pure half of the machine's side: models, their training and what they measure; no Django, no database."""
