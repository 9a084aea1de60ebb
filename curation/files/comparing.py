"""What changed between two snapshots: pairs that were added, removed, scored again, or moved to another split.

Pairs are matched by their number, which a snapshot keeps in its column `pair`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.files.heavy import pa, pc, pq
from curation.files.json_text import json_from
from curation.pairs.leaks import Leak, leaks_between_texts

# Columns that follow from other pairs or from a pair's sentences, which never change.
_NOT_COMPARED = {"pair", "component", "a_id", "b_id", "id", "sentence1", "sentence2"}
_TEXTS = ("id", "sentence1", "sentence2")


class Change(NamedTuple):
    """What became of a pair. what: "added", "removed", or the column that changed, whose values stand beside it."""

    pair: int
    what: str
    before: str | float | None = None
    after: str | float | None = None


@dataclass(frozen=True)
class Difference:
    """From an earlier snapshot to a later one.

    both: pairs that are in both; unchanged: those among them that are the same in every column that both have.
    changed: for each column, in the order of the later file, the number of pairs with another value there.
    moves: how often a pair went from one split to another.
    columns_added, columns_removed: mostly score sets.
    changes: the first of them, all added pairs before all removed ones before each column's.
    """

    added: int
    removed: int
    both: int
    unchanged: int
    changed: Mapping[str, int]
    moves: Mapping[tuple[str, str], int]
    columns_added: Sequence[str]
    columns_removed: Sequence[str]
    changes: Sequence[Change]

    @property
    def same(self) -> bool:
        """Whether both hold the same pairs with the same values in the same columns."""
        return not (self.added or self.removed or self.changed or self.columns_added or self.columns_removed)


def snapshots_compared(earlier: Path, later: Path, *, most: int | None = 1_000) -> Difference:
    """What changed from one snapshot's file to another's. most: how many single changes are listed, None for all.

    Columns are read one at a time, so memory grows with the pairs and not with their texts.
    """
    before, after = (pq.read_table(path, columns=["pair"]).column(0).to_numpy() for path in (earlier, later))
    _shared, at_before, at_after = np.intersect1d(before, after, assume_unique=True, return_indices=True)
    added, removed = np.setdiff1d(after, before, True), np.setdiff1d(before, after, True)
    columns_before, columns_after = (
        [name for name in pq.read_schema(path).names if name not in _NOT_COMPARED]
        for path in (earlier, later)
    )
    most = np.iinfo(np.int64).max if most is None else most
    changes = [Change(pair, "added") for pair in added[:most].tolist()]
    changes += [Change(pair, "removed") for pair in removed[: most - len(changes)].tolist()]
    changed: dict[str, int] = {}
    moves: Counter[tuple[str, str]] = Counter()
    differs = np.zeros(len(at_before), dtype=bool)
    for column in columns_after:
        if column not in columns_before:
            continue
        old, new = (
            pq.read_table(path, columns=[column]).column(0).take(pa.array(places))
            for path, places in ((earlier, at_before), (later, at_after))
        )
        # The places where the values differ; a missing value is another than any other.
        texts = old.type != new.type
        one, other = (side.cast(pa.string()) if texts else side for side in (old, new))
        unequal = pc.fill_null(pc.not_equal(one, other), False)
        one_missing = pc.xor(one.is_null(), other.is_null())
        places = np.flatnonzero(pc.or_(unequal, one_missing).to_numpy())
        if not places.size:
            continue
        changed[column] = int(places.size)
        differs[places] = True
        if column == "split":
            moves.update(zip(*(_values(side, places) for side in (old, new)), strict=True))
        listed = places[: most - len(changes)]
        values = (_values(side, listed) for side in (old, new))
        changes += [
            Change(pair, column, *both)
            for pair, *both in zip(before[at_before[listed]].tolist(), *values, strict=True)
        ]
    return Difference(
        added=int(added.size),
        removed=int(removed.size),
        both=int(at_before.size),
        unchanged=int(at_before.size - differs.sum()),
        changed=changed,
        moves=dict(moves.most_common()),
        columns_added=[name for name in columns_after if name not in columns_before],
        columns_removed=[name for name in columns_before if name not in columns_after],
        changes=changes,
    )


class Texts(NamedTuple):
    external_id: str
    sentence1: str
    sentence2: str


def texts_of(paths: Sequence[Path], pairs: Sequence[int]) -> dict[int, Texts]:
    """The id and sentences of pairs by their number, from whichever of the snapshots holds them."""
    found: dict[int, Texts] = {}
    for path in paths:
        wanted = sorted(set(pairs) - found.keys())
        if wanted:
            rows = pq.read_table(path, columns=["pair", *_TEXTS], filters=[("pair", "in", wanted)])
            cells = (rows.column(name).to_pylist() for name in _TEXTS)
            found |= {
                pair: Texts(*texts)
                for pair, *texts in zip(rows.column("pair").to_pylist(), *cells, strict=True)
            }
    return found


def holds_pair(path: Path, pair: int) -> bool:
    """Whether a snapshot holds the pair. Only the parts of the file whose numbers include it are read."""
    return bool(pq.read_table(path, columns=["pair"], filters=[("pair", "==", pair)]).num_rows)


@dataclass(frozen=True)
class ScoreColumn:
    """The scores of one set in a snapshot; mean and sd on the set's own scale, None where no pair has a score.

    made: what the snapshot says of how they came about (curation.datasets.lineage); snapshots before that say less.
    """

    name: str
    count: int
    mean: float | None
    sd: float | None
    made: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Contents:
    """How many pairs of a snapshot have each source, split and origin, "" where they name none, and its scores."""

    sources: Mapping[str, int]
    splits: Mapping[str, int]
    origins: Mapping[str, int]
    scores: Sequence[ScoreColumn]

    @property
    def named_splits(self) -> int:
        return len(self.splits.keys() - {""})


def snapshot_contents(path: Path) -> Contents:
    """Count what a snapshot holds, from its Parquet file, column by column.

    Sources, splits and origins come with the most frequent first, and equal ones by name. Scores come in the order of
    their columns, with their standard deviation over n; mean and sd are None for a column without a score.
    """
    numbers = [column.name for column in pq.read_schema(path) if pa.types.is_floating(column.type)]
    counted = []
    for name in ("source", "split", "origin"):
        counts = pc.value_counts(pq.read_table(path, columns=[name]).column(0).cast(pa.string()))
        rows = ((str(row["values"] or ""), int(row["counts"])) for row in counts.to_pylist())
        counted.append(dict(sorted(rows, key=lambda row: (-row[1], row[0]))))
    sources, splits, origins = counted
    made, scores = score_columns_about(path), []
    for name in numbers:
        values = pq.read_table(path, columns=[name]).column(0).drop_null()
        mean, sd = pc.mean(values).as_py(), pc.stddev(values, ddof=0).as_py()  # None of no value
        scores.append(ScoreColumn(name, len(values), mean, sd, made.get(name, {})))
    return Contents(sources, splits, origins, scores)


def snapshot_splits(path: Path) -> tuple[NDArray[np.int64], list[str]]:
    """The numbers of a snapshot's pairs, (n,), and their splits."""
    numbers, splits = pq.read_table(path, columns=["pair", "split"]).select(["pair", "split"]).columns
    return numbers.to_numpy(), [split or "" for split in splits.to_pylist()]


def snapshot_leaks(path: Path, set_here: NDArray[np.bool_] | None = None) -> list[Leak]:
    """Every two splits of a snapshot of which one shares sentences with the other. Some 10 µs a pair.

    set_here: of each pair whether its split was drawn or set here, (n,); None where none was.
    """
    splits = snapshot_splits(path)[1]
    if len(set(splits) - {""}) < 2:
        return []
    texts = pq.read_table(path, columns=["sentence1", "sentence2"])
    first, second = (column.to_pylist() for column in texts.select(["sentence1", "sentence2"]).columns)
    return leaks_between_texts(splits, first, second, set_here)


def score_columns_about(path: Path) -> dict[str, dict[str, Any]]:
    """What a snapshot's metadata says of its score columns, by their names."""
    about = (pq.read_schema(path).metadata or {}).get(b"semblance", b"{}")
    columns: dict[str, dict[str, Any]] = json_from(about.decode()).get("scores", {})
    return columns


def _values(column: pa.ChunkedArray, places: NDArray[np.int64]) -> Iterator[str | float | None]:
    return iter(column.take(pa.array(places)).to_pylist())
