"""How sure a split-half reliability is: an interval for it from resampled tuples."""

import math
from dataclasses import dataclass

import numpy as np

from annotation.bws.judgements import FloatArray, IntArray, Judgements, tuple_numbers
from annotation.bws.reliability.correlation import spearman
from annotation.bws.reliability.split_half import HalfScores, halves_of_groups

# Cells of an array (judgements, trials) that are worked on at once.
_CELLS_AT_ONCE = 2_000_000
_LIMIT = 0.999_999  # Fisher's z of a perfect correlation would be infinite


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


def reliability_interval(
    judgements: Judgements, estimate: float, *, resamples: int = 200, splits: int = 8, seed: int = 1234
) -> Interval:
    """A 95 % interval of the split-half reliability `estimate`, a mean over splits of each tuple's judgements.

    Tuples are drawn with replacement, each with all its judgements (Efron 1979), and the resample is split and
    correlated `splits` times. A tuple that is drawn twice is split once, and counts twice in either half: were
    its copies split each by itself, the same answer would stand in both halves and make them agree.
    The interval is normal on Fisher's z, around the estimate: resamples hold fewer different tuples than the
    campaign, so that they correlate a little less, and their spread alone is of use.
    Judgements that share a person are taken for independent; with few people the interval is too narrow.
    """
    found = _resampled(judgements, resamples, splits, np.random.default_rng(seed))
    values = found[~np.isnan(found)]
    if len(values) < resamples / 2:
        return Interval(-1.0, 1.0)
    spread = float(np.arctanh(np.clip(values, -_LIMIT, _LIMIT)).std(ddof=1))
    middle = math.atanh(min(max(estimate, -_LIMIT), _LIMIT))
    if spread < 1e-9:
        return Interval(estimate, estimate)
    return Interval(math.tanh(middle - 1.96 * spread), math.tanh(middle + 1.96 * spread))


def _resampled(judgements: Judgements, resamples: int, splits: int, rng: np.random.Generator) -> FloatArray:
    """The reliability (resamples,) of each resample; NaN where halves have nothing to compare."""
    tuples = tuple_numbers(judgements.items)
    draw, scores = halves_of_groups(tuples), HalfScores(judgements)
    at_once = max(1, _CELLS_AT_ONCE // max(1, len(judgements) * splits))
    found = []
    for start in range(0, resamples, at_once):
        count = min(at_once, resamples - start)
        weights = np.repeat(_weights(int(tuples.max()) + 1, count, rng), splits, axis=1)[tuples]
        one, two, seen = scores.count(draw(count * splits, rng), weights)
        found.append(spearman(one, two, seen).reshape(count, splits).mean(axis=1))
    return np.concatenate(found)


def _weights(tuples: int, resamples: int, rng: np.random.Generator) -> IntArray:
    """How often each tuple was drawn in each resample: (tuples, resamples)."""
    drawn = rng.integers(0, tuples, size=(resamples, tuples)) + tuples * np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=resamples * tuples).reshape(resamples, tuples).T
