"""Which column of a file holds which field: as named, or recognised by the names that such files have."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from textwrap import shorten

from curation.files.drafts import Columns, FileError
from curation.pairs.text import printable

SENTENCE_NAMES = (
    ("sentence1", "sentence2"), ("sentencea", "sentenceb"), ("sent1", "sent2"), ("senta", "sentb"),
    ("text1", "text2"), ("texta", "textb"), ("s1", "s2"), ("a", "b"),
    ("premise", "hypothesis"), ("question1", "question2"),
)  # fmt: skip
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
    "source": ("source",),
    "subset": ("subset", "subsetid"),
    "split": ("split",),
    "external_id": ("id", "pairid", "externalid"),
}
_SHOWN = 20
_NUMBER_CHARACTERS = 1000
_CELL_SHOWN_CHARACTERS = 100

Cells = Sequence[object]


def columns_mapped(
    asked: Columns, names: Sequence[str], rows: Sequence[Cells], *, header: bool, file_name: str
) -> dict[str, int]:
    """From each field to the place of its column in `names`, from 0.

    rows: some rows below the header, to see which columns hold numbers.
    Raises FileError, which names the file's columns, where one asked for or the sentences are not found.
    """
    mapping = _named(asked, names, header=header, file_name=file_name)
    recognised = _recognised_names(names, rows) if header else _recognised_places(names, rows)
    if asked.a or asked.b:
        recognised = {
            field: place for field, place in recognised.items() if header and field not in {"a", "b"}
        }
    left_out = {field for field, name in asdict(asked).items() if name == ""}
    for field, place in recognised.items():
        if field in left_out or (field == "score" and asked.label):
            continue
        if place not in mapping.values():
            mapping.setdefault(field, place)
    if "a" not in mapping or "b" not in mapping:
        raise FileError(_no_sentences(names, header=header, file_name=file_name))
    return mapping


def recognised_columns(names: Sequence[str], rows: Sequence[Cells], *, header: bool) -> Columns:
    """A guess at the columns for a person to correct; nothing where nothing is recognised."""
    places = _recognised_names(names, rows) if header else _recognised_places(names, rows)
    return Columns(**{field: names[place] for field, place in places.items()})


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


def _named(asked: Columns, names: Sequence[str], *, header: bool, file_name: str) -> dict[str, int]:
    given = {field: name for field, name in asdict(asked).items() if name}
    mapping = {
        field: _place(name, names, header=header, file_name=file_name) for field, name in given.items()
    }
    for field, place in mapping.items():
        twin = next(other for other in mapping if mapping[other] == place)
        if twin != field:
            raise FileError(
                f'The column "{names[place]}" of {file_name} is named for both {twin} and {field}; name two.'
            )
    return mapping


def _place(name: str, names: Sequence[str], *, header: bool, file_name: str) -> int:
    if names.count(name) > 1:
        raise FileError(
            f'{file_name} has {names.count(name)} columns named "{name}"; give each its own name.'
        )
    if name in names:
        return names.index(name)
    hint = "" if header else " (a file without a header has its columns numbered from 1)"
    raise FileError(f'{file_name} has no column "{name}"; it has {_listed(names)}{hint}.')


def _no_sentences(names: Sequence[str], *, header: bool, file_name: str) -> str:
    if len(names) < 2:
        return f"{file_name} has one column only; give a file with two sentences a row."
    hint = "name both, or say that the file has no header" if header else "name both by their numbers"
    return f"The two columns of sentences in {file_name} are not known; {hint}; it has {_listed(names)}."


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f'"{shorten(printable(name), 40, placeholder="…")}"' for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def _recognised_places(names: Sequence[str], rows: Sequence[Cells]) -> dict[str, int]:
    """Columns 1 and 2 are the sentences, and column 3 the score if it holds numbers."""
    if len(names) < 2:
        return {}
    places = {"a": 0, "b": 1}
    return {**places, "score": 2} if len(names) > 2 and holds_numbers(rows, 2) else places


def _recognised_names(names: Sequence[str], rows: Sequence[Cells]) -> dict[str, int]:
    known = _first_places(names)
    places: dict[str, int] = {}
    for a, b in SENTENCE_NAMES:
        if a in known and b in known:
            places = {"a": known[a], "b": known[b]}
            break
    for field, common in OTHER_NAMES.items():
        there = [known[name] for name in common if name in known]
        fitting = [place for place in there if field != "score" or holds_numbers(rows, place)]
        if fitting:
            places[field] = fitting[0]
    return places


def _first_places(names: Sequence[str]) -> Mapping[str, int]:
    """From a name in small letters and digits alone (`Sentence_1` is `sentence1`) to its first place."""
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        places.setdefault(re.sub(r"[^a-z0-9]", "", name.lower()), place)
    return places


def holds_numbers(rows: Sequence[Cells], place: int) -> bool:
    """Whether at least half of a column's filled cells are numbers: a few others are errors of their rows."""
    filled = [row[place] for row in rows if len(row) > place and row[place] not in (None, "")]
    return bool(filled) and 2 * sum(map(is_number, filled)) >= len(filled)
