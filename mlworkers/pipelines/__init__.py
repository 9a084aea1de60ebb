"""What each kind of run does: rows in, pure code and other apps' services, rows and files out.

The only place where Django and machine-learning libraries may meet; `tasks` loads it in the worker alone. A pipeline
that is taken up again after its worker was killed must end as if it had run once.
"""
