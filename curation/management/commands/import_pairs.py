"""`semblance import_pairs`: a file of sentence pairs into a dataset."""

from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from django.utils.translation import gettext as _

from curation.datasets.leak_guard import leak_in_words
from curation.datasets.selectors import dataset_by_slug
from curation.datasets.services import dataset_draft, owner_lines
from curation.datasets.splits import MOST_ON_A_PAGE, leaks_now, too_many_for_a_page
from curation.exchange.importing import CHANGE_NAMES, ImportOptions, ImportOutcome, change_shown, pairs_import
from curation.exchange.rating_words import ratings_in_words
from curation.files.dataset_folders import unfolded
from curation.files.drafts import Columns, FileError, column_option
from curation.files.unpacking import UNPACKED_MOST
from curation.foundation.command import Command as BaseCommand
from curation.foundation.command import (
    no_header_argument,
    reading_arguments,
    reading_given,
    rejected_arguments,
    target_arguments,
)
from curation.foundation.errors import errors_shown
from curation.pairs.leaks import Leak, Leaks
from curation.people.accounts.lookup import account_named

COLUMNS = {
    "a": ("a", "The first sentence."),
    "b": ("b", "The second sentence."),
    "pair": ("pair", "One column with both sentences. A column Text whose cells hold two is recognised."),
    "score": ("score", "The score."),
    "source": ("source", "The source."),
    "subset": (
        "subset",
        "The part of the source, such as a genre, or the label of an inference pair.",
    ),
    "split": ("split", "The split."),
    "worker": ("worker", "Who gave the rating, where each row is one (default: WorkerId, Annotator, ...)."),
    "id": ("external_id", "The id, which is unique within its source and split."),
}

OTHER_SPLIT = {"same": True, "new": False}


class Command(BaseCommand):
    help = (
        "Import a file of sentence pairs (CSV, TSV, JSONL, Parquet), or a folder that the library datasets saved, "
        "into a dataset."
    )
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="The file to import.")
        target_arguments(parser)
        columns = parser.add_argument_group(
            "columns",
            "COL is the name of a column, or its number from 1 if the file has no header, or none if the file has no "
            "such column. What is not named is recognised; a recognised column rejects no row.",
        )
        for option, (_field, meaning) in COLUMNS.items():
            columns.add_argument(f"--{option}", metavar="COL", help=meaning)
        parser.add_argument(
            "--scale",
            nargs=2,
            type=float,
            metavar=("LOW", "HIGH"),
            help="The scale of the scores; with 3 1, the most similar pairs have 1. Default: the smallest "
            "common scale that fits.",
        )
        no_header_argument(parser)
        reading_arguments(parser)
        parser.add_argument(
            "--ratings",
            action=BooleanOptionalAction,
            help="Each row is one rating (or not, with --no-ratings); a pair gets the mean of its ratings. Default: "
            "if a column says who rated, and most rows are of pairs with several scores.",
        )
        parser.add_argument(
            "--score-set", default="reference", metavar="NAME", help="The score set of the scores."
        )
        parser.add_argument(
            "--source-name", metavar="NAME", help="Source of all rows. Default: the name of the file."
        )
        parser.add_argument(
            "--split-name",
            metavar="NAME",
            help="Split of all rows. Default: the split in the name of the file.",
        )
        _outcome_add(parser)

    def handle(self, *, file: Path, dataset: str, create: bool, owner: str | None, **options: Any) -> None:
        started = monotonic()
        owned = account_named(owner) if owner else None
        target = dataset_by_slug(dataset)
        if target is None and not create:
            self.fail(_("There is no dataset “%(slug)s”. Add --create to create it.") % {"slug": dataset})
        with errors_shown(FileError), unfolded(file, most=UNPACKED_MOST, label_names=False) as plain:
            outcome = pairs_import(
                dataset=target or dataset_draft(slug=dataset, name=dataset, created_by=owned),
                path=plain,
                options=ImportOptions(
                    columns=Columns(
                        **{
                            field: column_option(options[option])
                            for option, (field, _help) in COLUMNS.items()
                        }
                    ),
                    **reading_given(options),
                    scale=options["scale"] and tuple(options["scale"]),
                    score_set=options["score_set"],
                    source=options["source_name"],
                    split=options["split_name"],
                    across_splits=OTHER_SPLIT.get(options["other_split"]),
                    strict=options["strict"],
                    leaks=Leaks(options["leaks"]),
                    ratings=options["ratings"],
                ),
                errors=options["errors"],
                dry_run=options["dry_run"],
            )
        told = outcome.as_json()
        keys = (
            "dataset", "rows", "added", "updated", "unchanged", "rejected", "scores_added", "changes", "duplicates",
            "score_set", "scale", "scale_falls", "guesses", "ratings", "dry_run",
        )  # fmt: skip
        # What the splits share afterwards; None where the dataset has too many pairs to count it, or is not made.
        leaks: Sequence[Leak] | None = None
        if outcome.dry_run:
            leaks = outcome.leaks.after if outcome.leaks else None
        elif (imported := dataset_by_slug(dataset)) is not None and not too_many_for_a_page(imported):
            leaks = leaks_now(imported)
        figures = {
            **{key: told[key] for key in keys},
            "leaks": None
            if leaks is None
            else [[leak.split, leak.other, leak.pairs, leak.own] for leak in leaks],
            "seconds": round(monotonic() - started, 3),
        }
        lines = owner_lines(dataset_by_slug(dataset), made=target is None)
        if leaks is None and (outcome.leaks_uncounted or not outcome.dry_run):
            uncounted = _(
                "The sentences that splits share were not counted, because there are more than %(most)s pairs. After "
                "the import, count them with semblance split_pairs %(dataset)s."
            )
            lines.append(uncounted % {"most": f"{MOST_ON_A_PAGE:,}", "dataset": outcome.dataset})
        sentence = _("After the import: %(leak)s") if outcome.dry_run else "%(leak)s"
        lines += [sentence % {"leak": leak_in_words(leak)} for leak in leaks or ()]
        self.answer(figures, *lines, *_lines(outcome), as_json=options["json"])


