"""The beginning of a file, opened once: its format, encoding, columns and first rows, and their preview for people."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from curation.files.columns import (
    holds_numbers,
    holds_pairs,
    is_number,
    nested_refusal,
    recognised_columns,
    score_warning,
)
from curation.files.drafts import RECOGNISED, Columns, FileError, Layout
from curation.files.encoding import detect_encoding
from curation.files.pair_cells import holds_two_sentences, two_sentences
from curation.files.parquet import parquet_columns, parquet_sample
from curation.files.sniffing import PAIRS, detect_dialect, detect_format, sample_lines, sample_objects
from curation.pairs.text import is_readable, printable

# A page offers every column for each field: more than this is a matrix of numbers, or no table at all.
COLUMNS_MOST = 1000
_PARQUET_ROWS = 200
_PARQUET_CELLS = 20_000
_CELL_CHARACTERS = 500


def take_sample(
    path: Path, *, header: bool | None = True, delimiter: str | None = None, rows: str = PAIRS
) -> Layout:
    """header: whether a CSV or TSV file's first row names its columns; None guesses. rows: what the file should hold,
    for an error.

    Raises FileError where the file cannot be read, or its columns cannot be named or are too many.
    """
    format = detect_format(path, rows=rows)
    if format == "parquet":
        sample = _parquet_sample(path)
    else:
        sample = _text_sample(path, format, header=header, delimiter=delimiter)
    if not all(map(is_readable, sample.columns)):
        raise FileError(
            f"A column's name in {path.name} holds a NUL or bytes that are not text; rename the column."
        )
    return sample


def _text_sample(path: Path, format: str, *, header: bool | None, delimiter: str | None) -> Layout:
    encoding = detect_encoding(path)
    lines = sample_lines(path, encoding.name)
    warnings = (encoding.warning,) if encoding.warning else ()
    if format == "jsonl":
        return _json_sample(path, lines, encoding.name, warnings)
    dialect = detect_dialect(lines, usual="\t" if format == "tsv" else ",", given=delimiter)
    if not dialect.rows:
        raise FileError(f"{path.name} holds no row; give a file with one pair in each row.")
    _require_fewer(len(dialect.rows[0]), path)
    has_header = seems_header(dialect.rows) if header is None else header
    cells = dialect.rows[0] if has_header else range(1, dialect.width + 1)
    names = tuple(str(cell).strip() for cell in cells)
    return Layout(
        path, format, names, dialect.rows[has_header:], has_header,
        encoding.name, dialect.delimiter, dialect.quoted, warnings=warnings,
    )  # fmt: skip


def seems_header(rows: Sequence[Sequence[object]]) -> bool:
    """Whether the first row names columns: by known names, a word over numbers, or words unlike sentences."""
    first, below = rows[0], rows[1:]
    known = recognised_columns([str(cell) for cell in first], below, header=True)
    if known.a or known.pair:
        return True
    if any(is_number(cell) for cell in first):
        return False
    numeric = [index for index in range(len(first)) if holds_numbers(below, index)]
    # Names are short and differ, and do not end as sentences do.
    name_like = len(set(first)) == len(first) and all(len(str(cell)) <= 30 for cell in first)
    ends_as_sentence = any(str(cell).rstrip().endswith((".", "?", "!")) for cell in first)
    return bool(numeric) or (name_like and not ends_as_sentence)


def _json_sample(path: Path, lines: Sequence[str], encoding: str, warnings: tuple[str, ...]) -> Layout:
    objects = sample_objects(lines)
    if not objects:
        raise FileError(f"{path.name} holds no JSON object in its first lines; write one object a line.")
    # The keys of all of them, in the order in which they appear: a key may be missing where its value is.
    columns = tuple({key: None for values in objects for key in values})
    _require_fewer(len(columns), path)
    rows = [[values.get(name) for name in columns] for values in objects]
    return Layout(path, "jsonl", columns, rows, encoding=encoding, warnings=warnings)


def _parquet_sample(path: Path) -> Layout:
    columns, nested = parquet_columns(path)
    _require_fewer(len(columns), path)
    count = max(1, min(_PARQUET_ROWS, _PARQUET_CELLS // max(len(columns), 1)))
    rows = parquet_sample(path, columns, count, characters=_CELL_CHARACTERS)
    warnings = (nested_refusal(path.name, nested),) if nested else ()
    return Layout(path, "parquet", columns, rows, nested=nested, warnings=warnings)


def _require_fewer(columns: int, path: Path) -> None:
    if columns > COLUMNS_MOST:
        raise FileError(
            f"{path.name} has {columns:,} columns, and at most {COLUMNS_MOST:,} are read; "
            f"leave out those that hold neither a sentence nor a score."
        )


@dataclass(frozen=True)
class Preview(Layout):
    """guess: the columns to choose beforehand; rows: the first rows as text, each as wide as `columns`.

    pair_places: the places of the columns whose cells hold two sentences.
    """

    guess: Columns = RECOGNISED
    pair_places: frozenset[int] = frozenset()

    def shown_rows(self) -> Iterator[list[tuple[str, tuple[str, ...]]]]:
        """The first rows: of each cell its column and its texts, two where it holds two sentences, otherwise one."""
        for row in self.rows:
            divided = {index for index in self.pair_places if holds_two_sentences(row[index])}
            yield [
                (column, two_sentences(cell) if index in divided else (str(cell),))
                for index, (column, cell) in enumerate(zip(self.columns, row, strict=True))
            ]


def preview_file(
    path: Path, *, header: bool | None = None, delimiter: str | None = None, rows: int = 10
) -> Preview:
    """Look at a file's beginning. header None guesses whether its first row names the columns.

    Raises FileError where the file cannot be read.
    """
    sample = take_sample(path, header=header, delimiter=delimiter)
    width = len(sample.columns)
    texts = (["" if cell is None else printable(str(cell)) for cell in row] for row in sample.rows[:rows])
    guess = recognised_columns(sample.columns, sample.rows, header=sample.header)
    mapping = {field: sample.columns.index(name) for field, name in asdict(guess).items() if name}
    warning = score_warning(sample, mapping)
    shown = {
        "encoding": sample.encoding.removesuffix("-sig"),  # the mark is no news to anybody
        "rows": tuple(
            (*row, *[""] * width)[:width] for row in texts
        ),  # cut or filled to the width of the table
        "guess": guess,
        "warnings": (*sample.warnings, *([warning] if warning else [])),
        "pair_places": frozenset(index for index in range(width) if holds_pairs(sample.rows, index)),
    }
    return Preview(**vars(sample) | shown)
