"""Which columns of a table hold the items, the best, the worst and who judged: as named, or as such files call them.

Names that the field uses: the scripts of Kiritchenko and Mohammad (Item1, BestItem), Hollis's tools (option1, best),
the pipeline of SemRel (A to D or pair1a, pair1b, best-pair), results of Mechanical Turk (Input.item1, Answer.best),
exports of Potato and Label Studio, and tables like those of bwsTools, whose rows are the single items of judgements
(id, block, item or label, choice or value).
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import takewhile

from annotation.bws.files.notices import Notice, ReadingError, Remedy
from curation.files.columns import ASSIGNMENT_STATUS_NAMES, PEOPLE_NAMES, without_turk
from curation.files.drafts import FileError, Guess

_STEMS = ("item", "option", "pair", "tuple", "text", "alternative")
_OTHER_STEMS = ("sentence", "choice", "candidate", "stimulus", "phrase", "word", "term")
POSITION_WORDS = (*_STEMS, *_OTHER_STEMS, "position", "answer", "no")
_LISTS = ("items", "options", "alternatives", "choices", "pairs", "sentences", "texts")
_RECOGNISED = {
    "best": (
        *("bestitem", "best", "bestpair", "bestoption", "bestchoice", "bestid", "bestanswer", "mostitem", "most"),
        *("mostsimilar", "mostrelated"),
    ),
    "worst": (
        *("worstitem", "worst", "worstpair", "worstoption", "worstchoice", "worstid", "worstanswer", "leastitem"),
        *("least", "leastsimilar", "leastrelated"),
    ),
    "annotator": PEOPLE_NAMES,
    "duplicate": ("isduplicate", "duplicate"),
    "status": ASSIGNMENT_STATUS_NAMES,
}  # fmt: skip
# Of tables with one item a row. Somebody's id is looked for only there: elsewhere it is that of the row.
_RECOGNISED_LONG = {
    "item": (
        *("item", "itemid", "itemname", "itemtext", "label", "option", "alternative", "candidate", "stimulus"),
        *("object", "pair", "pairid", "sentence", "text", "phrase", "word", "term"),
    ),
    "block": (
        *("block", "blockid", "blockno", "blocknumber", "tuple", "tupleid", "set", "setid", "choiceset", "trial"),
        *("trialid", "trialno", "trialnumber", "screen", "screenid", "task", "taskid", "question", "questionid"),
        *("hitid", "hit"),
    ),
    "choice": (
        *("choice", "value", "bw", "bws", "bestworst", "response", "answer", "selection", "selected", "chosen"),
        *("judgement", "judgment", "result"),
    ),
    "annotator": (*PEOPLE_NAMES, "id", "subject", "subjectid", "person", "personid", "pid", "resp", "respid"),
}  # fmt: skip
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Columns:
    """Names of columns; None to recognise them (Item1 ..., BestItem, WorstItem, Annotator).

    items: one name for each position, or a single column whose cells hold a list of all items. A name with * or ? is
    a pattern for several columns, in the order of their numbers. annotator "": nobody is named, whatever the columns.
    item, block, choice: of a table with one item a row: the item, what its judgement is called among those of a person,
    and 1 for the best, -1 for the worst and 0 for the others. best and worst may hold that in two columns.
    """

    items: Sequence[str] | None = None
    best: str | None = None
    worst: str | None = None
    annotator: str | None = None
    item: str | None = None
    block: str | None = None
    choice: str | None = None

    @property
    def one_item_per_row(self) -> bool | None:
        """What the names say; None where they say nothing."""
        long = {"item": self.item, "block": self.block, "choice": self.choice}
        wide = {"items": self.items, "best": self.best, "worst": self.worst}
        if not any(long.values()):
            return False if any(wide.values()) else None
        if self.items or (self.choice and (self.best or self.worst)):
            other = next(name for name in wide if wide[name])
            raise ReadingError(
                Notice(
                    f"--{next(name for name in long if long[name])} is for tables with one item in each row, and "
                    f"--{other} for those with a judgement in each row; name the columns of one kind."
                )
            )
        return True


@dataclass(frozen=True)
class ColumnIndexes:
    """Indexes of columns in a row, from 0; None for a column that the table does not have.

    items: for each position its column, or the two columns of its two sentences. left_out: the names of columns that
    look like more items. status: of the assignment on a platform.
    """

    items: tuple[tuple[int, ...], ...]
    best: int
    worst: int
    annotator: int | None
    duplicate: int | None
    status: int | None = None
    left_out: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[int, ...]:
        """Every column that is read."""
        optional = (self.annotator, self.duplicate, self.status)
        items = (index for columns in self.items for index in columns)
        return (*items, self.best, self.worst, *(index for index in optional if index is not None))


@dataclass(frozen=True)
class LongColumnIndexes:
    """Of a table with one item a row: who judged, their screen, the item, and 1 for the best, -1 for the worst.

    choice: one column, or two that say whether the item is the best and whether it is the worst.
    """

    annotator: int | None
    block: int
    item: int
    choice: tuple[int, ...]
    status: int | None = None

    @property
    def used(self) -> tuple[int, ...]:
        """Every column that is read."""
        optional = (self.annotator, self.status)
        return (self.block, self.item, *self.choice, *(index for index in optional if index is not None))


def find_columns(columns: Columns, header: Sequence[str]) -> ColumnIndexes | LongColumnIndexes:
    """Find the columns of judgements; case, spaces, underscores, hyphens and points in names do not matter.

    Raises FileError if a column is missing or there twice.
    """
    names = [plain(name) for name in header]
    long = columns.one_item_per_row
    if long:
        return _long_columns(columns, names, header)
    try:
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
        duplicate, status = (_optional(None, role, names, header) for role in ("duplicate", "status"))
        taken = {best, worst, *(index for columns in items for index in columns)}
        # Columns whose names differ from those of items only in the number.
        stems = {_stem(header[index]) for columns in items for index in columns} - {None}
        left_out = tuple(
            name for index, name in enumerate(header) if index not in taken and _stem(name) in stems
        )
        return ColumnIndexes(items, best, worst, annotator, duplicate, status, left_out)
    except ReadingError:
        # What is not a table of judgements may be one of single items; if not, the error is about judgements.
        if long is None:
            with suppress(ReadingError):
                return _long_columns(columns, names, header)
        raise


def _long_columns(columns: Columns, names: list[str], header: Sequence[str]) -> LongColumnIndexes:
    item, block = (_index(getattr(columns, role), role, names, header) for role in ("item", "block"))
    flags = columns.best or columns.worst
    if not flags and (columns.choice or not set(_RECOGNISED_LONG["choice"]).isdisjoint(names)):
        choice: tuple[int, ...] = (_index(columns.choice, "choice", names, header),)
    else:
        choice = tuple(_index(getattr(columns, role), role, names, header) for role in ("best", "worst"))
    person = None
    if columns.annotator != "":
        taken = {item, block, *choice}
        known = [name for index, name in enumerate(names) if index not in taken]
        recognised = next((name for name in _RECOGNISED_LONG["annotator"] if name in known), None)
        given = columns.annotator or recognised
        person = None if given is None else _index(given, "annotator", names, header)
    used = (item, block, *choice, *([] if person is None else [person]))
    if len(set(used)) < len(used):
        twice = next(header[index] for index in used if used.count(index) > 1)
        raise ReadingError(Notice(f'The column "{twice}" is named twice; name one for each part.'))
    return LongColumnIndexes(person, block, item, choice, _optional(None, "status", names, header))


# What a guess says that a column is, by the name of its part.
_PARTS = {
    "items": "the items", "best": "the best item", "worst": "the worst item", "annotator": "the annotator",
    "item": "the item of each row", "block": "the judgement of each row", "choice": "the choice of each row",
    "duplicate": "the mark of duplicates", "status": "the status of the assignment",
}  # fmt: skip


def columns_guessed(
    named: Columns, indexes: ColumnIndexes | LongColumnIndexes, header: Sequence[str]
) -> Iterator[Guess]:
    """The columns that nobody named, and as what they are read."""
    for part, meaning in _PARTS.items():
        found = getattr(indexes, part, None)
        if found is None or getattr(named, part, None):
            continue
        if part == "choice" and (named.best or named.worst):
            continue
        places = [found] if isinstance(found, int) else found
        columns = [place for each in places for place in ([each] if isinstance(each, int) else each)]
        names = [header[place] for place in columns]
        one, verb, their = (
            ("column", "is", "its name") if len(names) == 1 else ("columns", "are", "their names")
        )
        reason = f"The {one} {_listed(names)} {verb} read as {meaning}, because of {their}."
        yield Guess(part, ", ".join(names), reason)


@dataclass(frozen=True)
class RecognisedColumns:
    """The names of the columns that are recognised in a header, "" and none for those that are not."""

    items: tuple[str, ...]
    best: str
    worst: str
    annotator: str
    item: str = ""
    block: str = ""
    choice: str = ""


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
    with suppress(FileError):
        long = find_columns(Columns(), header)
        if isinstance(long, LongColumnIndexes):
            person = None if long.annotator is None else header[long.annotator]
            singles["annotator"] = person or ""
            singles |= {"item": header[long.item], "block": header[long.block]}
            singles |= {"choice": header[long.choice[0]]} if len(long.choice) == 1 else {}
    return RecognisedColumns(items, **(dict.fromkeys(("best", "worst", "annotator"), "") | singles))


def plain(name: str) -> str:
    """A name in small letters, without the signs between its words and without what Mechanical Turk puts before it."""
    return re.sub(r"[\s_.\-]+", "", without_turk(name)).casefold()


def _recognised_items(names: list[str], header: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    if numbered := _numbered(_STEMS, names, header):
        return numbered
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
    if numbered := _numbered(_OTHER_STEMS, names, header):
        return numbered
    if lists := [name for name in _LISTS if name in names]:
        return ((_index(lists[0], "items", names, header),),)
    raise ReadingError(Notice(f"No columns Item1, Item2, … among {_listed(header)}.", Remedy.ITEMS))


def _numbered(stems: Sequence[str], names: list[str], header: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The columns of the first of these stems that at least two have, each with its number; none where none has."""
    for stem in stems:
        numbers = sorted(
            int(name.removeprefix(stem)) for name in set(names) if re.fullmatch(rf"{stem}[0-9]{{1,4}}", name)
        )
        if len(numbers) > 1:
            return tuple((_index(f"{stem}{number}", "items", names, header),) for number in numbers)
    return ()


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


