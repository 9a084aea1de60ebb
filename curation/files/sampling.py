"""A file before its rows are read: its format, encoding, columns and first rows, and their preview for people."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import islice
from pathlib import Path

from curation.files.cells import is_number
from curation.files.columns import knows_sentences, nested_refusal, unequal_rows_refusal, usual_places
from curation.files.dialects import DELIMITER_NAMES, Dialect, detect_dialect
from curation.files.drafts import RECOGNISED, Columns, FileError, Guess, Layout
from curation.files.encoding import detect_encoding, encoding_label
from curation.files.pair_cells import holds_two_sentences, two_sentences
from curation.files.parquet import parquet_classes, parquet_columns, parquet_sample
from curation.files.ratings import with_rating_columns
from curation.files.recognising import columns_decided
from curation.files.records import json_object
from curation.files.sniffing import PAIRS, SAMPLE_LINES, all_lines, detect_format, sample_lines
from curation.pairs.text import is_readable, printable

# A page offers every column for each field: more than this is a matrix of numbers, or no table at all.
COLUMNS_MOST = 1000
_PARQUET_ROWS = 200
_PARQUET_CELLS = 20_000
_CELL_CHARACTERS = 500
_OF_THE_BEGINNING = (
    "The file is large: what this page guesses comes from its first lines. The check reads all of it."
)


def take_sample(
    path: Path,
    *,
    header: bool | None = True,
    delimiter: str | None = None,
    encoding: str | None = None,
    rows: str = PAIRS,
    whole: bool = True,
) -> Layout:
    """header: whether a CSV or TSV file's first row names its columns; None guesses. encoding: None detects it. rows:
    what the file should hold, for an error. whole: whether all of the file is read to decide.

    Raises FileError where the file cannot be read, or its columns cannot be named or are too many.
    """
    format = detect_format(path, rows=rows)
    if format == "parquet":
        columns, nested = parquet_columns(path)
        _require_fewer(len(columns), path)
        count = max(1, min(_PARQUET_ROWS, _PARQUET_CELLS // max(len(columns), 1)))
        first = parquet_sample(path, columns, count, characters=_CELL_CHARACTERS)
        warnings = (nested_refusal(path.name, nested),) if nested else ()
        classes = {
            columns.index(name): names for name, names in parquet_classes(path).items() if name in columns
        }
        sample = Layout(
            path, "parquet", columns, first, nested=nested, warnings=warnings, class_names=classes
        )
    else:
        sample = _text_sample(
            path, format, header=header, delimiter=delimiter, encoding=encoding, whole=whole
        )
    if not all(map(is_readable, sample.columns)):
        raise FileError(
            f"A column's name in {path.name} holds a NUL or bytes that are not text; rename the column."
        )
    if whole:
        return sample
    return replace(sample, whole=False, warnings=(*sample.warnings, _OF_THE_BEGINNING))


def _text_sample(
    path: Path,
    format: str,
    *,
    header: bool | None,
    delimiter: str | None,
    encoding: str | None,
    whole: bool,
) -> Layout:
    detected = detect_encoding(path, encoding)
    beginning = sample_lines(path, detected.name)
    warnings = (detected.warning,) if detected.warning else ()
    lines = partial(all_lines, path, detected.name) if whole else partial(iter, beginning)
    if format == "jsonl":
        # The keys of all objects are the columns, in the order in which they appear: where a value is missing, its
        # key may be missing too.
        columns: dict[str, None] = {}
        first: list[dict[str, object]] = []
        for line in lines():
            try:
                values = json_object(line)
            except ValueError:
                continue  # parsing answers for the line; here only the keys count
            if not columns.keys() >= values.keys():
                columns |= dict.fromkeys(values)
                _require_fewer(len(columns), path)
            if len(first) < SAMPLE_LINES:
                first.append(values)
        if not first:
            raise FileError(f"{path.name} holds no JSON object; write one object a line.")
        rows = [[values.get(name) for name in columns] for values in first]
        return Layout(path, "jsonl", tuple(columns), rows, encoding=detected.name, warnings=warnings)
    usual = "\t" if format == "tsv" else ","
    dialect = detect_dialect(lines, usual=usual, given=delimiter, header=header)
    if not dialect.rows:
        raise FileError(f"{path.name} holds no row; give a file with one pair in each row.")
    _require_fewer(len(dialect.rows[0]), path)
    has_header = seems_header(dialect.rows) if header is None else header
    cells = dialect.rows[0] if has_header else range(1, dialect.width + 1)
    names = tuple(str(cell).strip().removeprefix("\ufeff") for cell in cells)
    # Refuse a table no row of which is as wide as its header, but most of which have some cells more.
    is_wider = dialect.width > len(names) > 1 and len(dialect.rows) > 2
    if has_header and is_wider and all(len(row) != len(names) for row in dialect.rows[1:]):
        raise FileError(unequal_rows_refusal(path.name, names, dialect.width, usual_places(names)))
    guesses = [*dialect_guesses(dialect, given=delimiter)]
    if header is None:
        told = (
            "The first row names the columns." if has_header else "The first row is a pair like the others."
        )
        guesses.append(Guess("header", "yes" if has_header else "no", told))
    return Layout(
        path, format, names, dialect.rows[has_header:], has_header,
        detected.name, dialect.delimiter, dialect.quoted, dialect.skipped, warnings=warnings,
        guesses=tuple(guesses),
    )  # fmt: skip


def dialect_guesses(dialect: Dialect, *, given: str | None) -> Iterator[Guess]:
    """What was decided about how a text file is cut into cells. given: the delimiter that somebody named."""
    if given is None and dialect.width > 1:
        name = DELIMITER_NAMES.get(dialect.delimiter, f"“{dialect.delimiter}”")
        share = f"{dialect.share:.0%}" if dialect.share in (0.0, 1.0) else f"{min(dialect.share, 0.999):.1%}"
        reason = f"The cells are separated by {name}: {share} of the lines then have {dialect.width} cells."
        yield Guess("delimiter", dialect.delimiter, reason)
    if dialect.has_marks:
        taken = "enclose" if dialect.quoted else "text"
        reason = (
            "Quotation marks enclose cells, as CSV writes them."
            if dialect.quoted
            else "Quotation marks are part of the text: each line is a row with the usual number of cells."
        )
        yield Guess("quotation_marks", taken, reason)
    if dialect.skipped:
        lines = "Line 1 is" if dialect.skipped == 1 else f"Lines 1 to {dialect.skipped} are"
        reason = f"{lines} above the header (a title or comments), and not read."
        yield Guess("first_line", str(dialect.skipped + 1), reason)


def seems_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names columns: by known names, a word over numbers, or words unlike sentences."""
    first, below = rows[0], rows[1:]
    if knows_sentences(first):
        return True
    if any(is_number(cell) for cell in first):
        return False
    # Names are short and differ, and do not end as sentences do.
    name_like = len(set(first)) == len(first) and all(len(cell) <= 30 for cell in first)
    ends_as_sentence = any(cell.rstrip().endswith((".", "?", "!")) for cell in first)
    return any(_half(below, place, is_number) for place in range(len(first))) or (
        name_like and not ends_as_sentence
    )


