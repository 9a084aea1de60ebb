"""What the verbs of `semblance bws` share: the options of a file of judgements, and the report on its rows."""

from argparse import ArgumentError, ArgumentParser, ArgumentTypeError, _StoreAction
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.bws.files.columns import Columns
from annotation.bws.files.judgement_files import JudgementFile, read_judgements
from annotation.bws.files.settling import BestIsWorst, Spaces
from curation.foundation.command import reading_arguments
from curation.foundation.errors import UserError

REJECTED_SHOWN = 10
MOST_OF_ANYTHING = 10**12

Kind = TypeVar("Kind", bound=StrEnum)


@dataclass(frozen=True)
class Answer:
    """The result of a verb: lines for people, figures for programs, the exit status. timed: seconds are a figure."""

    lines: list[str]
    figures: dict[str, Any]
    status: int = 0
    timed: bool = True


def add_judgements(parser: ArgumentParser) -> None:
    parser.add_argument(
        "judgements",
        type=Path,
        nargs="+",
        help="A table with the columns Item1 ... ItemN, BestItem, WorstItem, or with one item in each row; "
        "several files share items.",
    )
    add_reading(parser)


def add_reading(parser: ArgumentParser, *, items: str = "--items") -> None:
    """The options that say how a file of judgements is read. items: the name of the first, where that one is taken."""
    columns = parser.add_argument_group("columns with other names")
    columns.add_argument(
        items,
        nargs="+",
        dest="item_columns",
        metavar="COL",
        help="The columns of the items, as names or as a pattern in quotation marks ('pair_*'), or one "
        "column of lists.",
    )
    columns.add_argument("--best", metavar="COL", help="The best item (default BestItem, or Best).")
    columns.add_argument("--worst", metavar="COL", help="The worst item (default WorstItem, or Worst).")
    columns.add_argument(
        "--annotator", metavar="COL", help="The person who annotated (default Annotator, if there is one)."
    )
    long = parser.add_argument_group("tables with one item in each row")
    long.add_argument("--item", metavar="COL", help="The item (default item, label, option, ...).")
    long.add_argument(
        "--block",
        metavar="COL",
        help="What rows of one judgement by one person share (default block, tuple, trial, ...).",
    )
    long.add_argument(
        "--choice",
        metavar="COL",
        help="1 for the best item, -1 for the worst and 0 for the others (default choice, value, ...).",
    )
    reading_arguments(parser)
    _rows_left_out_add(parser)
    spaces = parser.add_argument_group(
        "items that differ only in missing or added spaces"
    ).add_mutually_exclusive_group()
    for name, how, what in (
        (
            "--merge-spaces",
            Spaces.MERGE,
            "Count items that differ only in spaces as one (default, unless a row holds two of them).",
        ),
        ("--keep-spaces", Spaces.KEEP, "Count items that differ only in spaces as different."),
    ):
        spaces.add_argument(
            name, dest="spaces", action="store_const", const=how, default=Spaces.AUTO, help=what
        )


def _rows_left_out_add(parser: ArgumentParser) -> None:
    rows = parser.add_argument_group("rows that are left out")
    rows.add_argument(
        "--best-is-worst",
        type=one_of(BestIsWorst),
        default=BestIsWorst.REJECT,
        metavar="HOW",
        help="What to do with a row that names one item best and worst: reject it (default), count it as "
        "both, or fail.",
    )
    rows.add_argument(
        "--without",
        nargs="+",
        default=(),
        metavar="ITEM",
        help="Leave out rows with these items, for example those of attention checks.",
    )
    rows.add_argument(
        "--keep-duplicates",
        action="store_true",
        help="Also count the rows that a column is_duplicate marks.",
    )
    rows.add_argument(
        "--keep-rejected",
        action="store_true",
        help="Also count the rows whose AssignmentStatus is Rejected.",
    )
    rows.add_argument(
        "--keep-repeats",
        action="store_true",
        help="Also count a second judgement of the same tuple by the same person.",
    )
    rows.add_argument("--strict", action="store_true", help="Stop at the first row that is not a judgement.")


