"""Which pair of a dataset a row of a file is, and what the row changes of it.

A row is the pair that has its two sentences in the same order. Where several pairs have them, or several rows, each row
takes the pair that fits it best, and no two rows take the same pair: the first row takes the first pair, the second row
the second. A row for which no pair is left is a new pair.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from curation.files.identity import IdentifiedPair, PairName

CHANGES = ("split", "source", "subset", "score", "score_added")


class StoredPair(NamedTuple):
    """A pair that the dataset holds. score: in the score set that is written to, None where it has none."""

    pk: int
    name: PairName
    subset: str
    generated: bool
    active: bool
    score_pk: int | None
    score: float | None


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
        if pair.generated and row[:2] != pair.name[:2]:
            return False  # what a machine wrote for a run is no row of a file that knows nothing of the run
        return self.across_splits or not in_another_split(row, pair)

    def taken(self, row: PairName, pairs: Sequence[StoredPair]) -> StoredPair | None:
        """The pair that the row is, of those with its sentences that no other row took."""
        possible = [pair for pair in pairs if self.can_be(row, pair)]
        return min(possible, key=lambda pair: _distance(row, pair), default=None)

    def changes(self, row: IdentifiedPair, pair: StoredPair) -> list[Change]:
        """What the row says anew. An empty cell says nothing."""
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


def in_another_split(row: PairName, pair: StoredPair) -> bool:
    """Whether both name a split, and not the same one."""
    return bool(row.split and pair.name.split) and row.split != pair.name.split


def _distance(row: PairName, pair: StoredPair) -> tuple[bool, bool, bool, bool, bool, int]:
    """The pair with the row's id first, then that of its split, of its source, the active one, the oldest."""
    same = pair.name
    return (
        same != row,
        same[:2] != row[:2],
        bool(row.split) and same.split != row.split,
        same.source != row.source,
        not pair.active,
        pair.pk,
    )


def contradicts(row: PairName, pair: PairName) -> bool:
    """Whether a pair with other sentences has the row's id, where the id should say which pair is meant.

    Ids repeat from source to source, and from split to split where both name one.
    """
    same_split = row.split == pair.split or not (row.split and pair.split)
    return row.external_id == pair.external_id and row.source == pair.source and same_split
