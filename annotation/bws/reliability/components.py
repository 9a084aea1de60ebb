"""Where the differences between outcomes come from: items, tuples, annotators, or none of these.

An outcome is what one judgement says of one of its items: 1 for the best, -1 for the worst, 0 for the others. The
counting score of an item is the mean of its outcomes. The model is that of generalizability theory (Cronbach et al.
1972), with independent effects:

    outcome = mean + item + tuple within item + annotator x item + residual

The second effect is the company that an item had, the third what one person sees in it and others do not.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from annotation.bws.judgements import FloatArray, IntArray, Judgements, summed, tuple_numbers


@dataclass(frozen=True)
class Components:
    """Variances of the effects on an outcome, and what they mean for signed counting scores (-1..1).

    item, tuple, annotator, residual: the variances, at least 0. tuple is None if no item has two judgements of one
    tuple, annotator if nobody met an item in two tuples or nobody knows who judged; the residual then contains them.
    icc: the item's share of the variance of one outcome, ICC(1). score_icc: its share of the variance of a score, item
    / (item + sem^2): how such scores would correlate (Pearson) with scores from as many judgements by other annotators
    of other tuples. Both are None if there is no variance.
    sem: standard error of measurement of a score, the root of the error variance's mean over items.
    effective_judgements: how many judgements of one item, each by another person of another tuple, would have the same
    error variance; the mean over items (Kish 1965 divides by the design effect).
    """

    item: float
    tuple: float | None
    annotator: float | None
    residual: float
    icc: float | None
    score_icc: float | None
    sem: float
    effective_judgements: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def variance_components(judgements: Judgements) -> Components:
    """Estimate the components by symmetric sums (Koch 1967), which are unbiased for unbalanced data too.

    The mean product of two outcomes estimates the squared mean, plus the variance of each effect that both share: none
    if their items differ, the item's, or the item's and that of the tuple or of the annotator. The mean square of one
    outcome estimates the sum of all. Outcomes of one judgement sum to 0, so they are not compared with each other.
    Estimates below 0 become 0. Raises ValueError if no two judgements of different tuples share an item.
    """
    outcomes = _Outcomes(judgements)
    # The squared mean: pairs with different items in different rows, counted by inclusion and exclusion.
    apart = outcomes.mean_product({"": 1, "r": -1, "i": -1, "ir": 1})
    shared = {
        # Same item, other tuple, other annotator: the squared mean + Var(item).
        "item": outcomes.mean_product({"i": 1, "it": -1, "ip": -1, "itp": 1}),
        # Same item and tuple, other annotator: + Var(tuple). Same item and annotator, other tuple: + Var(annotator).
        "tuple": outcomes.mean_product({"it": 1, "itp": -1}),
        "annotator": outcomes.mean_product({"ip": 1, "itp": -1}),
    }
    if apart is None or shared["item"] is None:
        raise ValueError("Variance components need items that were annotated in several tuples.")
    item = max(0.0, shared["item"] - apart)  # Var(item)
    within, person = (
        # Var(tuple) and Var(annotator).
        None if product is None else max(0.0, product - shared["item"])
        for product in (shared["tuple"], shared["annotator"])
    )
    known = item + (within or 0) + (person or 0)
    # E[x^2] = squared mean + the sum of all variances.
    residual = max(0.0, float(np.mean(outcomes.values**2)) - apart - known)
    one = (within or 0) + (person or 0) + residual  # the error variance of one outcome
    # Var(mean of n outcomes) = Var(tuple) sum (n_t / n)^2 + Var(annotator) sum (n_p / n)^2 + Var(residual) / n.
    # The error variance of an item's mean (m,): an effect that some of its outcomes share does not average out.
    errors = sum(
        variance * outcomes.concentration(grouping)
        for variance, grouping in ((within or 0, "it"), (person or 0, "ip"), (residual, "ir"))
    )
    sem2 = float(np.mean(errors))  # SEM^2 of a score, the mean over items
    return Components(
        item=item,
        tuple=within,
        annotator=person,
        residual=residual,
        # ICC(1) = Var(item) / (Var(item) + error variance of one outcome).
        icc=item / (item + one) if item + one > 0 else None,
        score_icc=item / (item + sem2) if item + sem2 > 0 else None,
        sem=sem2**0.5,
        effective_judgements=float(np.mean(one / errors if one > 0 else 1 / outcomes.concentration("ir"))),
    )


class _Outcomes:
    """All outcomes (o,), grouped by item (i), tuple (t), annotator or person (p), row of the judgements (r)."""

    def __init__(self, judgements: Judgements) -> None:
        best = judgements.items == judgements.best[:, None]  # (n, k)
        worst = judgements.items == judgements.worst[:, None]
        # x = 1 at the best, -1 at the worst, 0 otherwise, in a tie too.
        # An item at two positions of a row is chosen once and appears twice, as in counting.
        each = best / np.maximum(1, best.sum(1, keepdims=True)) - worst / np.maximum(
            1, worst.sum(1, keepdims=True)
        )
        shown = judgements.items >= 0
        row = np.nonzero(shown)[0]
        self.values = each[shown]
        # Without names nobody judged twice, so no two outcomes share a person.
        people = np.arange(len(judgements)) if judgements.annotators is None else judgements.annotators
        columns = {
            "i": judgements.items[shown],
            "t": tuple_numbers(judgements.items)[row],
            "p": people[row],
            "r": row,
        }
        self._columns = {name: np.unique(column, return_inverse=True)[1] for name, column in columns.items()}

    def mean_product(self, groupings: dict[str, int]) -> float | None:
        """The mean product over pairs of outcomes; None if there are none.

        groupings: columns, and whether the pairs that are equal in all of them are added (1) or taken away (-1).
        """
        total = pairs = 0.0
        for columns, sign in groupings.items():
            group = self._group(columns)
            # (sum of x)^2 = sum of x_i^2 + sum over i != j of x_i x_j: linear in o instead of a product of every pair.
            # All products within a group, each outcome with itself too, are the square of its sum.
            total += sign * float((np.bincount(group, weights=self.values) ** 2).sum())
            pairs += sign * float((np.bincount(group).astype(np.float64) ** 2).sum())
        return total / pairs if pairs > 0 else None  # the x_i^2 cancel: the signs of the groupings sum to 0

    def concentration(self, columns: str) -> FloatArray:
        """Of each item (m,), the sum of squared shares of its outcomes in each group: 1 / groups if they are equal.

        The first column must be the item's.
        """
        item, group = self._columns["i"], self._group(columns)
        # A group lies within one item, so any of its outcomes tells which.
        first = np.unique(group, return_index=True)[1]  # an outcome of each group
        squares = summed(item[first], np.bincount(group).astype(np.float64) ** 2, int(item.max()) + 1)
        concentrated: FloatArray = squares / np.bincount(item) ** 2  # sum (n_g / n)^2 (m,)
        return concentrated

    def _group(self, columns: str) -> IntArray:
        """A number from 0 for each combination of values in the columns (o,)."""
        group = np.zeros(len(self.values), dtype=np.int64)
        for name in columns:
            column = self._columns[name]
            # Mixed radix: group * (values of the column) + value, renumbered after each column so that it stays small.
            group = np.unique(group * (column.max(initial=0) + 1) + column, return_inverse=True)[1]
        return group
