"""`semblance find_duplicates`: pairs of a dataset that stand there, or in other datasets, more than once."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.datasets.differing_scores import DifferingScores
from curation.datasets.duplicates import Duplicates, duplicate_pairs, duplicates_found
from curation.datasets.selectors import dataset_named
from curation.files.tables import csv_lines
from curation.files.writing import as_text, replacing
from curation.foundation.command import Command as BaseCommand
from curation.foundation.command import slug_argument, spreadsheet_argument
from curation.foundation.errors import errors_shown
from curation.pairs.duplicate_groups import Likeness

SHOWN = 10  # groups
COLUMNS = (
    "group", "likeness", "scores_differ", "dataset", "pair", "id", "source", "split", "sentence1", "sentence2",
)  # fmt: skip


class Command(BaseCommand):
    help = (
        "Find exact, mirrored (the sentences swapped) and near duplicates, within a dataset and across "
        "datasets. Nothing is changed."
    )
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        slug_argument(parser)
        parser.add_argument(
            "--against",
            action="append",
            default=[],
            metavar="SLUG",
            help="Another dataset; may be given several times.",
        )
        parser.add_argument(
            "--threshold",
            type=float,
            default=0.8,
            help="Jaccard index of the words from which sentences are near duplicates. Default: %(default)s.",
        )
        parser.add_argument(
            "--out", type=Path, metavar="FILE", help="A CSV file with every pair of every group."
        )
        spreadsheet_argument(parser)

    def handle(self, *, dataset: str, against: list[str], **options: Any) -> None:
        started = monotonic()
        searched = dataset_named(dataset)
        others = [dataset_named(slug) for slug in dict.fromkeys(against) if slug != dataset]
        found = duplicates_found(searched, against=others, threshold=options["threshold"])
        differing = DifferingScores(searched)
        if options["out"]:
            with errors_shown(), replacing(options["out"]) as file, as_text(file) as text:
                ranked = [
                    (rank, group) for rank, group in enumerate(found, start=1) for _pair in group.numbers
                ]
                pairs = duplicate_pairs(number for group in found for number in group.numbers)
                differ = differing.pairs()
                rows = (
                    (rank, group.likeness.value, int(pair.number in differ), pair.dataset, pair.number, pair.id,
                     pair.source, pair.split, pair.first, pair.second)
                    for (rank, group), pair in zip(ranked, pairs, strict=True)
                )  # fmt: skip
                text.writelines(csv_lines(chain([COLUMNS], rows), spreadsheet=options["spreadsheet"]))
        counted = Counter(group.likeness for group in found)
        figures = {
            "dataset": searched.slug,
            "groups": {likeness.value: counted[likeness] for likeness in Likeness},
            "pairs": sum(len(group.numbers) for group in found),
            "scores_differ": len(differing),
            "seconds": round(monotonic() - started, 3),
        }
        self.answer(figures, *_lines(found, counted, differing), as_json=options["json"])


def _lines(
    found: Sequence[Duplicates], counted: Counter[Likeness], differing: DifferingScores
) -> Iterator[str]:
    if not found:
        yield _("No pair is there more than once.")
    else:
        yield _("%(exact)d groups of exact, %(mirrored)d of mirrored and %(near)d of near duplicates.") % {
            likeness.value: counted[likeness] for likeness in Likeness
        }
    for group in found[:SHOWN]:
        named = ", ".join(
            f"{pair.dataset}/{pair.number} ({pair.id})" for pair in duplicate_pairs(group.numbers)
        )
        yield f"{group.likeness}: {named}"
    if len(found) > SHOWN:
        yield _("%(more)d more groups; name a file with --out to see all.") % {"more": len(found) - SHOWN}
    # Equal pairs whose scores contradict each other.
    if groups := len(differing):
        yield ngettext(
            "%(groups)s group of equal pairs with different scores:",
            "%(groups)s groups of equal pairs with different scores:",
            groups,
        ) % {"groups": f"{groups:,}"}
    for equal in differing.first(SHOWN):
        shown = [
            f"{one.value:g} (pair {one.pair_id}, {one.pair.external_id})" for one in equal.scores[:SHOWN]
        ]
        yield f"{equal.score_set}: {', '.join(shown)}{', …' if len(equal.scores) > SHOWN else ''}"
    if groups > SHOWN:
        yield _("%(more)d more groups; in the file of --out, their pairs have scores_differ 1.") % {
            "more": groups - SHOWN
        }
