"""What the verbs of `manage.py bws` share: a judgement file's options, and how its bad rows are told."""

from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.bws.files import BestIsWorst, Columns, JudgementFile, read_judgements
from curation.errors import UserError, errors_shown

REJECTED_SHOWN = 10


@dataclass(frozen=True)
class Answer:
    """What a verb found out: lines for people, figures for programs."""

    lines: list[str]
    figures: dict[str, Any]


def add_judgements(parser: ArgumentParser) -> None:
    parser.add_argument("judgements", type=Path, help="CSV with Item1 ... ItemN, BestItem, WorstItem")
    columns = parser.add_argument_group("columns, where they have other names")
    columns.add_argument(
        "--items", nargs="+", metavar="COL", help="one a place, or a single one whose cells hold lists"
    )
    columns.add_argument("--best", metavar="COL")
    columns.add_argument("--worst", metavar="COL")
    columns.add_argument("--annotator", metavar="COL")
    rows = parser.add_argument_group("rows to leave out")
    rows.add_argument(
        "--best-is-worst",
        type=BestIsWorst,
        choices=list(BestIsWorst),
        default=BestIsWorst.REJECT,
        help="a row with one item both best and worst; count: as best and as worst, as the K&M scripts do",
    )
    rows.add_argument(
        "--without", nargs="+", default=(), metavar="ITEM", help="leave out rows with these, as gold items"
    )
    rows.add_argument("--strict", action="store_true", help="stop at the first one instead of rejecting it")


def add_seed(parser: ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=1234)


def judgements_of(options: dict[str, Any]) -> JudgementFile:
    items = options["items"]
    columns = Columns(
        items=tuple(items) if items else None,
        best=options["best"],
        worst=options["worst"],
        annotator=options["annotator"],
    )
    with errors_shown():
        return read_judgements(
            options["judgements"],
            columns,
            best_is_worst=options["best_is_worst"],
            strict=options["strict"],
            without=options["without"],
        )


def seed_of(options: dict[str, Any]) -> int:
    seed: int = options["seed"]
    if seed < 0:
        raise UserError(_("The seed %(seed)s is negative; give 0 or more.") % {"seed": seed})
    return seed


def file_figures(file: JudgementFile) -> dict[str, int]:
    return {
        "judgements": len(file.judgements),
        "rejected": len(file.rejected),
        "repeated_items": file.repeated_items,
        "left_out": file.left_out,
    }


def file_lines(file: JudgementFile) -> Iterator[str]:
    """What a reader of the figures should know about the file they come from."""
    if file.warning:
        yield file.warning
    for error in file.rejected[:REJECTED_SHOWN]:
        yield _("Line %(line)s is left out: %(reason)s.") % {"line": error.line, "reason": error.reason}
    if file.rejected:
        yield ngettext("%(n)s row is left out.", "%(n)s rows are left out in all.", len(file.rejected)) % {
            "n": f"{len(file.rejected):,}"
        }
    if file.left_out:
        yield ngettext(
            "%(n)s row holds an item to leave out.", "%(n)s rows hold an item to leave out.", file.left_out
        ) % {"n": f"{file.left_out:,}"}
    if file.repeated_items:
        yield ngettext(
            "%(n)s row names an item twice; each place counts as an appearance.",
            "%(n)s rows name an item twice; each place counts as an appearance.",
            file.repeated_items,
        ) % {"n": f"{file.repeated_items:,}"}
