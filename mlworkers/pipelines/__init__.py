"""Code that the pipelines of several families share: rows in, pure code and other apps' services, rows and files out.

Only here and in the families (`mlworkers/kinds/`) may Django and machine-learning libraries meet. A worker imports a
pipeline when its first run comes. A pipeline that another worker resumes after the first was killed must end as if it
had run once.
"""
