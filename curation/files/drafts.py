"""What a file of pairs is read into: draft pairs, and an error for each row that is none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


class FileError(ValueError):
    """The file as a whole cannot be used. The text is one sentence that says what is wrong and what to do."""

    @property
    def for_page(self) -> str:
        """The sentence for users of a page, where the text names an option of a command."""
        return str(self)


class DraftPair(NamedTuple):
    """One good row. Sentences are normalised; `""` and None stand where the file says nothing.

    line is the physical line on which the row begins, from 1 (Parquet: the row's number, from 1); row is its
    text as it stood, cells what the file's columns hold there.
    ratings, standard_error: of a score that is the mean of several ratings (`curation.files.ratings`).
    """

    line: int
    a: str
    b: str
    score: float | None = None
    label: int | None = None
    source: str = ""
    subset: str = ""
    split: str = ""
    external_id: str = ""
    row: str = ""
    cells: Sequence[object] = ()
    ratings: int | None = None
    standard_error: float | None = None


class RowError(NamedTuple):
    """One bad row: its line, why it was not taken, and its text as it was.

    a and b are its sentences where they could be read: the row still counts as an occurrence of that pair.
    cells are what the file's columns hold there, nothing where the row could not be cut into cells. is_header: whether
    the row is a header that stands among the rows, and so no data that somebody would mend.
    """

    line: int
    reason: str
    row: str
    a: str = ""
    b: str = ""
    source: str = ""
    split: str = ""
    cells: Sequence[object] = ()
    is_header: bool = False


@dataclass(frozen=True)
class Columns:
    """Which column holds what: its name, or its number from 1 where the file has no header.

    None: recognised by common names, or by position where there is no header; "": the file has none, whatever
    its columns are called. A label is never guessed, and where one is named no score is guessed.
    pair: the one column whose cells hold both sentences (`curation.files.pair_cells`), instead of a and b.
    worker: who gave a rating, where each row is one.
    """

    a: str | None = None
    b: str | None = None
    pair: str | None = None
    score: str | None = None
    label: str | None = None
    source: str | None = None
    subset: str | None = None
    split: str | None = None
    external_id: str | None = None
    worker: str | None = None


RECOGNISED = Columns()
# What a person names where the file has no such column: `--id none`.
NONE = "none"


def column_option(given: str | None) -> str | None:
    """What an option of a command says of a column: None where it was not given, "" for `none`."""
    return "" if given == NONE else given


class Guess(NamedTuple):
    """What was decided about a file although nobody said it. what: a field of Columns, or a property of the file.

    taken: the column or the value that was taken, "" where nothing was. reason: a whole sentence for people.
    """

    what: str
    taken: str
    reason: str


@dataclass(frozen=True)
class Layout:
    """How a file is to be read, decided once: from all of it, or from its beginning where `whole` is false.

    rows: the first rows below the header, as they stand, those that can be read.
    skipped: the physical lines above the header.
    nested: columns of a Parquet file that hold lists or other nested values, and are not read.
    warnings: sentences for people, such as an encoding that had to be guessed.
    class_names: the names of the classes that a column numbers from 0, by the index of the column.
    mapping: from a field of DraftPair to the index of its column in `columns`, from 0; empty until it is decided.
    guessed: the fields of the mapping that nobody named: their cells reject no row. guesses: what was decided, and why.
    decimal_comma: whether numbers have a comma before their decimals. unscored: the number that stands for no score.
    """

    path: Path
    format: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    header: bool = True
    encoding: str = ""
    delimiter: str = ""
    quoted: bool = False
    skipped: int = 0
    whole: bool = True
    nested: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    class_names: Mapping[int, Sequence[str]] = field(default_factory=dict)
    mapping: Mapping[str, int] = field(default_factory=dict)
    guessed: frozenset[str] = frozenset()
    guesses: tuple[Guess, ...] = ()
    decimal_comma: bool = False
    unscored: float | None = None
