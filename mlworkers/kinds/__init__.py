"""Models as people see them: what each is made of, what was measured of it, and what names it."""
