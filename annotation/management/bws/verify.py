"""`bws verify`: its options and its answer.

The exit status is 0 if the bundle is complete, otherwise 1 with a line for each fault.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from annotation.management.bws import verb
from curation.files.manifest import manifest_faults


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, help="The folder or zip of the bundle.")


def run(options: dict[str, Any]) -> verb.Answer:
    bundle: Path = options["bundle"]
    faults = manifest_faults(bundle)
    figures = {"bundle": str(bundle), "whole": not faults, "faults": faults}
    lines = faults or [_("%(bundle)s is complete: every file is as its manifest says.") % {"bundle": bundle}]
    return verb.Answer(lines, figures, status=1 if faults else 0, timed=False)