def _outcome_add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="Print what the import would do, and write nothing."
    )
    rejected_arguments(parser)
    parser.add_argument(
        "--other-split",
        choices=OTHER_SPLIT,
        help="What a row is if its sentences are a pair of another split: that pair, or a new one. "
        "Default: that pair if most new rows are such rows.",
    )
    parser.add_argument(
        "--leaks",
        choices=[each.value for each in Leaks],
        default=Leaks.REFUSE.value,
        help="Whether splits that were set here may share sentences with those of the file. "
        "Default: %(default)s.",
    )


def _lines(outcome: ImportOutcome) -> Iterator[str]:
    yield from outcome.warnings
    if outcome.guesses:
        yield _("Nobody said the following, so it was decided from the whole file:")
        yield from (f"  {guess.reason}" for guess in outcome.guesses)
    if ratings := outcome.ratings_told:
        yield from ratings_in_words(ratings)
    yield _("Columns: %(columns)s.") % {"columns": ", ".join(f"{k}: {v}" for k, v in outcome.columns.items())}
    if outcome.unread:
        yield _("Columns that are not read: %(columns)s.") % {"columns": ", ".join(outcome.unread)}
    if outcome.source is not None:
        yield _("Source of all rows: %(source)s.") % {"source": outcome.source or _("none")}
    if outcome.split is not None:
        yield _("Split of all rows: %(split)s.") % {"split": outcome.split or _("none")}
    yield from _scores(outcome)
    duplicates = _(
        "Duplicates: %(within_file)s within the file, %(in_dataset)s in the dataset, %(mirrored)s mirrored, "
        "%(across_splits)s across splits."
    )
    yield duplicates % outcome.duplicates
    yield from _changes(outcome)
    for error in outcome.errors[:10]:
        yield _("Line %(line)s was rejected: %(reason)s.") % {"line": error.line, "reason": error.reason}
    names = {"dataset": outcome.dataset, **vars(outcome)}
    counts = _(
        "%(rows)s rows: %(added)s added, %(updated)s updated, %(unchanged)s unchanged, %(rejected)s rejected."
    )
    counts %= names
    if outcome.dry_run:
        yield _("Nothing was written (dry run). The import would give: %(counts)s") % {"counts": counts}
    elif not outcome.added and not outcome.updated:
        sentence = _("Nothing was added, because the dataset already contains these pairs. %(counts)s")
        if outcome.rejected:
            sentence = _("Nothing was added, because the dataset already contains the other rows. %(counts)s")
        yield sentence % {"counts": counts}
    else:
        yield f"{outcome.dataset}: {counts}"


def _scores(outcome: ImportOutcome) -> Iterator[str]:
    if outcome.scale:
        low, high = outcome.scale
        names = {"set": outcome.score_set, "low": low, "high": high, "n": outcome.scores_added}
        line = _("Scores: %(n)s into “%(set)s” on the scale %(low)g to %(high)g.") % names
        if outcome.scale_guessed:
            line = _("%(line)s Use --scale to give another.") % {"line": line}
        elif outcome.scale_falls:
            line = _("%(line)s The scale falls in the file, so each score was turned round.") % {"line": line}
        yield line


def _changes(outcome: ImportOutcome) -> Iterator[str]:
    """How many pairs that were there change in what, and the first of them."""
    if not outcome.updated:
        return
    counted = ", ".join(
        f"{CHANGE_NAMES[what]} {number}" for what, number in outcome.changes.items() if number
    )
    yield _("Changes of pairs that are in the dataset: %(counted)s.") % {"counted": counted}
    for row in outcome.changed[:10]:
        what, old, new = CHANGE_NAMES[row.what], change_shown(row.old), change_shown(row.new)
        names = {"line": row.line, "what": what, "old": old, "new": new, "sentence": row.sentence[:60]}
        yield _("Line %(line)s: %(what)s %(old)s → %(new)s (%(sentence)s)") % names
