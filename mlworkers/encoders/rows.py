"""Pairs out of a snapshot: what an encoder learns, and what it is measured on.

No sentence is on both sides. Training leaves out pairs that hold a sentence of another split or of the test;
evaluation leaves out pairs that hold a sentence the encoder was trained on. Both are counted.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from curation.files.json_text import json_from
from curation.pairs.splitting import pair_components
from curation.pairs.text import sentence_key

Column = NDArray[Any]
FEWEST_TESTED = 3  # two always correlate perfectly
_GENERATED = "generated"
_KEY_DIGITS = 16  # 64 bits of a sentence's key: among a million, two share one with a chance below 1e-7


class RowsError(ValueError):
    """The snapshot holds no such pairs, or not their scores. One sentence."""


@dataclass(frozen=True)
class Rows:
    """n scored pairs. numbers: the pairs' own (n,). a, b: numbers of their sentences (n,). values: their scores, as
    0..1, (n,). realism: p_D of each, NaN where it has none, (n,); None where no score set of it was asked for.
    """

    numbers: Column
    a: Column
    b: Column
    first: Column
    second: Column
    values: Column
    realism: Column | None = None

    def __len__(self) -> int:
        return int(self.numbers.size)

    def taken(self, chosen: Column) -> "Rows":
        """The rows at those places, or those that are marked."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        taken: dict[str, Any] = {
            name: None if column is None else column[chosen] for name, column in found.items()
        }
        return replace(self, **taken)

    @property
    def sentences(self) -> list[str]:
        """Every distinct text, in the order in which they first occur."""
        return list(dict.fromkeys([*self.first.tolist(), *self.second.tolist()]))


@dataclass(frozen=True)
class TrainingRows:
    """What is learnt, and how many pairs were left out: because of held-out sentences, and for want of p_D."""

    rows: Rows
    held_out: int
    unscored: int


class PairTable:
    """The pairs of a snapshot's Parquet file. Raises RowsError where the file is none, or lacks a score set."""

    def __init__(self, path: Path) -> None:
        try:
            self._table = pq.read_table(path)
            about = json_from((self._table.schema.metadata or {})[b"semblance"])
        except (OSError, pa.ArrowInvalid, KeyError, ValueError) as error:
            raise RowsError(f"{path.name} is no snapshot that this program wrote; make a new one.") from error
        self._columns = {str(told["score_set"]): (name, told) for name, told in about["scores"].items()}

    def rows(self, scores: str, *, split: str | None, realism: str = "") -> Rows:
        """The pairs of a split (None: of any) that have the score, and their p_D where its score set is named.

        Of intended scores, the generated pairs alone. Raises RowsError where there is none.
        """
        values = self._scores(scores)
        chosen = ~np.isnan(values)
        if split is not None:
            chosen &= self._column("split") == split
        if self._columns[scores][1]["kind"] == "target":
            chosen &= self._column("origin") == _GENERATED
        if not chosen.any():
            where = "" if split is None else f" of the split “{split}”" if split else " without a split"
            raise RowsError(f"No pair{where} has a score in “{scores}”; choose another score set or split.")
        every = Rows(
            numbers=self._column("pair"),
            a=self._column("a_id"),
            b=self._column("b_id"),
            first=self._column("sentence1"),
            second=self._column("sentence2"),
            values=values,
            realism=self._scores(realism) if realism else None,
        )
        return every.taken(chosen)

    def held_out(self, split: str) -> frozenset[str]:
        """The keys of the sentences that stand in pairs of other splits, whether or not they have a score there."""
        splits = self._column("split")
        other = (splits != "") & (splits != split) & (self._column("origin") != _GENERATED)
        texts = (self._column(side)[other].tolist() for side in ("sentence1", "sentence2"))
        return sentence_keys(text for side in texts for text in side)

    def _scores(self, name: str) -> Column:
        """The scores of every pair, brought from their scale to 0..1; NaN where a pair has none."""
        if name not in self._columns:
            there = ", ".join(f"“{found}”" for found in self._columns) or "none"
            raise RowsError(
                f"The snapshot has no score set “{name}”; it has {there}. Choose one, or a new snapshot."
            )
        column, told = self._columns[name]
        low, high = float(told["low"]), float(told["high"])
        raw = self._table[column].to_numpy(zero_copy_only=False).astype(np.float64)
        scaled: Column = (raw - low) / (high - low)
        return scaled

    def _column(self, name: str) -> Column:
        column: Column = self._table[name].to_numpy(zero_copy_only=False)
        return column