def _require_fewer(columns: int, path: Path) -> None:
    if columns > COLUMNS_MOST:
        raise FileError(
            f"{path.name} has {columns:,} columns, and at most {COLUMNS_MOST:,} are read; "
            f"leave out those that hold neither a sentence nor a score."
        )


@dataclass(frozen=True)
class Preview(Layout):
    """guess: the columns to choose beforehand; rows: the first rows as text, each as wide as `columns`.

    pair_places: the places of the columns whose cells hold two sentences. delimiter_given, encoding_given: those that
    somebody chose.
    """

    guess: Columns = RECOGNISED
    pair_places: frozenset[int] = frozenset()
    delimiter_given: str | None = None
    encoding_given: str | None = None

    @property
    def encoding_label(self) -> str:
        return encoding_label(self.encoding)

    def shown_rows(self) -> Iterator[list[tuple[str, tuple[str, ...]]]]:
        """The first rows: of each cell its column and its texts, two where it holds two sentences, otherwise one."""
        for row in self.rows:
            divided = {index for index in self.pair_places if holds_two_sentences(row[index])}
            yield [
                (column, two_sentences(cell) if index in divided else (str(cell),))
                for index, (column, cell) in enumerate(zip(self.columns, row, strict=True))
            ]


def preview_file(
    path: Path,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    rows: int = 10,
    whole: bool = True,
) -> Preview:
    """Look at a file. header None guesses whether its first row names the columns; encoding None detects it.

    whole: whether all of it is read.

    Raises FileError where the file cannot be read.
    """
    sample = take_sample(path, header=header, delimiter=delimiter, encoding=encoding, whole=whole)
    width = len(sample.columns)
    texts = (
        ["" if cell is None else printable(str(cell)) for cell in row] for row in islice(sample.rows, rows)
    )
    decided = columns_decided(RECOGNISED, sample, sentences=False)
    places = with_rating_columns(decided).mapping
    guess = Columns(
        **{each.name: sample.columns[places[each.name]] for each in fields(Columns) if each.name in places}
    )
    shown = {
        "encoding": sample.encoding.removesuffix(
            "-sig"
        ),  # without the byte-order mark, which nobody needs to know
        "rows": tuple(
            (*row, *[""] * width)[:width] for row in texts
        ),  # cut or filled to the width of the table
        "guess": guess,
        "delimiter_given": delimiter,
        "encoding_given": encoding,
        "pair_places": frozenset(
            place for place in range(width) if _half(sample.rows, place, holds_two_sentences)
        ),
    }
    return Preview(**vars(decided) | shown)


def _half(rows: Sequence[Sequence[object]], place: int, fits: Callable[[object], bool]) -> bool:
    """Whether at least half of a column's filled cells fit: a few others are errors of their rows."""
    filled = [row[place] for row in rows if len(row) > place and row[place] not in (None, "")]
    return bool(filled) and 2 * sum(map(fits, filled)) >= len(filled)
