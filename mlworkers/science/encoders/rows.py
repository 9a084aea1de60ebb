"""Pairs out of a snapshot: what an encoder is trained on, and what it is evaluated on.

No sentence is on both sides (`curation.pairs.holding_out`). Training leaves out pairs that hold a sentence of another
split or of the test; evaluation leaves out pairs that hold a sentence the encoder was trained on. Both are counted.
"""

from collections.abc import Collection, Container
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from curation.files.heavy import pa, pq
from curation.files.json_text import json_from
from curation.pairs.holding_out import HeldOut, split_is_held_out
from curation.pairs.splitting import pair_components
from mlworkers.plans.fields import SettingError, SettingName
from mlworkers.science.encoders.plan import SCORED_SIGNALS, SYMBOLS, Signal, Unscored
from mlworkers.science.encoders.weighting import WeightedRows

Column = NDArray[Any]
FEWEST_TESTED = 3  # two always correlate perfectly
_GENERATED = "generated"
_BY_PEOPLE = ("human", "edited")  # who may have had a hand in a sentence, as snapshots call them
_KEPT = "kept"  # by a curator, as snapshots call it
_HUMAN = 1.0  # p_D and p_y of what a person wrote or edited: known, so that nothing need be estimated


class RowsError(SettingError):
    """The snapshot holds no such pairs, or not their scores. One sentence."""


@dataclass(frozen=True)
class Rows:
    """n scored pairs.

    numbers: the pairs' own, (n,).
    a, b: numbers of their sentences, (n,).
    values: their scores, as 0..1, (n,).
    realism, consistency: p_D and p_y of each, NaN where it has none, (n,); None where no score set of it was asked for.
    verdicts: 1 where a curator kept or edited the pair or people made it, NaN where nobody judged it, (n,); None in
    older snapshots.
    by_people: whether a person wrote or edited the second sentence, (n,) bool; None where nobody knows.
    errors: standard errors of the values, NaN where one has none, (n,); None where the snapshot has none.
    """

    numbers: Column
    a: Column
    b: Column
    first: Column
    second: Column
    values: Column
    realism: Column | None = None
    by_people: Column | None = None
    consistency: Column | None = None
    verdicts: Column | None = None
    errors: Column | None = None

    def __len__(self) -> int:
        return int(self.numbers.size)

    def taken(self, chosen: Column) -> "Rows":
        """The rows at those places, or those that are marked."""
        columns = ((each.name, getattr(self, each.name)) for each in fields(self))
        return Rows(**{name: column[chosen] for name, column in columns if column is not None})

    @property
    def weighable(self) -> WeightedRows:
        """What weights are made from."""
        known = {each: getattr(self, each.value) for each in Signal}
        signals = {each: values for each, values in known.items() if values is not None}
        return WeightedRows(self.numbers, signals, self.values)

    @property
    def sentences(self) -> list[str]:
        """Every distinct text, in the order in which they first occur."""
        return list(dict.fromkeys([*self.first.tolist(), *self.second.tolist()]))


@dataclass(frozen=True)
class TrainingRows:
    """What is learned, and how many pairs were left out: because of held-out sentences, and for want of p_D or p_y.

    as_human: pairs without p_D or p_y that count as human, because a person wrote or edited their second sentence.
    judges: who gave the judgements behind the scores, as `PairTable.judges` says it.
    """

    rows: Rows
    held_out: int
    unscored: int
    as_human: int = 0
    judges: str = ""


