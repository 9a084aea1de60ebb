"""Which columns of a table hold the items, the best, the worst and who judged: as named, or as such files call them.

Names that the field uses: the scripts of Kiritchenko and Mohammad (Item1, BestItem), Hollis's tools (option1, best),
the pipeline of SemRel (A to D or pair1a, pair1b, best-pair), exports of Potato and Label Studio, and bwsTools, whose
rows are the single items of judgements (id, block, item, choice).
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import takewhile

from annotation.bws.files.notices import Notice, ReadingError, Remedy
from curation.files.drafts import FileError

_STEMS = ("item", "option", "pair", "tuple", "text", "alternative")
_RECOGNISED = {
    "best": ("bestitem", "best", "bestpair", "bestoption", "bestchoice", "bestid", "mostitem", "most"),
    "worst": ("worstitem", "worst", "worstpair", "worstoption", "worstchoice", "worstid", "leastitem", "least"),
    "annotator": (
        *("annotator", "annotatorid", "annotatorname", "worker", "workerid", "user", "username", "userid"),
        *("rater", "raterid", "judge", "participant", "participantid", "respondent", "prolificpid", "completedby"),
    ),
    "duplicate": ("isduplicate", "duplicate"),
}  # fmt: skip
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Columns:
    """Names of columns; None to recognise them (Item1 ..., BestItem, WorstItem, Annotator).

    items: one name for each position, or a single column whose cells hold a list of all items. A name with * or ? is
    a pattern for several columns, in the order of their numbers. annotator "": nobody is named, whatever the columns.
    """

    items: Sequence[str] | None = None
    best: str | None = None
    worst: str | None = None
    annotator: str | None = None


@dataclass(frozen=True)
class ColumnIndexes:
    """Indexes of columns in a row, from 0; None for a column that the table does not have.

    items: for each position its column, or the two columns of its two sentences. left_out: the names of columns that
    look like more items.
    """

    items: tuple[tuple[int, ...], ...]
    best: int
    worst: int
    annotator: int | None
    duplicate: int | None
    left_out: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """How many cells a row needs at least."""
        return 1 + max(*(index for columns in self.items for index in columns), self.best, self.worst,
                       self.annotator or 0)  # fmt: skip


@dataclass(frozen=True)
class LongColumnIndexes:
    """Of a table with one item a row: who judged, their screen, the item, and 1 for the best, -1 for the worst."""

    annotator: int
    block: int
    item: int
    choice: int

    @property
    def width(self) -> int:
        return 1 + max(self.annotator, self.block, self.item, self.choice)


def find_columns(columns: Columns, header: Sequence[str]) -> ColumnIndexes | LongColumnIndexes:
    """Find the columns of judgements; case, spaces, underscores, hyphens and points in names do not matter.

    Raises FileError if a column is missing or there twice.
    """
    names = [plain(name) for name in header]
    if columns == Columns() and {"item", "block", "choice"} <= set(names):
        person = next((name for name in (*_RECOGNISED["annotator"], "id") if name in names), None)
        if person is not None:
            return LongColumnIndexes(
                *(_index(name, "items", names, header) for name in (person, "block", "item", "choice"))
            )
    if columns.items is None:
        items = _recognised_items(names, header)
    else:
        given = [match for name in columns.items for match in _matching(name, names, header)]
        items = tuple((_index(name, "items", names, header),) for name in given)
    if len(set(items)) < len(items):
        raise ReadingError(
            Notice("A column is named twice among those of the items; name one for each position.")
        )
    best = _index(columns.best, "best", names, header)
    worst = _index(columns.worst, "worst", names, header)
    annotator = _optional(columns.annotator, "annotator", names, header)
    duplicate = _optional(None, "duplicate", names, header)
    taken = {best, worst, *(index for columns in items for index in columns)}
    return ColumnIndexes(items, best, worst, annotator, duplicate, tuple(_left_out(items, taken, header)))


@dataclass(frozen=True)
class RecognisedColumns:
    """The names of the columns that are recognised in a header, "" and none for those that are not."""

    items: tuple[str, ...]
    best: str
    worst: str
    annotator: str


def recognised_columns(header: Sequence[str]) -> RecognisedColumns:
    """What `find_columns` would take of a table with one judgement in each row, also where something is missing."""
    names = [plain(name) for name in header]
    items: tuple[str, ...] = ()
    with suppress(FileError):
        items = tuple(header[index] for columns in _recognised_items(names, header) for index in columns)
    singles = {}
    for role in ("best", "worst", "annotator"):
        with suppress(FileError):
            index = _optional(None, role, names, header)
            singles[role] = "" if index is None else header[index]
    return RecognisedColumns(items, **(dict.fromkeys(("best", "worst", "annotator"), "") | singles))


def plain(name: str) -> str:
    return re.sub(r"[\s_.\-]+", "", name).casefold()


def _recognised_items(names: list[str], header: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    for stem in _STEMS:
        numbers = sorted(
            int(name.removeprefix(stem)) for name in set(names) if re.fullmatch(rf"{stem}[0-9]{{1,4}}", name)
        )
        if len(numbers) > 1:
            return tuple((_index(f"{stem}{number}", "items", names, header),) for number in numbers)
    halves = [
        f"pair{number}"
        for number in range(1, len(names))
        if {f"pair{number}a", f"pair{number}b"} <= set(names)
    ]
    if len(halves) > 1:
        return tuple(
            tuple(_index(f"{pair}{side}", "items", names, header) for side in "ab") for pair in halves
        )
    letters = list(takewhile(names.__contains__, _LETTERS))
    if len(letters) > 1:
        return tuple((_index(letter, "items", names, header),) for letter in letters)
    raise ReadingError(Notice(f"No columns Item1, Item2, … among {_listed(header)}.", Remedy.ITEMS))


def _matching(name: str, names: list[str], header: Sequence[str]) -> list[str]:
    """The columns that a name or a pattern means, those of a pattern in the order of the numbers in them."""
    if plain(name) in names or not re.search(r"[*?]", name):
        return [name]
    pattern = plain(name)
    matches = [column for column, simple in zip(header, names, strict=True) if fnmatchcase(simple, pattern)]
    if not matches:
        raise ReadingError(Notice(f'No column is like "{name}" among {_listed(header)}.', Remedy.ITEMS))
    if len({_stem(match) for match in matches}) > 1:  # pair_1, pair_2 and pair_id
        several = f'"{name}" means columns of several kinds, {_listed(matches)}; name those of the items.'
        raise ReadingError(Notice(several))
    return sorted(matches, key=_natural)


def _natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts item_10 behind item_9."""
    parts = re.findall(r"[0-9]+|[^0-9]+", plain(name))
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def _left_out(items: Sequence[Sequence[int]], taken: set[int], header: Sequence[str]) -> Iterator[str]:
    """Columns whose names differ from those of items only in the number."""
    stems = {_stem(header[index]) for columns in items for index in columns} - {None}
    for index, name in enumerate(header):
        if index not in taken and _stem(name) in stems:
            yield name