class _SingleValueAction(_StoreAction):
    """Stores a value, and refuses a second one: if two seeds are given, it is not clear which one is meant."""

    given = False

    def __call__(self, parser: ArgumentParser, *arguments: Any) -> None:
        if self.given and self.option_strings:
            raise ArgumentError(self, _("the option is given twice"))
        self.given = True
        super().__call__(parser, *arguments)


def refuse_repeats(parser: ArgumentParser) -> None:
    """Let the options that are added from now on take one value each."""
    for action in (None, "store"):
        parser.register("action", action, _SingleValueAction)


def whole(text: str) -> int:
    """Read a whole number of things for an argument."""
    try:
        number = int(text)
    except ValueError:
        raise ArgumentTypeError(f'"{text[:20]}" is not a whole number') from None
    if abs(number) > MOST_OF_ANYTHING:
        raise ArgumentTypeError(f"{text[:20]} is too large")
    return number


def one_of(kind: type[Kind]) -> Callable[[str], Kind]:
    """Read one of an enumeration's values for an argument."""

    def read(text: str) -> Kind:
        try:
            return kind(text)
        except ValueError:
            choices = ", ".join(kind)
            raise ArgumentTypeError(f'there is no "{text}"; choose one of {choices}') from None

    return read


def keep_apart(given: Path | Sequence[Path], out: Path) -> None:
    """Refuse to write over a file that is read."""
    for path in [given] if isinstance(given, Path) else given:
        with suppress(OSError):  # reading or writing will raise an error that explains it
            if out.samefile(path):
                raise UserError(_("%(path)s is the file to read; write to another file."), path=out)


def judgements_of(options: dict[str, Any], paths: Path | Sequence[Path] | None = None) -> JudgementFile:
    """Read the files of `judgements`, or other ones, as the options of `add_reading` say."""
    columns = {name: options[name] for name in ("best", "worst", "annotator", "item", "block", "choice")}
    names = (
        *("best_is_worst", "strict", "without", "spaces", "keep_duplicates", "keep_repeats", "keep_rejected"),
        "delimiter",
        "encoding",
    )
    how = {name: options[name] for name in names}
    named = Columns(items=options["item_columns"], **columns)
    return read_judgements(options["judgements"] if paths is None else paths, named, **how)


def with_commas(**numbers: int) -> dict[str, str]:
    """Whole numbers as people read them: 12,345."""
    return {name: f"{number:,}" for name, number in numbers.items()}


def file_figures(file: JudgementFile) -> dict[str, Any]:
    return {
        "judgements": len(file.judgements),
        "rejected": len(file.rejected),
        "repeated_items": file.repeated_items,
        "merged_items": file.merged_items,
        "left_out": file.left_out,
        "twice_by_one": file.twice_by_one,
        "warnings": list(file.warnings),
        "guesses": [
            {"file": name, **guess._asdict()} for name, guesses in file.guesses.items() for guess in guesses
        ],
    }


def file_lines(file: JudgementFile) -> Iterator[str]:
    """What a reader of the figures should know about their file, and what was decided about it."""
    yield from file.warnings
    for row in file.rejected[:REJECTED_SHOWN]:
        shown = _("Line %(line)s of %(file)s is left out: %(reason)s.")
        yield (shown if row.file else _("Line %(line)s is left out: %(reason)s.")) % row._asdict()
    if file.rejected:
        count = len(file.rejected)
        left_out = ngettext("%(n)s row is left out.", "%(n)s rows are left out in total.", count)
        yield left_out % with_commas(n=count)
    if others := file.left_out - file.twice_by_one:
        yield ngettext(
            "%(n)s row with an item of --without, marked as a duplicate or of a rejected assignment, is left out.",
            "%(n)s rows with an item of --without, marked as duplicates or of rejected assignments, are left out.",
            others,
        ) % {"n": f"{others:,}"}
    if file.repeated_items:
        yield ngettext(
            "%(n)s row names an item twice; each position counts as an appearance.",
            "%(n)s rows name an item twice; each position counts as an appearance.",
            file.repeated_items,
        ) % {"n": f"{file.repeated_items:,}"}
    for name, guesses in file.guesses.items():
        several = f"{name}: " if len(file.guesses) > 1 else ""
        yield from (f"{several}{guess.reason}" for guess in guesses)
