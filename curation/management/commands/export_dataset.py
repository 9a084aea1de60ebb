"""`semblance export_dataset`: a dataset's pairs and scores into a file."""

from argparse import ArgumentParser
from pathlib import Path
from time import monotonic
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.datasets.selectors import dataset_named
from curation.exchange.dataset_card import card_write
from curation.exchange.exporting import pairs_export
from curation.files.tables import FORMATS
from curation.foundation.command import Command as BaseCommand
from curation.foundation.command import slug_argument, spreadsheet_argument
from curation.pairs.inclusion import EXPLAINED, INCLUSIONS, UNNAMED, Inclusion


class Command(BaseCommand):
    help = "Write a dataset's active pairs and their scores into a file."
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        slug_argument(parser)
        parser.add_argument("--format", required=True, choices=FORMATS, help="The kind of file.")
        parser.add_argument("--out", required=True, type=Path, metavar="PATH", help="The file to write.")
        parser.add_argument(
            "--score-set", metavar="NAME", help="Write only this score set, to a column named score."
        )
        parser.add_argument(
            "--generated-pairs",
            choices=INCLUSIONS,
            default=UNNAMED.value,
            help=f"{EXPLAINED} Default: %(default)s.",
        )
        parser.add_argument("--scored-only", action="store_true", help="Leave out pairs without a score.")
        parser.add_argument(
            "--standard-errors",
            action="store_true",
            help="Add a column with the standard error of each score that has one.",
        )
        parser.add_argument(
            "--plain",
            action="store_true",
            help="Leave out the origin of pairs, and the method and counts of scores.",
        )
        spreadsheet_argument(parser, "--neutralise-formulas")

    def handle(self, *, dataset: str, out: Path, **options: Any) -> None:
        started = monotonic()
        exported = dataset_named(dataset)
        outcome = pairs_export(
            dataset=exported,
            path=out,
            format=options["format"],
            score_set=options["score_set"],
            plain=options["plain"],
            standard_errors=options["standard_errors"],
            neutralise=options["neutralise_formulas"],
            generated_pairs=Inclusion(options["generated_pairs"]),
            scored_only=options["scored_only"],
        )
        card = card_write(exported, outcome)
        sets = len(outcome.score_sets)
        figures = {"dataset": exported.slug, "path": str(out), "card": str(card), "rows": outcome.rows}
        figures |= {"generated_pairs": outcome.generated_pairs.value, "unreviewed": outcome.unreviewed}
        figures |= {"score_sets": list(outcome.score_sets), "seconds": round(monotonic() - started, 3)}
        line = _("%(rows)s and %(sets)s of %(dataset)s written to %(path)s.") % {
            "rows": ngettext("%(n)s pair", "%(n)s pairs", outcome.rows) % {"n": outcome.rows},
            "sets": ngettext("%(n)s score set", "%(n)s score sets", sets) % {"n": sets},
            "dataset": exported.slug,
            "path": out,
        }
        if outcome.unreviewed:
            warning = ngettext(
                "%(n)s of them is a generated pair that nobody has reviewed.",
                "%(n)s of them are generated pairs that nobody has reviewed.",
                outcome.unreviewed,
            )
            line = f"{line} {warning % {'n': outcome.unreviewed}}"
        described = _("The licence, the scores and who wrote the sentences are in %(card)s.") % {"card": card}
        self.answer(figures, line, described, as_json=options["json"])
