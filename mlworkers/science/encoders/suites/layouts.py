"""How a published file of judged pairs is laid out, and reading one: nothing is skipped or corrected without a word.

A layout is recognised by the file's first row. A row that does not fit it is an error with its line, except where a
layout says that the published file has such rows; those are counted in a warning.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from curation.files.cells import number
from curation.files.encoding import detect_encoding, errors_for, mended
from curation.files.parsing import FileError
from curation.files.records import json_object
from curation.pairs.text import is_readable, normalise, shows_something
from mlworkers.science.encoders.scored_pairs import JudgedPairs

MOST_MEGABYTES = 500  # of a file, all of which is read at once; published ones have tens
Place = str | int  # a column: its name in the header, or its number from 0 where there is no header
Values = (
    Mapping[str, float] | tuple[float, float]
)  # what each label means, or the lowest and the highest score
_HEADERS = ("score", "similarity_score", "label", "gold_label")  # what the column of values is called


@dataclass(frozen=True)
class Layout:
    """name: for people. value: the column of scores or labels. source: the column of a pair's genre or subset.

    header: whether the first row names the columns; None where files of this layout have one or not.
    cells: the least number of cells in a row without a header. without_gold: values that mean that people agreed on
    none. split: the column that says which part a row belongs to, and the word there for each part.
    broken_rows: whether published files have rows with too few cells, which are left out with a warning.
    """

    name: str
    first: Place
    second: Place
    value: Place
    values: Values
    source: Place | None = None
    header: bool | None = True
    delimiter: str = "\t"
    cells: int = 0
    without_gold: frozenset[str] = frozenset()
    split: tuple[str, Mapping[str, str]] | None = None
    broken_rows: bool = False

    @property
    def shown(self) -> str:
        """Its columns, for a sentence about a file that has others."""
        if self.delimiter == "json":
            return f"{self.name} (lines of JSON with {self.first}, {self.second}, {self.value})"
        kind = "tabs" if self.delimiter == "\t" else "commas"
        if isinstance(self.first, str):
            return f"{self.name} (columns {self.first}, {self.second}, {self.value} in a header, {kind})"
        places = ", ".join(str(int(place) + 1) for place in (self.first, self.second, self.value))
        return f"{self.name} (no header, sentences and value in columns {places}, {kind})"


@dataclass(frozen=True)
class Part:
    """The pairs of one file, how it was laid out, and how many pairs had no gold label."""

    pairs: JudgedPairs
    layout: Layout
    without_gold: int


class Row(NamedTuple):
    line: int
    cells: list[str]


def part_read(path: Path, layouts: Sequence[Layout], *, part: str = "") -> Part:
    """The pairs of a file in the first layout that fits its beginning; of a layout with a split, those of `part`.

    Raises FileError with the line where a row does not fit, and where no layout does.
    """
    text, warnings = _text(path)
    for layout in layouts:
        rows = _rows(text, layout, path)
        first = next(rows, None)
        found = None if first is None else _reading(first, layout)  # the first layout that fits
        if first is not None and found is not None:
            return _part(path, found, rows if found.width else _again(first, rows), part, warnings)
    known = "; or ".join(layout.shown for layout in layouts)
    raise FileError(f"{path.name} is not laid out as expected: {known}.")


def score_read(cell: str, values: Values) -> float:
    """The score or label that a cell means. Raises ValueError with a reason."""
    if isinstance(values, tuple):
        low, high = values
        score = number(cell)
        if not low <= score <= high:
            raise ValueError(f"the score {score:g} is outside {low:g} to {high:g}")
        return score
    if cell not in values:
        raise ValueError(f"the label “{cell[:40]}” is none of {', '.join(values)}")
    return values[cell]


def sentence_read(cell: str) -> str:
    """The normalised sentence. Raises ValueError with a reason."""
    if not is_readable(cell):
        raise ValueError("a sentence holds a NUL or bytes that are no text in the file's encoding")
    sentence = normalise(cell)
    if not sentence or not shows_something(sentence):
        raise ValueError("a sentence is empty")
    return sentence


def lines_of(path: Path) -> tuple[list[str], list[str]]:
    """The lines of a text file without their ends (Windows' too), and warnings about its encoding."""
    text, warnings = _text(path)
    lines = text.split("\n")
    if lines and not lines[-1].strip("\r"):
        lines.pop()
    return [line.removesuffix("\r") for line in lines], warnings


def judged_pairs(
    name: str, rows: Sequence[tuple[str, str, float, str]], warnings: Sequence[str], *, quoted: bool = False
) -> JudgedPairs:
    """Pairs from rows of two sentences, value and source, with warnings about pairs that the file has twice, and about
    quotation marks that were kept.
    """
    found = list(warnings)
    # In either order of the sentences.
    twice = sum(count - 1 for count in Counter(frozenset(row[:2]) for row in rows).values())
    if twice:
        found.append(f"{twice} pairs stand in the file more than once; each row counts.")
    marks = sum((len(cell) > 1 and cell[0] == cell[-1] == '"') for row in rows for cell in row[:2])
    if marks and not quoted:
        found.append(
            f"{marks} sentences are between quotation marks, which are kept, because this layout has no quoting."
        )
    first, second, values, sources = zip(*rows, strict=True) if rows else ((), (), (), ())
    return JudgedPairs(name, first, second, values, tuple(found), sources if any(sources) else ())


def _text(path: Path) -> tuple[str, list[str]]:
    try:
        if path.stat().st_size > MOST_MEGABYTES << 20:
            raise FileError(
                f"{path} has more than {MOST_MEGABYTES} MB, as no published suite has; check the path."
            )
        encoding = detect_encoding(path)
        with path.open(encoding=encoding.name, errors=errors_for(encoding.name), newline="") as file:
            text = file.read()
    except (OSError, UnicodeError) as error:
        raise FileError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not text'}."
        ) from error
    return mended(text), [encoding.warning] if encoding.warning else []