class PairTable:
    """The pairs of a snapshot's Parquet file. Raises RowsError where the file is none, or lacks a score set."""

    def __init__(self, path: Path) -> None:
        try:
            self._table = pq.read_table(path)
            about = json_from((self._table.schema.metadata or {})[b"semblance"])
        except (OSError, pa.ArrowInvalid, KeyError, ValueError) as error:
            raise RowsError(
                "%(file)s is not a snapshot that this program wrote; make a new one.", file=path.name
            ) from error
        self._columns = {str(told["score_set"]): (name, told) for name, told in about["scores"].items()}

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def rows(self, scores: str, *, split: str | None, realism: str = "", consistency: str = "") -> Rows:
        """The pairs of a split (None: of any) that have the score, and their p_D and p_y where a score set is named.

        Of target similarities, the generated pairs alone. Raises RowsError where there is none.
        """
        values, origin = self.scores(scores), self.column("origin")
        chosen = ~np.isnan(values)  # (n,): pairs with a score
        if split is not None:
            chosen &= self.column("split") == split
        if self._columns[scores][1]["kind"] == "target":
            chosen &= origin == _GENERATED
        if not chosen.any():
            where = "" if split is None else f" of the split “{split}”" if split else " without a split"
            raise RowsError(
                "No pair%(where)s has a score in “%(scores)s”; choose another score set or split.",
                where=where,
                scores=scores,
            )
        # Older snapshots say of whole pairs alone who wrote them.
        by_people = origin != _GENERATED  # (n,) bool
        if "sentence2_origin" in self._table.column_names:
            by_people |= np.isin(self.column("sentence2_origin").astype(str), _BY_PEOPLE)
        if "sentence1_origin" in self._table.column_names:
            by_people &= np.isin(self.column("sentence1_origin").astype(str), _BY_PEOPLE)
        every = Rows(
            numbers=self.column("pair"),
            a=self.column("a_id"),
            b=self.column("b_id"),
            first=self.column("sentence1"),
            second=self.column("sentence2"),
            values=values,
            realism=self.scores(realism) if realism else None,
            by_people=by_people,
            consistency=self.scores(consistency) if consistency else None,
            verdicts=self._verdicts(),
            errors=self._errors(scores),
        )
        return every.taken(chosen)

    def _errors(self, scores: str) -> Column | None:
        column = self._columns[scores][1].get("standard_error")
        if column is None:
            return None
        low, high = self.scale(scores)
        errors: Column = self.column(column).astype(np.float64) / (high - low)
        return errors

    def _verdicts(self) -> Column | None:
        if "verdict" not in self._table.column_names:
            return None
        # 1 or NaN, never 0: rejected pairs are not in a snapshot.
        judged = (self.column("origin") != _GENERATED) | (self.column("verdict").astype(str) == _KEPT)
        return np.where(judged, 1.0, np.nan)

    def held_out(self, split: str) -> HeldOut:
        """The sentences that are held out where pairs of that split are trained on, scored or not."""
        splits = set(self.column("split").tolist())
        return self.human_sentences(*(each for each in splits if split_is_held_out(each, used=split)))

    def human_sentences(self, *splits: str, among: NDArray[np.bool_] | None = None) -> HeldOut:
        """The sentences of the splits' pairs that no machine made, scored or not; of all, or of those marked, (n,)."""
        # What machines wrote is not held out.
        chosen = np.isin(self.column("split"), splits) & (self.column("origin") != _GENERATED)
        if among is not None:
            chosen &= among
        return HeldOut.of(
            text for side in ("sentence1", "sentence2") for text in self.column(side)[chosen].tolist()
        )

    def scores(self, name: str) -> Column:
        """The scores of every pair, brought from their scale to 0..1; NaN where a pair has none."""
        if name not in self._columns:
            there = ", ".join(f"“{known}”" for known in self._columns) or "none"
            raise RowsError(
                "The snapshot has no score set “%(name)s”; it has %(there)s. Choose one, or a new snapshot.",
                name=name,
                there=there,
            )
        low, high = self.scale(name)
        # The affine map from low..high to 0..1 keeps NaN, and every correlation with the scores.
        scaled: Column = (self.column(self._columns[name][0]).astype(np.float64) - low) / (high - low)
        return scaled

    def scale(self, name: str) -> tuple[float, float]:
        """The lowest and the highest score of a set that the snapshot has."""
        _column, told = self._columns[name]
        return float(told["low"]), float(told["high"])

    def gives_cosines(self, name: str) -> bool:
        """Whether a model gave the scores, in -1..1: cosines or correlations, as of an encoder or from contexts."""
        return self._columns[name][1]["kind"] == "model" and self.scale(name) == (-1.0, 1.0)

    def judges(self, name: str) -> str:
        """Who gave the judgements behind a set of scores, in the words of files; "" where the snapshot does not say."""
        return str(self._columns[name][1].get("judged_by", "")) if name in self._columns else ""

    def column(self, name: str) -> Column:
        """A column of the file, by its name there."""
        column: Column = self._table[name].to_numpy(zero_copy_only=False)
        return column


def training_rows(
    rows: Rows, *, held_out: HeldOut, needed: Collection[Signal] = (), unscored: str = Unscored.REFUSE
) -> TrainingRows:
    """What may be learned of some rows. needed: the signals that weights are made from; unscored: an `Unscored`, of
    pairs without one that a score set would hold.

    Raises RowsError where nothing is left, or a signal is missing and to be refused.
    """
    allowed = rows.taken(~_holding(rows, held_out))
    if not len(allowed):
        raise RowsError(
            "Each of the %(pairs)d pairs holds a sentence that is held out or tested, so nothing is left to learn; "
            "generate pairs from the training split.",
            pairs=len(rows),
        )
    held = len(rows) - len(allowed)  # pairs left out for leaks
    signals = [signal for signal in SCORED_SIGNALS if signal in needed]
    missing_of = {signal: _missing(allowed, signal) for signal in signals}
    missing = np.zeros(len(allowed), dtype=bool)
    for signal, lacks in missing_of.items():
        if lacks.all():
            _refuse_missing(allowed, signal, lacks)
        missing |= lacks  # in any of the signals that are needed
    if unscored == Unscored.LEAVE_OUT:
        if missing.all():
            _refuse_missing(allowed, signals[0], missing)
        return TrainingRows(allowed.taken(~missing), held, int(missing.sum()))
    # p_D is the probability that a person wrote the sentence. Of these a person did, and nothing is to be estimated;
    # and who edits a pair sees its target.
    human = missing & _by_people(allowed)  # p_D = 1 by definition, no estimate
    for signal, lacks in missing_of.items():
        refused = lacks if unscored == Unscored.REFUSE else lacks & ~human
        if refused.any():
            _refuse_missing(allowed, signal, refused)
    # A sentence by a person has p = 1; which pairs those are is counted as `as_human`.
    counted = {
        signal.value: np.where(lacks, _HUMAN, getattr(allowed, signal.value))
        for signal, lacks in missing_of.items()
    }
    return TrainingRows(replace(allowed, **counted), held, 0, int(human.sum()))


