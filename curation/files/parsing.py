"""Files of sentence pairs (CSV, TSV, JSONL, Parquet) into draft pairs, with an error for each bad row."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from curation.files.columns import columns_mapped, number
from curation.files.drafts import RECOGNISED, Columns, DraftPair, FileError, Layout, RowError
from curation.files.pair_cells import two_sentences
from curation.files.records import Record, read_records
from curation.files.sampling import take_sample
from curation.pairs.scales import Scale
from curation.pairs.text import SENTENCE_MAX_CHARACTERS, is_readable, normalise, printable, shows_something

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

_UNREAD_CHARACTERS = 10_000
_SENTENCES_REMEMBERED = 256


class _BadRowError(ValueError):
    """Why a row is no pair."""


def inspect_file(
    path: Path, columns: Columns = RECOGNISED, *, header: bool = True, delimiter: str | None = None
) -> Layout:
    """Decide from a file's beginning how to read it.

    header: whether the first row of a CSV or TSV file names the columns; the other formats always name them.
    Raises FileError where the file cannot be read or its columns are not those asked for.
    """
    layout = take_sample(path, header=header, delimiter=delimiter)
    return replace(layout, mapping=columns_mapped(columns, layout))


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
            known["a"], known["b"] = _sentence(a, "a"), _sentence(b, "b")
            for field, index, most in facts:
                known[field] = _fact(cells[index], field, most)
            score = None if score_place is None else _number(cells[score_place], "score")
            if score is not None and scale and not scale[0] <= score <= scale[1]:
                raise _BadRowError(f"the score {score:g} is outside the scale {scale[0]:g} to {scale[1]:g}")
            label = None if label_place is None else _label(cells[label_place])
        except _BadRowError as error:
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
            raise _BadRowError(str(error)) from error

    return divide


def _sentence(cell: object, side: str) -> str:
    if cell is None or cell == "":
        raise _BadRowError(f"sentence {side} is empty")
    if not isinstance(cell, str):
        raise _BadRowError(f"sentence {side} is not text")
    _refuse_endless(cell, f"sentence {side}", SENTENCE_MAX_CHARACTERS)
    text = _readable_sentence(cell)
    if not text:
        raise _BadRowError(f"sentence {side} is empty")
    return _bounded(text, f"sentence {side}", SENTENCE_MAX_CHARACTERS)


def _fact(cell: object, field: str, most: int) -> str:
    name = "id" if field == "external_id" else field
    written = "" if cell is None else str(cell)
    _refuse_endless(written, f"the {name}", most)
    return _bounded(_readable(written), f"the {name}", most)


def _bounded(text: str, what: str, most: int) -> str:
    if len(text) > most:
        raise _BadRowError(f"{what} has {len(text):,} characters; at most {most:,} are allowed")
    return text


def _refuse_endless(text: str, what: str, most: int) -> None:
    """Refuse, before it is normalised, what is far longer than white space and composed letters can make it."""
    if len(text) > _UNREAD_CHARACTERS:
        raise _BadRowError(
            f"{what} has more than {_UNREAD_CHARACTERS:,} characters; at most {most:,} are allowed"
        )


@lru_cache(_SENTENCES_REMEMBERED)
def _readable_sentence(text: str) -> str:
    """The normalised text, or nothing where it shows nothing. Many files repeat a sentence in row after row."""
    readable = _readable(text)
    return readable if shows_something(readable) else ""


def _readable(text: str) -> str:
    if not is_readable(text):
        raise _BadRowError("the row holds a NUL or bytes that are not text in the file's encoding")
    return normalise(text)


def _label(cell: object) -> int | None:
    value = _number(cell, "label")
    if value not in {None, 0.0, 1.0}:
        raise _BadRowError(f"the label {value:g} is neither 0 nor 1")
    return None if value is None else int(value)


def _number(cell: object, what: str) -> float | None:
    """A number, or None for an empty cell: the pair simply has no score there."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return None
    try:
        return number(cell)
    except ValueError as error:
        raise _BadRowError(f"the {what} {error}") from error
