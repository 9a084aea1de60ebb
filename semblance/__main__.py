"""The command line of Semblance: `semblance help` lists the commands. In a checkout, manage.py is the same."""

import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        # A wrong environment is the operator's to mend: one line, no traceback.
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
