"""Files of items, tuples and scores: items one a line, tuples tab-separated and one a line, scores as CSV."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from annotation.bws.files.names import ItemRegister, NameRegister
from annotation.bws.files.rows import short
from annotation.bws.files.tables import encoding_of, text_lines, writing_text
from annotation.bws.judgements import IntArray
from annotation.bws.scores.distinction import TieGroups, tie_groups
from annotation.bws.scores.scoring import Scores
from curation.files.columns import knows_sentences
from curation.files.drafts import FileError, RowError
from curation.files.records import RecordLines, split_cells
from curation.files.tables import csv_lines
from curation.pairs.text import is_readable

_ROWS_AT_ONCE = 50_000
# Names of a column of items.
_HEADERS = {"item", "items", "text", "texts", "sentence", "sentences"}


@dataclass(frozen=True, eq=False)
class ItemFile:
    """A file of items.

    items: as first spelled, each once.
    duplicates: the lines that repeat an item.
    warnings: sentences on a guessed encoding, and on a first line that looks like a header.
    """

    items: tuple[str, ...]
    duplicates: tuple[int, ...]
    warnings: tuple[str, ...] = ()


def read_items(path: Path) -> ItemFile:
    """Read items, one a line; blank lines are ignored.

    Raises FileError if the file, or a line of it, cannot be read, or if it holds no item.
    """
    names, duplicates = NameRegister(), []
    encoding = encoding_of(path)
    for number, line in enumerate(text_lines(path, encoding), 1):
        text = line.strip()
        if not text:
            continue
        if not is_readable(text):
            raise FileError(
                f"Line {number} of {path.name} has characters that cannot be read; save the file as UTF-8."
            )
        if names.find(text) is not None:
            duplicates.append(number)
        names.number(text)
    if not names.spellings:
        raise FileError(f"{path.name} holds no item; give one item per line.")
    warnings = [encoding.warning] if encoding.warning else []
    # A first item that looks like the names of columns stays an item: nothing says that it is none.
    first = names.spellings[0]
    cells = [cell.strip().strip('"') for cell in re.split(r"[\t,;|]", first)]
    if knows_sentences(cells) or cells[0].casefold() in _HEADERS:
        line = f'The first line ("{short(first)}")'
        warnings.append(f"{line} looks like a header and is used as an item; remove it if it is a header.")
    return ItemFile(tuple(names.spellings), tuple(duplicates), tuple(warnings))


@dataclass(frozen=True, eq=False)
class ItemGroups:
    """names: of the groups, in the order of the file. numbers: (m,) the group of each item, from 0."""

    names: tuple[str, ...]
    numbers: IntArray


def read_groups(path: Path, items: Sequence[str]) -> ItemGroups:
    """Read which group each of these items belongs to, from a table with the columns `item` and `group`.

    Items are found as in a file of judgements, also where spaces are missing or added. Rows of other items are passed
    over: a design may hold items that nobody has judged. Raises FileError if the file or a row cannot be read, if an
    item is in two groups, or if one of the items is in none.
    """
    known, groups = ItemRegister(), NameRegister()
    for item in items:
        known.number(item)
    numbers = np.full(len(items), -1, dtype=np.int64)
    for line, item, group in _group_rows(path):
        found = known.find(item)
        found = known.find_alike(item) if found is None else found
        if found is None:
            continue
        number = groups.number(group)
        if numbers[found] not in (-1, number):
            raise FileError(
                f'Line {line} of {path.name}: "{short(item)}" is in another group already; give each item one group.'
            )
        numbers[found] = number
    missing = np.flatnonzero(numbers < 0)
    if len(missing):
        raise FileError(
            f"{path.name} has no group for {len(missing):,} of the {len(items):,} items, "
            f'"{short(items[missing[0]])}" among them; give a row for each item.'
        )
    return ItemGroups(tuple(groups.spellings), numbers)


def _group_rows(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, item and group of each row."""
    encoding = encoding_of(path)
    lines = RecordLines(text_lines(path, encoding))
    columns: list[int] = []
    for record in split_cells(
        lines, delimiter="\t" if "\t" in next(text_lines(path, encoding), "") else ",", quoted=True
    ):
        if isinstance(record, RowError):
            raise FileError(f"Line {record.line} of {path.name}: {record.reason}; correct the row.")
        cells = [str(cell).strip() for cell in record.cells]
        if not columns:
            header = [cell.casefold() for cell in cells]
            if not {"item", "group"} <= set(header):
                raise FileError(f"{path.name} needs a header with the columns item and group.")
            columns = [header.index("item"), header.index("group")]
        elif any(cells):
            if len(cells) <= max(columns) or not all(cells[index] for index in columns):
                raise FileError(
                    f"Line {record.line} of {path.name} lacks an item or a group; correct the row."
                )
            yield record.line, cells[columns[0]], cells[columns[1]]


def write_tuples(path: Path, items: Sequence[str], tuples: IntArray) -> None:
    """Write tuples (T, k) of item numbers as their items, tab-separated, one tuple a line, no header.

    A tuple of fewer items has -1 after its last one.
    """
    # An item that a reader of tab-separated values would take for another text is quoted.
    cells = [
        f'"{item.replace(chr(34), chr(34) * 2)}"' if "\t" in item or item.startswith('"') else item
        for item in items
    ]
    with writing_text(path) as file:
        for start in range(0, len(tuples), _ROWS_AT_ONCE):
            rows = tuples[start : start + _ROWS_AT_ONCE].tolist()
            file.writelines("\t".join([cells[item] for item in row if item >= 0]) + "\n" for row in rows)


def write_scores(path: Path, items: Sequence[str], scores: Scores, *, spreadsheet: bool = False) -> TieGroups:
    """Write CSV `item,score,standard_error,appearances,best,worst,group`, best score first, equal ones by name.

    group: the tie groups that hold the item, runs of items not distinguishable at 95 %, numbered from the best, as `3`
    or `3..7`; empty if the method has no standard errors. Returns the tie groups.
    spreadsheet: no item is a formula to a spreadsheet.
    Numbers are written so that reading them gives the same number again. Items without a score are left out.
    """
    scored = np.flatnonzero(~np.isnan(scores.values)).tolist()
    order = sorted(scored, key=lambda item: (-scores.values[item], items[item]))
    groups = tie_groups(scores.values[order], scores.standard_errors[order])
    cells = [""] * len(order)
    for index, low, high in zip(groups.order.tolist(), *groups.memberships, strict=True):
        # With two dots, because spreadsheets read `3-7` as a day in March.
        cells[index] = f"{low + 1}" if low == high else f"{low + 1}..{high + 1}"
    rows: list[list[object]] = [["item", "score", "standard_error", "appearances", "best", "worst", "group"]]
    for item, group in zip(order, cells, strict=True):
        error = scores.standard_errors[item]
        numbers = (float(scores.values[item]), "" if np.isnan(error) else float(error))
        counts = (scores.appearances[item], scores.best[item], scores.worst[item])
        rows.append([items[item], *numbers, *counts, group])
    with writing_text(path) as file:
        file.writelines(csv_lines(rows, spreadsheet=spreadsheet, line_end="\n"))
    return groups
