"""Which column of a file holds which field: as named, or recognised by the names that such files have."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from textwrap import shorten

from curation.files.drafts import Columns, FileError, Layout
from curation.files.pair_cells import fault_of_pair, holds_two_sentences
from curation.pairs.text import printable

SENTENCE_NAMES = (
    ("sentence1", "sentence2"), ("sentencea", "sentenceb"), ("sent1", "sent2"), ("senta", "sentb"),
    ("text1", "text2"), ("texta", "textb"), ("s1", "s2"), ("a", "b"),
    ("premise", "hypothesis"), ("question1", "question2"),
)  # fmt: skip
# STR-2022 calls the column of both sentences Text, and SentencePair in its list of items; SemRel 2024 calls it Text.
PAIR_NAMES = ("text", "sentencepair")
OTHER_NAMES = {
    "score": (
        "score",
        "similarity",
        "similarityscore",
        "relatedness",
        "relatednessscore",
        "gold",
        "goldscore",
        "label",
    ),
    "source": ("source", "sourceid"),
    "subset": ("subset", "subsetid"),
    "split": ("split",),
    "external_id": ("id", "pairid", "externalid"),
}
_SHOWN = 20
_NUMBER_CHARACTERS = 1000
_CELL_SHOWN_CHARACTERS = 100

Cells = Sequence[object]


def columns_mapped(asked: Columns, layout: Layout) -> dict[str, int]:
    """From each field to the index of its column in the file, from 0. The first rows show which columns hold numbers.

    Raises FileError, which names the file's columns, where one asked for or the sentences are not found.
    """
    mapping = _named(asked, layout)
    recognised = _recognised(layout.columns, layout.rows, header=layout.header)
    left_out = {field for field, name in asdict(asked).items() if name == ""}
    left_out |= {"score"} if asked.label else set()
    if asked.a or asked.b or asked.pair:
        left_out |= {"a", "b", "pair"} if layout.header else set(recognised)
    elif not layout.header and "pair" in recognised:
        raise _unknown_sentences(layout)  # which column holds the score cannot be guessed
    for field, index in recognised.items():
        if field not in left_out and index not in mapping.values():
            mapping.setdefault(field, index)
    if "pair" not in mapping and not {"a", "b"} <= mapping.keys():
        raise _unknown_sentences(layout)
    return mapping


TWO_SENTENCES = (
    "if these are the two sentences of a pair, write them into two columns, "
    "or into one text with a line end between"
)


def nested_refusal(file_name: str, names: Sequence[str], *, instead: str = TWO_SENTENCES) -> str:
    """Why these columns of a Parquet file are not read, and what to do if they hold sentences."""
    return (
        f"{file_name} holds lists or other nested values in {names_listed(names)}, which are not read from Parquet "
        f"files; {instead}."
    )


def score_warning(layout: Layout, mapping: Mapping[str, int]) -> str:
    """Why a column that is called like a score is not read as one; "" where there is none, or another one is."""
    if "score" in mapping or "label" in mapping or not layout.header:
        return ""
    for index, plain in enumerate(plain_names(layout.columns)):
        # A label in words is not a score that went wrong, and numbers that somebody left out are not either.
        if plain not in OTHER_NAMES["score"] or plain == "label" or index in mapping.values():
            continue
        if _filled(layout.rows, index) and not holds_numbers(layout.rows, index):
            place = next(row for row, cells in enumerate(layout.rows, start=1) if _is_word(cells[index]))
            name = names_listed([layout.columns[index]])
            word = names_listed([str(layout.rows[place - 1][index])])
            return (
                f"The column {name} is not read as the score, because fewer than half of its first cells are numbers: "
                f"row {place} holds {word}. Write numbers, or name the column as the score (“Score” on the page, "
                f"--score in a command); then the rows with words are rejected and the others keep their scores."
            )
    return ""


def _is_word(cell: object) -> bool:
    return cell is not None and str(cell).strip() != "" and not is_number(cell)


def _unknown_sentences(layout: Layout) -> FileError:
    file_name, names = layout.path.name, layout.columns
    if layout.nested and (len(names) < 2 or not set(PAIR_NAMES).isdisjoint(plain_names(layout.nested))):
        return FileError(nested_refusal(file_name, layout.nested))
    both = next((name for index, name in enumerate(names) if holds_pairs(layout.rows, index)), None)
    if both is not None:
        shown = names_listed([both])
        return FileError(
            f"The cells of column {shown} of {file_name} hold two sentences; "
            f"name it as the column of both sentences (--pair {shown})."
        )
    for index, plain in enumerate(plain_names(names)):
        if plain in PAIR_NAMES and (cells := _filled(layout.rows, index)):
            return FileError(
                f"The sentences of {file_name} are not known. In its column {names_listed([names[index]])}, "
                f"{fault_of_pair(cells[0])}. If two other columns hold them, name these with --a and --b."
            )
    if len(names) < 2:
        return FileError(
            f"{file_name} has one column only, and a pair is two sentences; if it holds single sentences, add them on "
            f"the page “Compose pairs” or with import_sentences, and compose pairs from them."
        )
    hint = (
        "name both, or one column that holds both (--pair), or say that the file has no header"
        if layout.header
        else "name both by their numbers"
    )
    unread = f" {nested_refusal(file_name, layout.nested)}" if layout.nested else ""
    return FileError(
        f"The two columns of sentences in {file_name} are not known; {hint}; it has {names_listed(names)}.{unread}"
    )


def recognised_columns(names: Sequence[str], rows: Sequence[Cells], *, header: bool) -> Columns:
    """A guess at the columns for a person to correct; nothing where nothing is recognised."""
    mapping = _recognised(names, rows, header=header)
    return Columns(**{field: names[index] for field, index in mapping.items()})


def is_number(cell: object) -> bool:
    """Whether a cell holds a finite number."""
    try:
        number(cell)
    except ValueError:
        return False
    return True


def number(cell: object) -> float:
    """The finite number in a cell. Raises ValueError with a reason where there is none."""
    # int and float read "1_000" and " 1" too, which no data file means as a number.
    if isinstance(cell, bool) or (isinstance(cell, str) and ("_" in cell or len(cell) > _NUMBER_CHARACTERS)):
        raise ValueError(f'"{_shown(cell)}" is not a number')
    try:
        value = float(cell)  # type: ignore[arg-type]  # what is no number raises, whatever its type
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f'"{_shown(cell)}" is not a number') from error
    if not math.isfinite(value):
        raise ValueError(f'"{_shown(cell)}" is not a finite number')
    return value


def _shown(cell: object) -> str:
    text = str(cell)
    return text if len(text) <= _CELL_SHOWN_CHARACTERS else f"{text[:_CELL_SHOWN_CHARACTERS]}…"


def _named(asked: Columns, layout: Layout) -> dict[str, int]:
    file_name, names = layout.path.name, layout.columns
    if asked.pair and (asked.a or asked.b):
        raise FileError(
            f"Both sentences of {file_name} are in one column or in two; name one column with --pair, "
            f"or two with --a and --b."
        )
    mapping: dict[str, int] = {}
    for field, name in asdict(asked).items():
        if not name:
            continue
        mapping[field] = column_place(name, layout)
    for field, index in mapping.items():
        twin = next(other for other in mapping if mapping[other] == index)
        if twin != field:
            raise FileError(
                f'The column "{names[index]}" of {file_name} is named for both {twin} and {field}; name two.'
            )
    return mapping


def names_listed(names: Sequence[str]) -> str:
    shown = ", ".join(f'"{shorten(printable(name), 40, placeholder="…")}"' for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def _recognised(names: Sequence[str], rows: Sequence[Cells], *, header: bool) -> dict[str, int]:
    """By name; without a header columns 1 and 2 are the sentences, and column 3 the score if it holds numbers.

    A column with both sentences is known by what its cells hold too, and without a header by that alone.
    """
    mapping: dict[str, int] = {}
    if not header:
        both = next((index for index in range(len(names)) if holds_pairs(rows, index)), None)
        if both is not None:
            return {"pair": both}
        mapping = {"a": 0, "b": 1} if len(names) > 1 else {}
        return {**mapping, "score": 2} if len(names) > 2 and holds_numbers(rows, 2) else mapping
    plain = plain_names(names)
    known = {name: plain.index(name) for name in plain}
    for a, b in reversed(SENTENCE_NAMES):
        if a in known and b in known:
            mapping = {"a": known[a], "b": known[b]}
    for name in reversed(PAIR_NAMES):
        # The name says much already, so that one cell is enough; the others may be errors of their rows.
        if "a" not in mapping and name in known and any(map(holds_two_sentences, _filled(rows, known[name]))):
            mapping["pair"] = known[name]
    for field, common in OTHER_NAMES.items():
        there = [known[name] for name in common if name in known]
        fitting = [index for index in there if field != "score" or holds_numbers(rows, index)]
        if fitting:
            mapping[field] = fitting[0]
    return mapping


def column_place(name: str, layout: Layout) -> int:
    """The index of the column of this name. Raises FileError where the file has none, several, or a nested one."""
    file_name, names = layout.path.name, layout.columns
    if names.count(name) > 1:
        raise FileError(
            f'{file_name} has {names.count(name)} columns named "{name}"; give each its own name.'
        )
    if name in layout.nested:
        raise FileError(nested_refusal(file_name, [name]))
    if name not in names:
        hint = "" if layout.header else " (a file without a header has its columns numbered from 1)"
        if layout.header and layout.format in ("csv", "tsv") and name.isdecimal():
            hint = " (columns have numbers only if you say that the first row names none)"
        raise FileError(f'{file_name} has no column "{name}"; it has {names_listed(names)}{hint}.')
    return names.index(name)


def plain_names(names: Sequence[str]) -> list[str]:
    """The names in small letters and digits alone: `Sentence_1` is `sentence1`."""
    return [re.sub(r"[^a-z0-9]", "", name.lower()) for name in names]


def holds_numbers(rows: Sequence[Cells], index: int) -> bool:
    """Whether at least half of a column's filled cells are numbers: a few others are errors of their rows."""
    return _half(rows, index, is_number)


def holds_pairs(rows: Sequence[Cells], index: int) -> bool:
    """Whether at least half of a column's filled cells hold two sentences each."""
    return _half(rows, index, holds_two_sentences)


def _half(rows: Sequence[Cells], index: int, fits: Callable[[object], bool]) -> bool:
    filled = _filled(rows, index)
    return bool(filled) and 2 * sum(map(fits, filled)) >= len(filled)


def _filled(rows: Sequence[Cells], index: int) -> list[object]:
    return [row[index] for row in rows if len(row) > index and row[index] not in (None, "")]