def _stem(name: str) -> str | None:
    """item for item_3, pair#a for pair3a; None for a name without exactly one number."""
    stem, numbers = re.subn(r"[0-9]+", "#", plain(name))
    return stem if numbers == 1 else None


def _optional(given: str | None, role: str, names: list[str], header: Sequence[str]) -> int | None:
    if given == "" or (given is None and set(_RECOGNISED[role]).isdisjoint(names)):
        return None
    return _index(given, role, names, header)


def _index(given: str | None, role: str, names: list[str], header: Sequence[str]) -> int:
    for name in _RECOGNISED[role] if given is None else (plain(given),):
        if names.count(name) > 1:
            twice = f'There are two columns "{header[names.index(name)]}"; rename one of the two.'
            raise ReadingError(Notice(twice))
        if name in names:
            return names.index(name)
    missing = given or f"{role.capitalize()}Item"
    raise ReadingError(Notice(f'No column "{missing}" among {_listed(header)}.', Remedy[role.upper()]))


def _listed(header: Sequence[str]) -> str:
    # A terminal obeys characters that cannot be printed.
    names = ["".join(sign if sign.isprintable() else "�" for sign in name) for name in header[:12]]
    shown = ", ".join(f'"{name if len(name) <= 40 else name[:39] + "…"}"' for name in names)
    return shown + (", …" if len(header) > 12 else "")