def sentence_keys(texts: Iterable[str]) -> frozenset[str]:
    """Short names of sentences, by which lists of them are compared without their texts. Case makes no difference."""
    return frozenset(map(_short_key, texts))


def _short_key(text: str) -> str:
    return sentence_key(text.casefold())[:_KEY_DIGITS]


def training_rows(
    rows: Rows, *, held_out: AbstractSet[str], needs_realism: bool, unscored: str
) -> TrainingRows:
    """What may be learnt of some rows. unscored: "refuse" or "leave out", of pairs without p_D where it is needed.

    Raises RowsError where nothing is left, or p_D is missing and to be refused.
    """
    allowed = rows.taken(~_holding(rows, held_out))
    if not len(allowed):
        raise RowsError(
            f"Each of the {len(rows)} pairs holds a sentence that is held out or tested, so nothing is left to learn; "
            "generate pairs from the training split."
        )
    if not needs_realism:
        return TrainingRows(allowed, len(rows) - len(allowed), 0)
    scored = _with_realism(allowed, unscored)
    return TrainingRows(scored, len(rows) - len(allowed), len(allowed) - len(scored))


def _with_realism(rows: Rows, unscored: str) -> Rows:
    if rows.realism is None:
        raise RowsError("Weighting by realism needs p_D; name a score set of realism.")
    missing = np.isnan(rows.realism)
    if not missing.any() or (unscored == "leave out" and not missing.all()):
        return rows.taken(~missing)
    raise RowsError(
        f"p_D is missing for {missing.sum()} of {missing.size} pairs, first pair {rows.numbers[missing][0]}; score "
        "the realism of the generated pairs anew, or leave pairs without p_D out (the setting “unscored”)."
    )


def unseen_rows(rows: Rows, trained: AbstractSet[str]) -> tuple[Rows, int]:
    """The test pairs without a sentence that the encoder was trained on, and how many were left out.

    Raises RowsError where fewer than three are left, or all their scores are equal.
    """
    unseen = rows.taken(~_holding(rows, trained))
    left_out = len(rows) - len(unseen)
    if len(unseen) < FEWEST_TESTED:
        because = f", because {left_out} hold sentences the encoder was trained on" if left_out else ""
        raise RowsError(
            f"{len(unseen)} test pairs are too few{because}; measuring needs {FEWEST_TESTED} or more."
        )
    if np.ptp(unseen.values) == 0:
        raise RowsError(
            f"All {len(unseen)} test pairs have the same score; measuring needs scores that differ."
        )
    return unseen, left_out


def _holding(rows: Rows, keys: AbstractSet[str]) -> Column:
    """Which rows hold one of those sentences, (n,) bool."""
    marked = {text for text in rows.sentences if _short_key(text) in keys} if keys else set()
    sides = [
        np.array([text in marked for text in side.tolist()], dtype=bool) for side in (rows.first, rows.second)
    ]
    found: Column = sides[0] | sides[1]
    return found


def hold_back(rows: Rows, share: float, *, seed: int) -> tuple[Rows, Rows, int]:
    """Rows to learn, rows to choose by, and how many fit neither because they share a sentence with the latter.

    What goes together is drawn together: the pairs that hang together by shared sentences, or, where random partners
    tie most pairs into one such group, the pairs of one first sentence. Raises RowsError where a side would be empty.
    """
    units = pair_components(rows.a, rows.b)
    if np.bincount(units).max() > len(rows) / 2:
        units = np.unique(rows.a, return_inverse=True)[1]
    order = np.random.default_rng([seed, 11]).permutation(units.max() + 1)
    sizes = np.bincount(units)[order]
    drawn = order[np.cumsum(sizes) <= max(share * len(rows), sizes[0])]
    back = np.isin(units, drawn)
    tied = np.isin(rows.a, np.concatenate([rows.a[back], rows.b[back]]))
    tied |= np.isin(rows.b, np.concatenate([rows.a[back], rows.b[back]]))
    kept, chosen = rows.taken(~tied), rows.taken(back)
    if not len(kept) or len(chosen) < FEWEST_TESTED:
        raise RowsError(
            f"{len(chosen)} of {len(rows)} pairs would be held back to choose by and {len(kept)} learnt; hold back "
            "another share, or none."
        )
    return kept, chosen, int((tied & ~back).sum())
