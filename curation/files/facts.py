"""What all cells of some columns have in common: how many are filled, are numbers, hold two sentences, repeat.

One streaming pass. Beside the counts it keeps a few examples, and eight bytes a row for a column of ids.
"""

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np

from curation.files.cells import DECIMAL_COMMA, is_filled, number
from curation.files.drafts import RowError
from curation.files.pair_cells import holds_two_sentences, may_hold_two_sentences
from curation.files.records import Record

VALUES_MOST = 6  # more different values than classes have
_ROWS_AT_ONCE = 2000


@dataclass
class ColumnFacts:
    """What the cells of one column hold.

    filled: cells that hold something.
    numbers: of these, the numbers.
    commas: those that are one if a comma stands before decimals (not among the numbers).
    points: numbers that have a point.
    unscored: cells of -1.
    negatives: numbers below 0.
    pairs: cells with two sentences.
    longest: characters of the longest text.
    values: the different numbers, as long as there are few.
    word: the line and text of the first cell that is not a number.
    """

    filled: int = 0
    numbers: int = 0
    commas: int = 0
    points: int = 0
    fractions: bool = False
    lowest: float = 0.0
    highest: float = 0.0
    unscored: int = 0
    negatives: int = 0
    pairs: int = 0
    longest: int = 0
    values: set[float] = field(default_factory=set)
    word: tuple[int, str] | None = None

    @property
    def decimal_comma(self) -> bool:
        """Whether its numbers have a comma before the decimals."""
        return self.commas > 0 and not self.points

    @property
    def read_as_numbers(self) -> int:
        return self.numbers + (self.commas if self.decimal_comma else 0)


@dataclass
class FileFacts:
    """What all rows of a file hold.

    columns: by their index.
    rows: those that could be cut into cells.
    repeated: of the column of ids, the lines on which an id first stands again and where it stood before, within a
    source and split; None where none does.
    """

    columns: Mapping[int, ColumnFacts]
    rows: int = 0
    repeated: tuple[int, int] | None = None

    def of(self, place: int) -> ColumnFacts:
        return self.columns.get(place, _NOTHING)


_NOTHING = ColumnFacts()


def facts_of(
    rows: Iterable[Record | RowError],
    *,
    numbers: Collection[int] = (),
    pairs: Collection[int] = (),
    texts: Collection[int] = (),
    name: Sequence[int] = (),
    commas: bool = True,
) -> FileFacts:
    """The facts of a file.

    numbers, pairs, texts: the columns whose numbers, whose pairs of sentences, and whose lengths are counted. name: the
    column of ids, and those of the source and the split within which an id stands once; empty where there is none.
    commas: whether a comma may stand before decimals.
    """
    facts = FileFacts({place: ColumnFacts() for place in {*numbers, *pairs, *texts}})
    hashes, lines = array("q"), array("q")
    records = (row for row in rows if isinstance(row, Record))
    while part := list(islice(records, _ROWS_AT_ONCE)):
        facts.rows += len(part)
        for place in numbers:
            _numbers_count(facts.columns[place], part, place, commas=commas)
        for place in pairs:
            found = facts.columns[place]
            cells = [cell for row in part if is_filled(cell := row.cells[place])]
            found.filled += len(cells)
            found.pairs += sum(may_hold_two_sentences(cell) and holds_two_sentences(cell) for cell in cells)
        for place in texts:
            found = facts.columns[place]
            found.longest = max(found.longest, *(len(str(row.cells[place] or "")) for row in part))
        if name:
            for row in part:
                if row.cells[name[0]] not in (None, ""):
                    hashes.append(hash(tuple(str(row.cells[place] or "").strip() for place in name)))
                    lines.append(row.line)
    # The line of the first row whose hash stands above already, and the line where it stands first.
    values = np.array(hashes, dtype=np.int64)
    order = np.argsort(values, kind="stable")
    again = np.flatnonzero(values[order][1:] == values[order][:-1])
    if len(again):
        at = int(again[np.argmin(order[again + 1])])
        facts.repeated = lines[int(order[at + 1])], lines[int(order[at])]
    return facts


def _numbers_count(facts: ColumnFacts, part: Sequence[Record], place: int, *, commas: bool) -> None:
    cells = [row.cells[place] for row in part]
    # Texts repeat from row to row, and each is read once. Other values do not all have a hash.
    texts = Counter(cell for cell in cells if isinstance(cell, str))
    others = ((cell, 1) for cell in cells if not isinstance(cell, str))
    before = facts.filled - facts.numbers - facts.commas
    for cell, times in chain(texts.items(), others):
        if not is_filled(cell):
            continue
        facts.filled += times
        read = _value(cell, commas)
        if read is None:
            continue
        value, has_comma = read
        is_first = not facts.numbers + facts.commas
        facts.lowest = value if is_first else min(facts.lowest, value)
        facts.highest = value if is_first else max(facts.highest, value)
        facts.commas += times * has_comma
        facts.numbers += times * (not has_comma)
        facts.points += times * (isinstance(cell, str) and "." in cell)
        facts.fractions = facts.fractions or value != int(value)
        facts.negatives += times * (value < 0)
        facts.unscored += times * (value == -1)
        if len(facts.values) < VALUES_MOST:
            facts.values.add(value)
    if facts.word is None and facts.filled - facts.numbers - facts.commas > before:
        wrong = (row for row in part if is_filled(cell := row.cells[place]) and _value(cell, commas) is None)
        first = next(wrong)
        facts.word = first.line, str(first.cells[place])


def _value(cell: object, commas: bool) -> tuple[float, bool] | None:
    """The number in a cell, and whether a comma stands before its decimals; None where it is none."""
    try:
        return number(cell), False
    except ValueError:
        if commas and isinstance(cell, str) and DECIMAL_COMMA.fullmatch(cell):
            return float(cell.replace(",", ".")), True
    return None