def _stem(name: str) -> str | None:
    """item for item_3, pair#a for pair3a; None for a name without exactly one number."""
    stem, numbers = re.subn(r"[0-9]+", "#", plain(name))
    return stem if numbers == 1 else None


def _optional(given: str | None, role: str, names: list[str], header: Sequence[str]) -> int | None:
    if given == "" or (given is None and set(_RECOGNISED[role]).isdisjoint(names)):
        return None
    return _index(given, role, names, header)


def _index(given: str | None, role: str, names: list[str], header: Sequence[str]) -> int:
    if given is not None and list(header).count(given) == 1:
        return list(header).index(given)
    for name in (_RECOGNISED.get(role) or _RECOGNISED_LONG[role]) if given is None else (plain(given),):
        if names.count(name) > 1:
            twice = f'There are two columns "{header[names.index(name)]}"; rename one of the two.'
            raise ReadingError(Notice(twice))
        if name in names:
            return names.index(name)
    missing = given or (f"{role.capitalize()}Item" if role in ("best", "worst") else role)
    raise ReadingError(Notice(f'No column "{missing}" among {_listed(header)}.', Remedy[role.upper()]))


def _listed(header: Sequence[str]) -> str:
    # A terminal obeys characters that cannot be printed.
    names = ["".join(sign if sign.isprintable() else "�" for sign in name) for name in header[:12]]
    shown = ", ".join(f'"{name if len(name) <= 40 else name[:39] + "…"}"' for name in names)
    return shown + (", …" if len(header) > 12 else "")
