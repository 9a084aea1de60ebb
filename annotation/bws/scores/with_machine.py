"""Counting scores by a machine's answers to all tuples and people's to some: scores of what people would answer.

The difference estimator of survey sampling, with the machine's weights found where both answered (prediction-powered
inference: Angelopoulos et al. 2023, arXiv:2301.09633; its power tuning: 2024, arXiv:2311.01453). For item i in tuple t
let y be the mean outcome of people's answers (1 best, -1 worst, 0 neither), and g what the machine lets one expect:

    s_i = mean of w g over all N_i tuples of the item + mean of y - w g over the n_i tuples that people judged.

The tuples that people judge are drawn at random from all, so the mean of g over them is that over all but for chance,
and s_i has the mean of people's scores alone, whatever the machine and the weight w. Only what differs between the
tuples of one item can be saved: no machine foresees the noise of people's choices (`AssistedScores.ceiling`).

g is not the machine's answer to the tuple but the outcome that MaxDiff expects by the machine's utilities, which all
of its answers tell. It saves half as much again, and the answer adds nothing to it (docs/experiments/log/scores.md,
entry S-11).
"""

from dataclasses import dataclass

import numpy as np
import scipy

from annotation.bws.judgements import FloatArray, IntArray, Judgements, Mask, summed, tuple_numbers
from annotation.bws.scores.empirical_bayes import fit_with_prior
from annotation.bws.scores.maxdiff import MaxDiffLikelihood

FOLDS = 10
FEWEST_TUPLES = 30  # that both answered: of fewer, the machine's weight is hardly known
LEAST_VARIANCE = 0.05  # of the mean variance: an item that was always best is not known without error


class MachineError(ValueError):
    """The answers do not fit together. One sentence."""


@dataclass(frozen=True, eq=False)
class AssistedScores:
    """Signed scores (m,) of m items, -1..1, with their standard errors; NaN for an item that no person was asked about.

    people, people_errors: the same from people's answers alone, (m,).
    machine: the machine's own scores, (m,).
    weights: w in each fold of tuples, (FOLDS,); below 0 for a machine that orders the items the other way round.
    tuples, both: how many tuples there are, and how many of them people judged.
    saved: the share of people's judgements that the machine saves, 1 - Var / Var of people alone, over all items.
    People alone would need 1 / (1 - saved) times as many to come as near.
    ceiling: the same for a machine that knows people's utilities; None if fewer than FEWEST_TUPLES were judged twice.
    """

    values: FloatArray
    errors: FloatArray
    people: FloatArray
    people_errors: FloatArray
    machine: FloatArray
    weights: FloatArray
    tuples: int
    both: int
    saved: float
    ceiling: float | None

    @property
    def weight(self) -> float:
        return float(self.weights.mean())

    @property
    def agreement(self) -> float:
        """Spearman's correlation of the machine's own scores with people's alone; below 0 it orders the other way."""
        known = ~np.isnan(self.people)
        return float(scipy.stats.spearmanr(self.machine[known], self.people[known]).statistic)


@dataclass(frozen=True, eq=False)
class _Cells:
    """The c outcomes of an item in a tuple, each the mean of its answers: item, tuple, number of answers, mean, and the
    variance of one answer within the cell, NaN for a single one; (c,) each.
    """

    item: IntArray
    tuple: IntArray
    number: IntArray
    mean: FloatArray
    within: FloatArray


