"""`bws bundle`: its options and its answer."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from annotation.campaigns.selectors import campaign_numbered
from annotation.management.bws import verb
from annotation.results.bundle import bundle_write
from curation.foundation.command import spreadsheet_argument
from curation.foundation.database import database_ready


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "campaign", type=verb.whole, help="The number of the campaign, as in the address of its page."
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="PATH", help="A folder, or a file ending in .zip."
    )
    spreadsheet_argument(parser)


def run(options: dict[str, Any]) -> verb.Answer:
    database_ready()
    campaign = campaign_numbered(options["campaign"])
    bundle = bundle_write(campaign=campaign, path=options["out"], spreadsheet=options["spreadsheet"])
    figures = {"campaign": campaign.pk, "path": str(bundle.path), "judgements": bundle.judgements}
    line = _(
        "%(judgements)s judgements and everything computed from them, in %(files)d files, written to %(path)s."
    ) % {"judgements": f"{bundle.judgements:,}", "files": len(bundle.files) + 1, "path": bundle.path}
    return verb.Answer([line], figures | {"files": bundle.files})
