"""Files of sentence pairs (CSV, TSV, JSONL, Parquet) into draft pairs, with an error for each bad row."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from curation.files.cells import BadRowError, class_in, fact_in, label_in, number_in, sentence_in
from curation.files.drafts import RECOGNISED, Columns, DraftPair, FileError, Layout, RowError
from curation.files.pair_cells import two_sentences
from curation.files.recognising import FACT_MAX_CHARACTERS, columns_decided
from curation.files.records import Record, data_records
from curation.files.sampling import take_sample
from curation.pairs.scales import Scale, turned
from curation.pairs.text import printable

__all__ = [
    "Columns",
    "DraftPair",
    "FileError",
    "Layout",
    "OutsideScores",
    "RowError",
    "inspect_file",
    "parse_pairs",
    "read_pairs",
]
_OF_A_ROW = ("a", "b", "source", "split")  # of a bad row, as RowError has them
_SHOWN_NAMES = {"external_id": "id"}


def inspect_file(
    path: Path,
    columns: Columns = RECOGNISED,
    *,
    header: bool = True,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Layout:
    """Decide from the whole of a file how to read it.

    header: whether the first row of a CSV or TSV file names the columns; the other formats always name them.
    encoding: None detects it.
    Raises FileError where the file cannot be read or its columns are not those asked for.
    """
    return columns_decided(columns, take_sample(path, header=header, delimiter=delimiter, encoding=encoding))


@dataclass
class OutsideScores:
    """Scores that a scale excludes: how many, and the line and the value of the first."""

    count: int = 0
    first: tuple[int, float] = (0, 0.0)


def parse_pairs(
    layout: Layout, *, scale: Scale | None = None, outside: OutsideScores | None = None
) -> Iterator[DraftPair | RowError]:
    """The file's rows in their order, each a draft pair or an error. Reads as it goes; keeps nothing.

    scale: the scores at its two ends; a score outside is an error of its row. Where it falls, as from 3 to 1, scores
    are turned round. None takes all numbers. outside: where scores that the scale excludes are counted; their pairs
    then have no score.
    Raises FileError where the file breaks off.
    """
    mapping = layout.mapping
    sentence_cells = _sentence_cells(mapping)
    facts = [(field, _fact_reader(layout, field)) for field in FACT_MAX_CHARACTERS if field in mapping]
    score_in, label_place = _score_reader(layout, scale, outside), mapping.get("label")

    def draft(record: Record) -> DraftPair | RowError:
        cells = record.cells
        known: dict[str, str] = {}
        try:
            first, second = sentence_cells(cells)
            known["a"], known["b"] = sentence_in(first, "sentence a"), sentence_in(second, "sentence b")
            for field, read in facts:
                known[field] = read(cells)
            score = None if score_in is None else score_in(record)
            label = None if label_place is None else label_in(cells[label_place])
        except BadRowError as error:
            kept = _OF_A_ROW if "b" in known else ()
            a, b, source, split = (known.get(name, "") if name in kept else "" for name in _OF_A_ROW)
            reason = printable(str(error))
            return RowError(record.line, reason, record.text, a, b, source, split, record.cells)
        return DraftPair(
            record.line, score=score, label=label, row=record.text, cells=record.cells,
            ratings=None, standard_error=None, **known,
        )  # fmt: skip

    for record in data_records(layout):
        yield draft(record) if isinstance(record, Record) else record


def read_pairs(
    path: Path,
    columns: Columns = RECOGNISED,
    *,
    header: bool = True,
    delimiter: str | None = None,
    encoding: str | None = None,
    scale: Scale | None = None,
) -> tuple[Layout, list[DraftPair], list[RowError]]:
    """A whole file at once: how it was read, its pairs, and its bad rows. Raises FileError."""
    layout = inspect_file(path, columns, header=header, delimiter=delimiter, encoding=encoding)
    rows = list(parse_pairs(layout, scale=scale))
    pairs = [row for row in rows if isinstance(row, DraftPair)]
    return layout, pairs, [row for row in rows if isinstance(row, RowError)]


def _fact_reader(layout: Layout, field: str) -> Callable[[Sequence[object]], str]:
    """What a row says of a fact beside the sentences. A cell of a column that nobody named rejects no row."""
    place, most, name = layout.mapping[field], FACT_MAX_CHARACTERS[field], _SHOWN_NAMES.get(field, field)
    classes = layout.class_names.get(place)

    def read(cells: Sequence[object]) -> str:
        return fact_in(cells[place], name, most) if classes is None else class_in(cells[place], classes, most)

    def read_if_possible(cells: Sequence[object]) -> str:
        try:
            return read(cells)
        except BadRowError:
            return ""

    return read_if_possible if field in layout.guessed else read


def _score_reader(
    layout: Layout, scale: Scale | None, outside: OutsideScores | None
) -> Callable[[Record], float | None] | None:
    """The score of a row. What is not a number rejects no row where nobody named the column."""
    if "score" not in layout.mapping:
        return None
    place, guessed = layout.mapping["score"], "score" in layout.guessed
    low, high = sorted(scale) if scale else (-math.inf, math.inf)
    falls = scale is not None and scale[0] > scale[1]
    unscored = None if scale and layout.unscored is not None and low <= layout.unscored else layout.unscored

    def read(record: Record) -> float | None:
        try:
            score = number_in(record.cells[place], "score", decimal_comma=layout.decimal_comma)
        except BadRowError:
            if guessed:
                return None
            raise
        if score is None or score == unscored:
            return None
        if not low <= score <= high:
            if outside is not None:
                outside.first = outside.first if outside.count else (record.line, score)
                outside.count += 1
                return None
            raise BadRowError(f"the score {score:g} is outside the scale {low:g} to {high:g}")
        return turned(score, low, high) if falls else score

    return read


def _sentence_cells(mapping: Mapping[str, int]) -> Callable[[Sequence[object]], tuple[object, object]]:
    """From the cells of a row to its two sentences as the file has them."""
    if "pair" not in mapping:
        a_place, b_place = mapping["a"], mapping["b"]
        return lambda cells: (cells[a_place], cells[b_place])

    def divide(cells: Sequence[object]) -> tuple[object, object]:
        try:
            return two_sentences(cells[mapping["pair"]])
        except ValueError as error:
            raise BadRowError(str(error)) from error

    return divide
