"""What a file of pairs is read into: draft pairs, and an error for each row that is none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


class FileError(ValueError):
    """The file as a whole cannot be used. The text is one sentence that says what is wrong and what to do."""


class DraftPair(NamedTuple):
    """One good row. Sentences are normalised; `""` and None stand where the file says nothing.

    line is the physical line on which the row begins, from 1 (Parquet: the row's number, from 1); row is its
    text as it stood, cells what the file's columns hold there.
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


class RowError(NamedTuple):
    """One bad row: its line, why it was not taken, and its text as it was.

    a and b are its sentences where they could be read: the row still counts as an occurrence of that pair.
    cells are what the file's columns hold there, nothing where the row could not be cut into cells.
    """

    line: int
    reason: str
    row: str
    a: str = ""
    b: str = ""
    source: str = ""
    split: str = ""
    cells: Sequence[object] = ()


@dataclass(frozen=True)
class Columns:
    """Which column holds what: its name, or its number from 1 where the file has no header.

    None: recognised by common names, or by position where there is no header; "": the file has none, whatever
    its columns are called. A label is never guessed, and where one is named no score is guessed.
    pair: the one column whose cells hold both sentences (`curation.files.pair_cells`), in place of a and b.
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


RECOGNISED = Columns()


@dataclass(frozen=True)
class Layout:
    """How a file is to be read, decided once from its beginning.

    rows: the first rows below the header, as they stand, those that can be read.
    nested: columns of a Parquet file that hold lists or other nested values, and are not read.
    warnings: sentences for people, such as an encoding that had to be guessed.
    mapping: from a field of DraftPair to the index of its column in `columns`, from 0; empty until it is decided.
    """

    path: Path
    format: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    header: bool = True
    encoding: str = ""
    delimiter: str = ""
    quoted: bool = False
    nested: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    mapping: Mapping[str, int] = field(default_factory=dict)
