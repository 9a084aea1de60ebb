"""`semblance publish_dataset`: a snapshot as a folder that is ready for a hub."""

from argparse import ArgumentParser
from pathlib import Path
from time import monotonic
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.datasets.selectors import dataset_named
from curation.exchange.exporting import snapshot_create
from curation.exchange.snapshots import snapshot_numbered
from curation.foundation.command import Command as BaseCommand
from curation.foundation.command import slug_argument
from curation.pairs.leaks import Leaks
from semblance.publishing.folder import dataset_publish


class Command(BaseCommand):
    help = "Write a snapshot of a dataset as a folder for a data hub: Parquet files, README.md, citation, checksums."
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        slug_argument(parser)
        parser.add_argument("--to", required=True, type=Path, metavar="FOLDER", help="The folder to write.")
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--snapshot", type=int, metavar="N", help="Number of the snapshot. Default: the newest."
        )
        which.add_argument(
            "--new-snapshot",
            action="store_true",
            help="Make a snapshot of the active pairs, and publish that.",
        )
        parser.add_argument(
            "--leaks",
            choices=[each.value for each in Leaks],
            default=Leaks.REFUSE.value,
            help="Whether splits that were set here may share sentences in a new snapshot. Default: %(default)s.",
        )
        parser.add_argument(
            "--score-set",
            default="",
            metavar="NAME",
            help="The scores of the main table. Default: the newest human ones.",
        )
        parser.add_argument(
            "--author",
            action="append",
            default=[],
            metavar="NAME",
            help="Who is cited; give it once for each author.",
        )

    def handle(self, *, dataset: str, to: Path, **options: Any) -> None:
        started = monotonic()
        published = dataset_named(dataset)
        if options["new_snapshot"]:
            snapshot = snapshot_create(dataset=published, leaks=Leaks(options["leaks"]))
        else:
            snapshot = snapshot_numbered(published, options["snapshot"])
        outcome = dataset_publish(
            snapshot=snapshot,
            path=to,
            score_set=options["score_set"],
            authors=options["author"],
        )
        facts, tables = outcome.publication, outcome.contents.configurations
        figures = {
            "dataset": facts.slug,
            "snapshot": facts.snapshot,
            "path": str(to),
            "score_set": facts.main.name,
            "configurations": {each.name: each.rows for each in tables},
            "simulated_annotators": facts.simulated,
            "seconds": round(monotonic() - started, 3),
        }
        rows = {each.name: each.rows for each in tables}
        scored, unscored = rows["scored"], rows.get("unscored", 0)
        pairs = ngettext("%(n)s scored pair", "%(n)s scored pairs", scored) % {"n": scored}
        if unscored:
            pairs = _("%(scored)s, %(n)s without a score") % {"scored": pairs, "n": unscored}
        line = _("Snapshot %(number)s of %(dataset)s is written to %(path)s: %(pairs)s.") % {
            "pairs": pairs,
            "number": facts.snapshot,
            "dataset": facts.slug,
            "path": to,
        }
        if facts.simulated:
            mark = _("Some of its scores come from simulated annotators; the files and the README mark them.")
            line = f"{line} {mark}"
        self.answer(figures, line, as_json=options["json"])
