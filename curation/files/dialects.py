"""How a text file is cut into cells: what separates them, whether quotation marks enclose them, where its header is.

The first lines are tried with every delimiter. What is taken is then held against all lines, and where it does not
hold, all delimiters are tried again on all lines.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise

from curation.files.columns import knows_sentences
from curation.files.records import Record, RecordLines, false_merge, split_cells

DELIMITERS = ",\t;|"
DELIMITER_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
# A title or comments may stand above a header, and no more.
HEADER_WITHIN = 20
_SAMPLE_LINES = 2000
_HOLDS = 0.9  # the share of lines with as many cells as most, from which a delimiter needs no other beside it
_SEPARATOR_LINE = re.compile(r"\ufeff?\"?sep=(.)\"?\s*", re.IGNORECASE)

Lines = Callable[[], Iterator[str]]


def separator_named(line: str) -> str:
    """The delimiter that a first line `sep=;` names, as spreadsheets write it; "" where it names none."""
    match = _SEPARATOR_LINE.fullmatch(line)
    return match[1] if match else ""


@dataclass(frozen=True)
class Dialect:
    """How the cells of a text file are separated.

    rows: its first rows from the header on.
    width: how many cells most rows have.
    share: of the lines, those in rows of that width, 0..1.
    skipped: the physical lines above the header.
    has_marks: whether the file has quotation marks at all.
    torn: whether most of the delimiters that were found stand where prose has them.
    known: whether the header has the usual names of sentences.
    """

    delimiter: str
    quoted: bool
    rows: tuple[tuple[str, ...], ...] = ()
    width: int = 0
    share: float = 0.0
    skipped: int = 0
    has_marks: bool = False
    torn: bool = False
    known: bool = False

    @property
    def rank(self) -> tuple[object, ...]:
        """Of two dialects, the one with the higher rank is the file's."""
        return self.known, round(min(self.share, _HOLDS), 1), not self.torn, -self.skipped, self.share


@dataclass
class _Reading:
    """One way to cut the lines. lines: those with a cell at least; good: those in rows of the usual width."""

    rows: list[tuple[int, tuple[str, ...]]]
    width: int
    lines: int
    good: int
    enclosed: bool = True

    @property
    def share(self) -> float:
        return self.good / self.lines if self.lines and self.width > 1 else 0.0


def detect_dialect(
    lines: Sequence[str] | Lines, *, usual: str, given: str | None = None, header: bool | None = True
) -> Dialect:
    """How the lines are cut: with the usual delimiter where it will do as well as another. given: the delimiter.

    lines: those of the whole file, which are read as often as is needed. header: whether the first row names columns.
    """
    of_file: Lines = lines if callable(lines) else lambda: iter(lines)
    beginning = list(islice(of_file(), _SAMPLE_LINES))
    if named := given or (separator_named(beginning[0]) if beginning else ""):
        return _dialect(of_file, named, header=header)
    order = [usual, *(other for other in DELIMITERS if other != usual)]
    found = _best([_dialect(partial(iter, beginning), each, header=header) for each in order])
    if len(beginning) < _SAMPLE_LINES:
        return found
    whole = _dialect(of_file, found.delimiter, header=header)
    if whole.share >= min(_HOLDS, found.share - 0.05):
        return whole
    return _best([_dialect(of_file, each, header=header) for each in order])


def _best(dialects: Sequence[Dialect]) -> Dialect:
    return max(dialects, key=lambda dialect: dialect.rank)


