"""The cells of each judgement of a table: of one row, or of all rows that hold an item of it."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from annotation.bws.files.columns import ColumnIndexes, LongColumnIndexes
from curation.files.drafts import RowError
from curation.files.records import Record

_BEST, _WORST, _NEITHER = 1, -1, 0
_WORDS = {
    **dict.fromkeys(("best", "most", "true", "yes"), _BEST),
    **dict.fromkeys(("worst", "least"), _WORST),
    **dict.fromkeys(("", "none", "neither", "na", "n/a", "nan", "null", "false", "no"), _NEITHER),
}
_REASON = "the rows of its judgement do not have one best item (1), one worst (-1) and otherwise 0"


class Answer(NamedTuple):
    """One judgement as cells of a file, which nobody has checked yet.

    line: of the judgement's first row in the file.
    items: the texts in the order of their columns, "" for one that is missing.
    best, worst: what the cells say, as they are: a text, a position or a column (`choices.Naming`).
    annotator, duplicate: "" where the file has no such column.
    status: of the assignment on the platform, "" where the file does not say.
    """

    line: int
    items: list[str]
    best: str
    worst: str
    annotator: str = ""
    duplicate: str = ""
    status: str = ""


def answer_of(record: Record, indexes: ColumnIndexes) -> Answer:
    """The judgement of a row that is one. If one column holds all items as a list, the list is read."""
    cells = list(map(str, record.cells))
    if len(indexes.items) == 1:
        items = list_in(cells[indexes.items[0][0]])
    else:
        items = [
            cells[columns[0]] if len(columns) == 1 else "\n".join(cells[index] for index in columns)
            for columns in indexes.items
        ]
    optional = (indexes.annotator, indexes.duplicate, indexes.status)
    facts = ("" if index is None else cells[index] for index in optional)
    return Answer(record.line, items, cells[indexes.best], cells[indexes.worst], *facts)


@dataclass
class _Screen:
    """The rows of one person and block. line, text: of the first of them."""

    line: int
    text: str
    items: list[str] = field(default_factory=list)
    choices: list[int | None] = field(default_factory=list)

    def judgements(self) -> Iterator["_Screen"]:
        """Itself, or as many as a person judged this block: then every item stands in it equally often."""
        times = set(Counter(self.items).values())
        if len(times) != 1 or times == {1}:
            yield self
            return
        passes = [_Screen(self.line, self.text) for _ in range(times.pop())]
        seen = Counter[str]()
        for item, choice in zip(self.items, self.choices, strict=True):
            passes[seen[item]].items.append(item)
            passes[seen[item]].choices.append(choice)
            seen[item] += 1
        yield from passes

    def answer(self, person: str, status: str) -> Answer | RowError:
        best, worst = (
            [item for item, choice in zip(self.items, self.choices, strict=True) if choice == sign]
            for sign in (_BEST, _WORST)
        )
        if len(best) != 1 or len(worst) != 1 or None in self.choices:
            return RowError(self.line, _REASON, self.text)
        return Answer(self.line, self.items, best[0], worst[0], person, status=status)


def answers_gathered(
    rows: Iterable[Record | RowError], indexes: LongColumnIndexes
) -> Iterator[Answer | RowError]:
    """One judgement for the rows of each person and block, in the order of their first rows.

    A person who judged a block several times, so that every item is there equally often, gives one judgement for each.
    RowErrors of `rows` are passed on at once. After all rows, a judgement without exactly one best and one worst item
    becomes a RowError too.
    """
    screens: dict[tuple[str, str], _Screen] = {}
    status: dict[tuple[str, str], str] = {}
    for row in rows:
        if isinstance(row, RowError):
            yield row
            continue
        person = "" if indexes.annotator is None else str(row.cells[indexes.annotator])
        key = (person, str(row.cells[indexes.block]))
        screen = screens.get(key)
        if screen is None:
            screen = screens[key] = _Screen(row.line, row.text)
            status[key] = "" if indexes.status is None else str(row.cells[indexes.status])
        screen.items.append(str(row.cells[indexes.item]))
        screen.choices.append(_choice([str(row.cells[index]) for index in indexes.choice]))
    for key, screen in screens.items():
        for judgement in screen.judgements():
            yield judgement.answer(key[0], status[key])


def _choice(cells: Sequence[str]) -> int | None:
    """1 for the best item, -1 for the worst, 0 for the others; None for cells that say nothing of the kind.

    cells: one that holds that, or two that say whether the item is the best and whether it is the worst.
    """
    if len(cells) == 1:
        return _sign(cells[0])
    best, worst = (_sign(cell) for cell in cells)
    worst = worst if worst is None else abs(worst)
    return best - worst if best in (_NEITHER, _BEST) and worst is not None else None


def _sign(cell: str) -> int | None:
    """1, -1 or 0 as programs write them, with or without decimals, with a minus sign of print, or as a word."""
    text = cell.strip().casefold().replace("−", "-").replace(",", ".")
    if text in _WORDS:
        return _WORDS[text]
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value in {-1.0, 0.0, 1.0} else None


def list_in(cell: str) -> list[str]:
    """The texts of a cell that holds a list, as Python and JSON write it; none if it does not."""
    try:
        values = ast.literal_eval(cell.strip()) if cell.lstrip().startswith(("[", "(")) else ()
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    return [str(value) for value in values] if isinstance(values, list | tuple) else []