def _missing(rows: Rows, signal: Signal) -> Column:
    values = getattr(rows, signal.value)
    if values is None:
        raise RowsError(
            f"Weighting by {SYMBOLS[signal]} needs {SYMBOLS[signal]}; choose a score set for “%(setting)s”.",
            setting=SettingName(signal.value),
        )
    lacks: Column = np.isnan(values)  # (n,)
    return lacks


def _by_people(rows: Rows) -> Column:
    return np.zeros(len(rows), dtype=bool) if rows.by_people is None else rows.by_people


def _refuse_missing(rows: Rows, signal: Signal, refused: Column) -> NoReturn:
    machine = (refused & ~_by_people(rows)).any()
    again = {
        Signal.REALISM: "score the human-likeness of the generated pairs again",
        Signal.CONSISTENCY: "score the label consistency of the generated pairs again",
    }
    raise RowsError(
        f"{SYMBOLS[signal]} is missing for %(missing)d of %(pairs)d pairs, first pair %(first)d; "
        + (again[signal] if machine else "choose other scores")
        + ", or choose another value for “%(setting)s”.",
        missing=refused.sum(),
        pairs=len(rows),
        first=rows.numbers[refused][0],
        setting=SettingName("unscored"),
    )


def unseen_rows(rows: Rows, trained: Container[str]) -> tuple[Rows, int]:
    """The test pairs without a sentence that the encoder was trained on, and how many were left out.

    Raises RowsError where fewer than three are left, or all their scores are equal.
    """
    unseen = rows.taken(~_holding(rows, trained))  # either sentence seen drops the pair
    left_out = len(rows) - len(unseen)
    if len(unseen) < FEWEST_TESTED:
        because = f", because {left_out} hold sentences the encoder was trained on" if left_out else ""
        raise RowsError(
            "%(pairs)d test pairs are too few%(because)s; measuring needs %(least)d or more.",
            pairs=len(unseen),
            because=because,
            least=FEWEST_TESTED,
        )
    if np.ptp(unseen.values) == 0:
        raise RowsError(
            "All %(pairs)d test pairs have the same score; measuring needs scores that differ.",
            pairs=len(unseen),
        )
    return unseen, left_out


def _holding(rows: Rows, held_out: Container[str]) -> Column:
    """Which rows hold a sentence that is held out, (n,) bool."""
    # Each distinct sentence is looked up once: its key is a hash of its words.
    marked = {text for text in rows.sentences if text in held_out}
    pairs = zip(rows.first.tolist(), rows.second.tolist(), strict=True)
    return np.array([a in marked or b in marked for a, b in pairs], dtype=bool)


def validation_split(
    rows: Rows, share: float, *, seed: int, setting: str = "validation_share"
) -> tuple[Rows, Rows, int]:
    """Rows to train on, rows to choose the best weights by (the validation pairs), and how many are in neither because
    they share a sentence with the validation pairs.

    Pairs that are connected by shared sentences are drawn together. Where random partners connect most of the pairs,
    the pairs of one first sentence are drawn together. setting: the one that the share comes from. Raises RowsError
    where a side would be empty.
    """
    # Pairs of different components share no sentence, so a split by components leaves no pair tied.
    units = pair_components(rows.a, rows.b)
    # A component with most of the pairs could not be on either side.
    if np.bincount(units).max() > len(rows) / 2:
        units = np.unique(rows.a, return_inverse=True)[1]
    order = np.random.default_rng([seed, 11]).permutation(units.max() + 1)  # stream 11 of the seed
    # Units in random order are drawn as long as their pairs fit into the share; the first always is.
    sizes = np.bincount(units)[order]
    # A prefix of the random order: a larger share holds the pairs of a smaller one.
    drawn = order[np.cumsum(sizes) <= max(share * len(rows), sizes[0])]
    back = np.isin(units, drawn)
    validated = np.concatenate([rows.a[back], rows.b[back]])  # sentences of validation pairs
    # The validation pairs themselves are tied too, so that `~tied` drops them and their neighbours.
    tied = np.isin(rows.a, validated) | np.isin(rows.b, validated)
    kept, chosen = rows.taken(~tied), rows.taken(back)
    if not len(kept) or len(chosen) < FEWEST_TESTED:
        raise RowsError(
            "Of %(pairs)d pairs, %(validation)d would be validation pairs and %(training)d training pairs; choose "
            "another value for “%(setting)s”.",
            pairs=len(rows),
            validation=len(chosen),
            training=len(kept),
            setting=SettingName(setting),
        )
    return kept, chosen, int((tied & ~back).sum())