def _dialect(lines: Lines, delimiter: str, *, header: bool | None) -> Dialect:
    # The lines as rows in which a quotation mark is a character like others; and whether there is one.
    widths, marks = Counter[int](), False
    for line in lines():
        if not line.isspace():
            widths[line.count(delimiter) + 1] += 1
            marks = marks or '"' in line
    width = _usual(widths)
    cut = split_cells(RecordLines(lines()), delimiter=delimiter, quoted=False)
    records = islice((row for row in cut if isinstance(row, Record)), _SAMPLE_LINES)
    kept = [(record.line, tuple(map(str, record.cells))) for record in records]
    plain, has_marks = _Reading(kept, width, widths.total(), widths[width]), marks

    reading, quoted = plain, True
    if has_marks:
        reading = _read_quoted(lines, delimiter)
        if plain.share != reading.share:
            quoted = reading.share > plain.share or _encloses_a_column(lines, delimiter, plain.width)
        elif delimiter == "\t":
            quoted = reading.enclosed
        reading = reading if quoted else plain
    place = _header_place([cells for _line, cells in reading.rows], reading.width, header=header)
    rows = tuple(cells for _line, cells in reading.rows[place:])
    skipped = reading.rows[place][0] - 1 if place else 0
    known = bool(rows) and header is not False and knows_sentences(rows[0])
    # Whether most delimiters stand where prose has them: before a space, or between two digits.
    beside = [each for cells in rows for each in pairwise(cells)]
    in_prose = sum(
        (right[:1] == " " and left[-1:].isalnum()) or (left[-1:].isdigit() and right[:1].isdigit())
        for left, right in beside
    )
    torn = 2 * in_prose > len(beside)
    return Dialect(delimiter, quoted, rows, reading.width, reading.share, skipped, has_marks, torn, known)


def _read_quoted(lines: Lines, delimiter: str) -> _Reading:
    """The lines as rows whose cells quotation marks may enclose.

    Rows that come of several lines, each of which would be its own row, are none: a mark that is part of the text
    runs them together.
    """
    widths, merged, total = Counter[int](), Counter[int](), 0
    first: list[Record] = []
    # Widths of which a row, but for the first, has no mark around a cell; and of which one has marks that it needs not.
    bare, needless = set[int](), set[int]()
    rows = Counter[int]()
    for record in split_cells(RecordLines(lines()), delimiter=delimiter, quoted=True):
        if not isinstance(record, Record):
            total += 1
            continue
        count = len(record.lines)
        total += count
        widths[len(record.cells)] += count
        if count > 1 and false_merge(record, delimiter, len(record.cells)):
            merged[len(record.cells)] += count
        if len(first) < _SAMPLE_LINES:
            first.append(record)
        cells = len(record.cells)
        if rows[cells] and delimiter == "\t":  # a writer may leave the header without marks
            line = record.lines[0]
            if not line.startswith('"') and f'{delimiter}"' not in line:
                bare.add(cells)
            elif cells not in needless and any(
                len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in cell[1:-1]
                for cell in line.rstrip("\r\n").split(delimiter)
            ):
                needless.add(cells)
        rows[cells] += 1
    width = _usual(widths)
    kept = [(record.line, tuple(map(str, record.cells))) for record in first]
    # Marks around cells come from a writer where it encloses every text, or only those where it must.
    enclosed = (width not in bare and rows[width] > 1) or width not in needless
    return _Reading(kept, width, total, widths[width] - merged[width], enclosed=enclosed)


def _encloses_a_column(lines: Lines, delimiter: str, width: int) -> bool:
    """Whether marks stand around nearly all cells of a column, as only writers of CSV write them.

    A mark that is not doubled then costs its own row, and does not make all others part of the text.
    """
    enclosed, rows = Counter[int](), 0
    for line in lines():
        cells = line.rstrip("\r\n").split(delimiter)
        if len(cells) == width:
            rows += 1
            enclosed.update(
                place for place, cell in enumerate(cells) if len(cell) > 1 and cell[0] == cell[-1] == '"'
            )
    # The header may have no marks.
    return rows > 2 and max(enclosed.values(), default=0) >= _HOLDS * (rows - 1)


def _usual(widths: Counter[int]) -> int:
    return max(widths, key=lambda width: (width > 1, widths[width], width), default=0)


def _header_place(rows: Sequence[Sequence[str]], width: int, *, header: bool | None) -> int:
    """Which of the first rows is the header, or the first row of data; those above are a title or comments."""
    if header is not False:
        for place, cells in enumerate(rows[:HEADER_WITHIN]):
            above = rows[:place]
            if knows_sentences(cells) and all(
                (len(row) != len(cells) or row[0].lstrip().startswith(("#", "//")) or _filled(row) < 2)
                for row in above
            ):
                return place
    for place, cells in enumerate(rows[:HEADER_WITHIN]):
        named = separator_named(",".join(cells)) or separator_named(";".join(cells))
        is_comment = len(cells) != width and cells[0].lstrip().startswith(("#", "//"))
        is_title = header is not False and width > 1 and _filled(cells) < 2
        if not (named or is_comment or is_title):
            return place
    return 0


def _filled(cells: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)