def assisted_scores(people: Judgements, machine: Judgements, *, seed: int = 1234) -> AssistedScores:
    """Score items by people's answers and a machine's, so that the scores stay people's however bad the machine is.

    people: answers to tuples that were drawn at random from those of the machine. machine: one answer or several to
    every tuple. Raises MachineError where a tuple has people's answers and none of the machine, or both answered fewer
    than FEWEST_TUPLES tuples.
    """
    m = people.item_count
    if machine.item_count != m:
        raise MachineError("People and the machine must number the same items.")
    numbers = tuple_numbers(_stacked(people.items, machine.items))
    asked, answered = numbers[: len(people)], numbers[len(people) :]
    if missing := np.setdiff1d(asked, answered).size:
        raise MachineError(
            f"The machine has no answer to {missing} of the tuples that people annotated; it must answer all of them."
        )
    both = np.unique(asked)
    if both.size < FEWEST_TUPLES:
        raise MachineError(
            f"People and the machine both answered {both.size} tuples; with fewer than {FEWEST_TUPLES}, the machine's "
            "weight is not known."
        )
    y, f = _cells(people, asked), _cells(machine, answered)
    width = int(numbers.max()) + 1
    place = np.searchsorted(f.item * width + f.tuple, y.item * width + y.tuple)  # among the machine's cells
    rng = np.random.default_rng([seed, 45])
    fold = rng.permutation(width) % FOLDS  # of each tuple: its answers stay together
    expected = _expected(people, machine, f, answered)
    weights = np.array([_weight(y, expected[place], fold[y.tuple] != each, m) for each in range(FOLDS)])
    guess = weights[fold[f.tuple]] * expected  # w g, by a weight that has not seen the tuple
    values = _means(f.item, guess, m) + _means(y.item, y.mean - guess[place], m)
    alone = _means(y.item, y.mean, m)
    whole = np.bincount(f.item, minlength=m)
    variance, _between = _variances(y, y.mean - guess[place], values, whole)
    variance_alone, between_alone = _variances(y, y.mean, alone, whole)
    known = ~np.isnan(alone)
    least = float(variance_alone[known].sum())
    return AssistedScores(
        values=values,
        errors=np.sqrt(variance),
        people=alone,
        people_errors=np.sqrt(variance_alone),
        machine=_means(f.item, f.mean, m),
        weights=weights,
        tuples=int(np.unique(answered).size),
        both=int(both.size),
        saved=float(1 - variance[known].sum() / least),
        ceiling=None if between_alone is None else float(between_alone[known].sum() / least),
    )


def _stacked(one: IntArray, other: IntArray) -> IntArray:
    """Rows of both, filled up with -1 to one width."""
    width = max(one.shape[1], other.shape[1])
    return np.concatenate(
        [np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=-1) for rows in (one, other)]
    )


