"""Which pair of a dataset a row of a file is, and what the row changes of it.

A row is the pair that has its two sentences in the same order. Where several pairs have them, or several rows, each row
takes the pair that fits it best, and no two rows take the same pair: the first row takes the first pair, the second row
the second. A row for which no pair is left is a new pair.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from curation.files.identity import IdentifiedPair, PairName

CHANGES = ("split", "source", "subset", "score", "score_added")
# An id, a source and a split, each of them None where any will do.
_Kind = tuple[str | None, str | None, str | None]


class StoredPair(NamedTuple):
    """A pair that the dataset holds. score: in the score set that is written to, None where it has none."""

    pk: int
    name: PairName
    subset: str
    generated: bool
    active: bool
    score_pk: int | None
    score: float | None


class Untaken:
    """Of the pairs of two sentences, in one order, those that no row took yet.

    However many they are, a row finds its own in a few steps: they wait in line by what may make them fit.
    """

    def __init__(self, pairs: Sequence[StoredPair]) -> None:
        self._pairs = pairs
        self._taken: set[int] = set()

    def __len__(self) -> int:
        return len(self._pairs) - len(self._taken)

    def first(self, kinds: Iterator[_Kind]) -> StoredPair | None:
        """The pair of the first kind that has one left: the active one, then the oldest."""
        for kind in kinds:
            line = self._lines.get(kind)
            while line and line[0].pk in self._taken:
                line.popleft()
            if line:
                return line[0]
        return None

    def take(self, pair: StoredPair) -> None:
        self._taken.add(pair.pk)

    @cached_property
    def _lines(self) -> dict[_Kind, deque[StoredPair]]:
        lines: dict[_Kind, deque[StoredPair]] = {}
        for pair in sorted(self._pairs, key=lambda pair: (not pair.active, pair.pk)):
            for kind in _kinds_of(pair):
                lines.setdefault(kind, deque()).append(pair)
        return lines


def _kinds_of(pair: StoredPair) -> tuple[_Kind, ...]:
    """The kinds that the pair is one of."""
    external_id, source, split = pair.name
    named: tuple[_Kind, ...] = ((external_id, source, split), (external_id, source, None))
    if pair.generated:
        return named  # what a machine wrote for a run is not a row of a file that knows nothing of the run
    return *named, (None, source, split), (None, source, None), (None, None, split), (None, None, None)


class Change(NamedTuple):
    """What a row changes of its pair. what: one of CHANGES."""

    what: str
    old: str | float | None
    new: str | float | None


@dataclass(frozen=True)
class Matching:
    """How the rows of one file find their pairs.

    source_said, split_said: whether a column or an option says the source and the split. What only the file's name says
    is for new pairs, and for pairs that have none; it never changes what a pair has.
    across_splits: whether a row can be a pair of another split. If not, such a row is a new pair.
    """

    source_said: bool = True
    split_said: bool = True
    across_splits: bool = True

    def can_be(self, row: PairName, pair: StoredPair) -> bool:
        """Whether the row may be this pair, of those with its sentences."""
        kinds = _kinds_of(pair)
        return any(kind in kinds for kind in self._kinds_for(row))

    def best(self, row: PairName, pairs: Untaken) -> StoredPair | None:
        """The pair that the row is, of those with its sentences that no other row took."""
        return pairs.first(self._kinds_for(row))

    def _kinds_for(self, row: PairName) -> Iterator[_Kind]:
        """Which pairs the row may be: that with its id first, then those of its split, of its source, any."""
        external_id, source, split = row
        # Where the row names a split and is not a pair of another one, it may still be one that names none.
        others = "" if split and not self.across_splits else None
        yield external_id, source, split
        yield external_id, source, others
        if split:
            yield None, source, split
            yield None, None, split
        yield None, source, others
        yield None, None, others

    def changes(self, row: IdentifiedPair, pair: StoredPair) -> list[Change]:
        """What the row adds. An empty cell says nothing."""
        changes = []
        moves = self.split_said or not pair.name.split
        if row.name.split and row.name.split != pair.name.split and moves:
            changes.append(Change("split", pair.name.split, row.name.split))
        renames = (self.source_said or not pair.name.source) and not pair.generated
        if row.name.source and row.name.source != pair.name.source and renames:
            changes.append(Change("source", pair.name.source, row.name.source))
        if row.draft.subset and row.draft.subset != pair.subset:
            changes.append(Change("subset", pair.subset, row.draft.subset))
        if row.draft.score is not None and row.draft.score != pair.score:
            what = "score_added" if pair.score_pk is None else "score"
            changes.append(Change(what, pair.score, row.draft.score))
        return changes


def contradicts(row: PairName, pair: PairName) -> bool:
    """Whether a pair with other sentences has the row's id, where the id should say which pair is meant.

    Ids repeat from source to source, and from split to split where both name one.
    """
    same_split = row.split == pair.split or not (row.split and pair.split)
    return row.external_id == pair.external_id and row.source == pair.source and same_split
