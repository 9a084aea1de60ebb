"""What a file looks like before it is imported: its first rows, and a guess at its columns to correct."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from curation.files.columns import recognised_columns
from curation.files.drafts import Columns
from curation.files.sampling import take_sample
from curation.pairs.text import printable


@dataclass(frozen=True)
class Preview:
    """guess: the columns to choose beforehand; rows: the first rows as text, each as wide as `columns`."""

    format: str
    encoding: str
    delimiter: str
    header: bool
    columns: tuple[str, ...]
    guess: Columns
    rows: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...]


def preview_file(
    path: Path, *, header: bool | None = None, delimiter: str | None = None, rows: int = 10
) -> Preview:
    """Look at a file's beginning. header None guesses whether its first row names the columns.

    Raises FileError where the file cannot be read.
    """
    sample = take_sample(path, header=header, delimiter=delimiter)
    width = len(sample.columns)
    return Preview(
        format=sample.format,
        encoding=sample.encoding.removesuffix("-sig"),  # the mark is no news to anybody
        delimiter=sample.delimiter,
        header=sample.header,
        columns=sample.columns,
        guess=recognised_columns(sample.columns, sample.rows, header=sample.header),
        rows=tuple(_shown(row, width) for row in sample.rows[:rows]),
        warnings=sample.warnings,
    )


def _shown(row: Sequence[object], width: int) -> tuple[str, ...]:
    """A row as text, cut or filled to the width of the table."""
    cells = ["" if cell is None else printable(str(cell)) for cell in row]
    return tuple((cells + [""] * width)[:width])