def _rows(text: str, layout: Layout, path: Path) -> Iterator[Row]:
    """Rows that are not empty, with the line on which each begins."""
    if layout.delimiter == ",":
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        line = 1
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise FileError(
                    f"{path.name}, line {line}: {error}; mend the quotation marks there."
                ) from error
            if cells:
                yield Row(line, cells)
            line = reader.line_num + 1
    for place, line_text in enumerate(text.split("\n"), 1):
        written = line_text.removesuffix("\r")
        if not written.strip():
            continue
        if layout.delimiter == "json":
            yield Row(place, [written])
        else:
            yield Row(place, written.split("\t"))


def _again(first: Row, rows: Iterator[Row]) -> Iterator[Row]:
    yield first
    yield from rows


@dataclass(frozen=True)
class _Reading:
    """of: the place of each column in a row. width: the number of columns where the first row is a header, else 0."""

    layout: Layout
    of: Mapping[str, int]
    width: int = 0


def _reading(first: Row, layout: Layout) -> _Reading | None:
    """How a file that begins with that row is read in this layout; None where the layout does not fit."""
    asked = {"first": layout.first, "second": layout.second, "value": layout.value}
    if layout.source is not None:
        asked["source"] = layout.source
    if layout.delimiter == "json":
        return _Reading(layout, {}) if _cells(first, _Reading(layout, {})) is not None else None
    if isinstance(layout.first, str):
        if layout.split:
            asked["split"] = layout.split[0]
        names = [cell.strip() for cell in first.cells]
        if any(names.count(str(name)) != 1 for name in asked.values()):
            return None
        return _Reading(layout, {field: names.index(str(name)) for field, name in asked.items()}, len(names))

    # Without a header, the first row must be a pair; a row of words where the layout allows a header is one.
    of = {field: int(place) for field, place in asked.items()}
    if len(first.cells) <= max(layout.cells - 1, *of.values()):
        return None
    value = first.cells[of["value"]].strip()
    if value in layout.without_gold or any(each.isdigit() for each in value):
        return _Reading(layout, of)  # where it is out of range, its own line says so
    is_header = layout.header is None and value.casefold() in _HEADERS
    return _Reading(layout, of, len(first.cells)) if is_header else None


def _part(path: Path, reading: _Reading, rows: Iterator[Row], part: str, warnings: Sequence[str]) -> Part:
    layout = reading.layout
    pairs: list[tuple[str, str, float, str]] = []
    without_gold = 0
    broken: list[int] = []
    for row in rows:
        cells = _cells(row, reading)
        if cells is None and layout.broken_rows:
            broken.append(row.line)
        elif cells is None:
            found = "no such object" if layout.delimiter == "json" else f"{len(row.cells)} cells"
            raise FileError(f"{path.name}, line {row.line}: {found}, which does not fit {layout.shown}.")
        elif layout.split and cells["split"].strip() != layout.split[1][part]:
            continue
        elif cells["value"].strip() in layout.without_gold:
            without_gold += 1
        else:
            try:
                value = score_read(cells["value"].strip(), layout.values)
                source = normalise(cells.get("source", ""))
                pairs.append((sentence_read(cells["first"]), sentence_read(cells["second"]), value, source))
            except ValueError as error:
                raise FileError(f"{path.name}, line {row.line}: {error}; mend or remove the row.") from error
    if layout.split and not pairs:
        raise FileError(
            f"{path.name} has no row with “{layout.split[1][part]}” in its column {layout.split[0]}."
        )
    pairs, of_bytes = _without_marks_of_bytes(pairs)
    said = list(warnings)
    if broken:
        said.append(
            f"{len(broken)} rows with too few or too many cells were left out, the first on line {broken[0]}."
        )
    if of_bytes:
        said.append(
            "Every sentence is written as Python writes bytes (b'…'); the mark and the quotes were removed."
        )
    quoted = layout.delimiter in (",", "json")
    return Part(judged_pairs(path.name, pairs, said, quoted=quoted), layout, without_gold)


def _cells(row: Row, reading: _Reading) -> dict[str, str] | None:
    """The cells that matter; None where the row is too short or, under a header, too long."""
    layout = reading.layout
    if layout.delimiter == "json":
        names = {"first": layout.first, "second": layout.second, "value": layout.value}
        try:
            record = json_object(row.cells[0])
        except ValueError:
            return None
        if any(str(name) not in record for name in names.values()):
            return None
        return {field: str(record[str(name)]) for field, name in names.items()}
    too_short = len(row.cells) <= max(layout.cells - 1, *reading.of.values())
    if too_short or (reading.width and len(row.cells) != reading.width):
        return None
    return {field: row.cells[place] for field, place in reading.of.items()}


def _without_marks_of_bytes(
    pairs: list[tuple[str, str, float, str]],
) -> tuple[list[tuple[str, str, float, str]], bool]:
    """The script that makes PAWS-QQP writes b'…' around every sentence under Python 3."""

    def marked(text: str) -> bool:
        return len(text) > 3 and text[:2] in ("b'", 'b"') and text[-1] == text[1]

    if not pairs or not all(marked(text) for row in pairs for text in row[:2]):
        return pairs, False
    return [(a[2:-1], b[2:-1], value, source) for a, b, value, source in pairs], True
