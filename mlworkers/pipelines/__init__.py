"""What each kind of run does: rows in, pure code and other apps' services, rows and files out.

The only place where Django and machine-learning libraries may meet; `tasks` loads it in the worker alone. A pipeline
that another worker resumes after the first was killed must end as if it had run once.
"""
