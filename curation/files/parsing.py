"""Files of sentence pairs (CSV, TSV, JSONL, Parquet) into draft pairs, with an error for each bad row."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from curation.files.cells import BadRowError, fact_in, label_in, number_in, sentence_in
from curation.files.columns import columns_mapped, score_warning
from curation.files.drafts import RECOGNISED, Columns, DraftPair, FileError, Layout, RowError
from curation.files.pair_cells import two_sentences
from curation.files.records import Record, read_records
from curation.files.sampling import take_sample
from curation.pairs.scales import Scale
from curation.pairs.text import printable

__all__ = [
    "Columns",
    "DraftPair",
    "FileError",
    "Layout",
    "RowError",
    "inspect_file",
    "parse_pairs",
    "read_pairs",
]
# How long what is kept beside the sentences may be: the width of its place in the database.
FACT_MAX_CHARACTERS = {"source": 100, "subset": 100, "split": 20, "external_id": 200}
FACT_NAMES = {"external_id": "id"}


def inspect_file(
    path: Path, columns: Columns = RECOGNISED, *, header: bool = True, delimiter: str | None = None
) -> Layout:
    """Decide from a file's beginning how to read it.

    header: whether the first row of a CSV or TSV file names the columns; the other formats always name them.
    Raises FileError where the file cannot be read or its columns are not those asked for.
    """
    layout = take_sample(path, header=header, delimiter=delimiter)
    mapping = columns_mapped(columns, layout)
    warning = score_warning(layout, mapping)
    return replace(layout, mapping=mapping, warnings=(*layout.warnings, *([warning] if warning else [])))


def parse_pairs(layout: Layout, *, scale: Scale | None = None) -> Iterator[DraftPair | RowError]:
    """The file's rows in their order, each a draft pair or an error. Reads as it goes; keeps nothing.

    scale: the lowest and the highest score; a score outside is an error of its row. None takes all numbers.
    Raises FileError where the file breaks off.
    """
    draft = _drafter(layout.mapping, scale)
    for record in read_records(layout):
        yield draft(record) if isinstance(record, Record) else record


def read_pairs(
    path: Path, columns: Columns = RECOGNISED, *, header: bool = True, scale: Scale | None = None
) -> tuple[Layout, list[DraftPair], list[RowError]]:
    """A whole file at once: how it was read, its pairs, and its bad rows. Raises FileError."""
    layout = inspect_file(path, columns, header=header)
    rows = list(parse_pairs(layout, scale=scale))
    pairs = [row for row in rows if isinstance(row, DraftPair)]
    return layout, pairs, [row for row in rows if isinstance(row, RowError)]


def _drafter(mapping: Mapping[str, int], scale: Scale | None) -> Callable[[Record], DraftPair | RowError]:
    sentence_cells = _sentence_cells(mapping)
    facts = [(field, mapping[field], most) for field, most in FACT_MAX_CHARACTERS.items() if field in mapping]
    score_place, label_place = mapping.get("score"), mapping.get("label")

    def draft(record: Record) -> DraftPair | RowError:
        cells = record.cells
        known: dict[str, str] = {}
        try:
            a, b = sentence_cells(cells)
            known["a"], known["b"] = sentence_in(a, "sentence a"), sentence_in(b, "sentence b")
            for field, index, most in facts:
                known[field] = fact_in(cells[index], FACT_NAMES.get(field, field), most)
            score = None if score_place is None else number_in(cells[score_place], "score")
            if score is not None and scale and not scale[0] <= score <= scale[1]:
                raise BadRowError(f"the score {score:g} is outside the scale {scale[0]:g} to {scale[1]:g}")
            label = None if label_place is None else label_in(cells[label_place])
        except BadRowError as error:
            kept = ("a", "b", "source", "split") if "b" in known else ()
            known = {name: known.get(name, "") for name in kept}
            return RowError(record.line, printable(str(error)), record.text, cells=record.cells, **known)
        return DraftPair(record.line, score=score, label=label, row=record.text, cells=record.cells, **known)

    return draft


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
