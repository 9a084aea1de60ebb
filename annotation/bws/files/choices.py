"""How the cells of a file name the best and the worst item: decided once for a whole file, from all of its rows.

A cell "3" may be an item with that name or the item in the third position. A row alone cannot say which, so a file
is read in the way in which most of its cells name an item of their row; cells that do not fit reject their row.
"""

import re
from collections.abc import Sequence
from enum import IntEnum
from string import ascii_uppercase

from annotation.bws.files.columns import POSITION_WORDS, plain
from annotation.bws.judgements import IntArray

TIE = "tie"  # what both cells hold where a person found the items too close to call
_PLAIN = re.ASCII | re.IGNORECASE
_AMBIGUOUS = 0.95  # two ways to read a file are equally good if they read almost equally many cells


class Naming(IntEnum):
    """What a cell names. Of two ways that read equally many cells the first is taken."""

    ITEM = 0
    POSITION = 1
    POSITION_FROM_0 = 2
    COLUMN = 3

    @property
    def words(self) -> str:
        return ("items", "positions from 1", "positions from 0", "columns of items")[self]


def names_a_tie(cell: str) -> bool:
    return cell.strip().casefold() == TIE


def position_by_column(names: Sequence[str]) -> dict[str, int]:
    """What a cell may call the column of each position, from 0: its name, or a capital letter from A on."""
    letters = {letter: index for index, letter in enumerate(ascii_uppercase)}
    return letters | {plain(name): index for index, name in enumerate(names)}


def position_in_cell(cell: str) -> int | None:
    """The whole number in a cell, also as spreadsheets write it (2.0 or 2,0); None for anything else."""
    match = re.fullmatch(r"\s*([0-9]{1,4})([.,]0+)?\s*", cell, re.ASCII)
    return None if match is None else int(match[1])


def position_behind_word(cell: str) -> int | None:
    """The 4 of a cell like `option 4`, which may also be an item's name; None for anything else."""
    match = re.fullmatch(rf"\s*(?:{'|'.join(POSITION_WORDS)})[ _.#-]?([0-9]{{1,2}})\s*", cell, _PLAIN)
    return None if match is None else int(match[1])


def naming_of(positions: IntArray) -> tuple[Naming, str]:
    """Which way of naming a file uses, and a warning if its cells do not show that, or "".

    positions: (n, 2, 4) the position within its row that the best and the worst cell of each row name in each way of
    Naming, -1 where they name none.
    """
    read = (positions >= 0).sum(axis=(0, 1))  # (4,)
    taken = Naming(int(read.argmax()))
    for other in Naming:
        close = other != taken and read[other] >= _AMBIGUOUS * read[taken] > 0
        if close and (positions[:, :, other] != positions[:, :, taken]).any():
            return taken, (
                f"The best and worst cells can be read as {taken.words} and as {other.words}, and the file does not "
                f"show which is meant; they are read as {taken.words}."
            )
    if taken is Naming.POSITION_FROM_0:
        return taken, f"The best and worst cells are read as {taken.words}."
    return taken, ""