def _cells(judgements: Judgements, tuples: IntArray) -> _Cells:
    """In the order of items and, within them, of tuples."""
    row, position = np.nonzero(judgements.items >= 0)
    item = judgements.items[row, position]
    outcome = (item == judgements.best[row]).astype(np.int64) - (item == judgements.worst[row])
    width = int(tuples.max(initial=0)) + 1
    cells, cell = np.unique(item * width + tuples[row], return_inverse=True)
    number = np.bincount(cell)
    mean = summed(cell, outcome, len(cells)) / number
    squares = summed(cell, (outcome - mean[cell]) ** 2, len(cells))
    within = np.divide(squares, number - 1, out=np.full(len(cells), np.nan), where=number > 1)
    return _Cells(cells // width, cells % width, number, mean, within)


def _means(items: IntArray, values: FloatArray, m: int) -> FloatArray:
    """Of each item, (m,); NaN without a value."""
    number = np.bincount(items, minlength=m)
    means: FloatArray = np.divide(summed(items, values, m), number, out=np.full(m, np.nan), where=number > 0)
    return means


def _expected(people: Judgements, machine: Judgements, cells: _Cells, tuples: IntArray) -> FloatArray:
    """The outcome (c,) of each cell that MaxDiff expects by the machine's utilities, brought to the spread of people's.

    A machine that always answers alike has utilities of any spread, and would make every outcome certain.
    """
    seen = np.unique(machine.items[machine.items >= 0])
    utilities = np.zeros(machine.item_count)
    utilities[seen] = fit_with_prior(MaxDiffLikelihood(machine)).utilities[seen]
    spread = float(utilities[seen].std())
    # Of people's utilities: 1 / variance.
    precision = fit_with_prior(MaxDiffLikelihood(people)).prior_precision
    if spread > 0:
        utilities *= 1 / (spread * np.sqrt(precision))
    first = np.unique(tuples, return_index=True)[1]  # one row of each tuple
    rows = machine.items[first]
    there = rows >= 0
    rise, fall = (np.where(there, np.exp(sign * utilities[rows]), 0.0) for sign in (1, -1))
    # P(i best, j worst) is e^(u_i - u_j) over the sum of all with i != j.
    whole = rise.sum(axis=1, keepdims=True) * fall.sum(axis=1, keepdims=True) - (rise * fall).sum(
        axis=1, keepdims=True
    )
    net = rise * (fall.sum(axis=1, keepdims=True) - fall) - fall * (rise.sum(axis=1, keepdims=True) - rise)
    width = int(tuples.max(initial=0)) + 1
    # In the order of the cells, each once: an item that a tuple holds twice is one cell.
    ordered, at = np.unique((rows * width + tuples[first][:, None])[there], return_index=True)
    values: FloatArray = (net / whole)[there][at]
    return values[np.searchsorted(ordered, cells.item * width + cells.tuple)]


def _weight(y: _Cells, expected: FloatArray, kept: Mask, m: int) -> float:
    """w = sum of (y - y_i)(g - g_i) / sum of (g - g_i)^2 over the cells that are kept, y_i and g_i the items' means.

    It makes the variance of y - w g between the tuples of an item least. It is one number for all items: an item has a
    few tuples, and a weight of its own would be noise. 0 if the machine expects the same of an item in each tuple.
    """
    item = y.item[kept]
    apart = expected[kept] - _means(item, expected[kept], m)[item]
    spread = float((apart**2).sum())
    return float((y.mean[kept] * apart).sum()) / spread if spread > 0 else 0.0


def _variances(
    y: _Cells, residual: FloatArray, values: FloatArray, whole: IntArray
) -> tuple[FloatArray, FloatArray | None]:
    """The variance V / n - B / N of each score, and its part B / n - B / N that a perfect machine would save: (m,).

    V is the variance of a residual between the tuples of an item: B, by which the tuples themselves differ, and the
    noise of people's choices. B vanishes once all N tuples are answered. The noise is known where several people
    answered FEWEST_TUPLES tuples; elsewhere B is taken as 0, the second array is None, and intervals are rather too
    wide.

    V and the noise are a + b s^2 of the score s: by its own few tuples the variance of an item is hardly known, and one
    that is nearly always best varies less than one in the middle. They are fitted to each tuple by the score from the
    item's other tuples, because a tuple that moved the score would seem to vary less.
    """
    m = len(whole)
    n = np.bincount(y.item, minlength=m)
    several = n[y.item] > 1
    item = y.item[several]
    off = residual[several] - _means(y.item, residual, m)[item]  # r - r_i
    left = n[item] - 1.0
    others = values[item] - off / left  # the score without this tuple
    variance = _by_score(off**2 * n[item] / left, others, values)  # E (r - r_i)^2 = V (n - 1) / n
    judged = several & ~np.isnan(y.within)
    twice = np.unique(y.tuple[judged]).size >= FEWEST_TUPLES  # fewer would hardly tell the noise
    asked = np.maximum(n, 1)
    if not twice:
        alone: FloatArray = np.where(n > 0, variance / asked, np.nan)
        return alone, None
    noise = _by_score((y.within / y.number)[judged], others[judged[several]], values)
    between = np.maximum(0.0, variance - noise)
    finite = between / np.maximum(whole, 1)
    return np.where(n > 0, variance / asked - finite, np.nan), between / asked - finite


def _by_score(squares: FloatArray, scores: FloatArray, at: FloatArray) -> FloatArray:
    """a + b s² at the scores (m,), fitted to squares (c,) by least squares; at least a share of their mean."""
    columns = np.column_stack([np.ones(len(scores)), scores**2])
    found = np.linalg.lstsq(columns, squares, rcond=None)[0]
    fitted: FloatArray = np.maximum(found[0] + found[1] * at**2, LEAST_VARIANCE * squares.mean())
    return fitted
