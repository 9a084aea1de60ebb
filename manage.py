#!/usr/bin/env python
"""The command line of a checkout: `python manage.py help` lists the commands."""

from semblance.__main__ import main

if __name__ == "__main__":
    main()
