"""Which columns of a table hold the items of a judgement, the best, the worst and who judged."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from curation.files.drafts import FileError

_ITEM = re.compile(r"(?:item|option)(\d+)")
_RECOGNISED = {
    "best": ("bestitem", "best"),
    "worst": ("worstitem", "worst"),
    "annotator": ("annotator", "annotatorid", "worker", "workerid", "user", "username"),
}


@dataclass(frozen=True)
class Columns:
    """Names of columns; None where they are to be recognised (Item1 ..., BestItem, WorstItem, Annotator).

    items: one name a place, or a single column whose cells hold a list of all items.
    """

    items: tuple[str, ...] | None = None
    best: str | None = None
    worst: str | None = None
    annotator: str | None = None


@dataclass(frozen=True)
class Places:
    """Where in a row the cells stand, from 0. annotator is None where the table does not say who judged."""

    items: tuple[int, ...]
    best: int
    worst: int
    annotator: int | None

    @property
    def last(self) -> int:
        return max(*self.items, self.best, self.worst, self.annotator or 0)


RECOGNISED = Columns()


def places_of(columns: Columns, cells: Sequence[object]) -> Places:
    """Find the columns in a header; case, spaces and underscores in its names do not matter.

    Raises FileError where one is missing or stands twice.
    """
    header = [str(name) for name in cells]
    names = [_plain(name) for name in header]
    annotator = columns.annotator
    if annotator is None and any(name in _RECOGNISED["annotator"] for name in names):
        annotator = next(name for name in _RECOGNISED["annotator"] if name in names)
    return Places(
        items=_item_places(columns.items, names, header),
        best=_place(columns.best, "best", names, header),
        worst=_place(columns.worst, "worst", names, header),
        annotator=None if annotator is None else _place(annotator, "annotator", names, header),
    )


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", "", name).casefold()


def _item_places(wanted: tuple[str, ...] | None, names: list[str], header: Sequence[str]) -> tuple[int, ...]:
    if wanted is not None:
        places = tuple(_place(name, "items", names, header) for name in wanted)
        if len(set(places)) < len(places):
            raise FileError("--items names a column twice; name one for each place.")
        return places
    numbered = {int(found[1]): found[0] for name in names if (found := _ITEM.fullmatch(name))}
    if len(numbered) < 2:
        raise FileError(
            f"No columns Item1, Item2, … among {_listed(header)}; name the columns of the items with --items."
        )
    return tuple(_place(numbered[number], "items", names, header) for number in sorted(numbered))


def _place(wanted: str | None, role: str, names: list[str], header: Sequence[str]) -> int:
    known = _RECOGNISED[role] if wanted is None else (_plain(wanted),)
    for name in known:
        if names.count(name) > 1:
            raise FileError(f'The column "{header[names.index(name)]}" stands twice; rename one of the two.')
        if name in names:
            return names.index(name)
    missing = wanted or f"{role.capitalize()}Item"
    raise FileError(f'No column "{missing}" among {_listed(header)}; name another with --{role}.')


def _listed(header: Sequence[str]) -> str:
    # A terminal obeys what cannot be printed.
    names = ["".join(sign if sign.isprintable() else "�" for sign in name) for name in header[:12]]
    shown = ", ".join(f'"{name if len(name) <= 40 else name[:39] + "…"}"' for name in names)
    return shown + (", …" if len(header) > 12 else "")
