"""`bws verify`: whether a bundle is complete and unchanged."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from annotation.bws.files.manifest import manifest_faults
from annotation.management.bws.verb import Answer
from curation.errors import errors_shown

HELP = (
    "Check a bundle against its manifest: no file is missing, changed or added. "
    "Exit status 0 if this is so, otherwise 1 and a line for each fault."
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("bundle", type=Path, help="The folder or zip of the bundle.")


def run(options: dict[str, Any]) -> Answer:
    bundle: Path = options["bundle"]
    with errors_shown():
        faults = manifest_faults(bundle)
    figures = {"bundle": str(bundle), "whole": not faults, "faults": faults}
    if faults:
        return Answer(faults, figures, status=1)
    return Answer(
        [_("%(bundle)s is whole: every file is as its manifest says.") % {"bundle": bundle}], figures
    )
