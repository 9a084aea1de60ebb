"""How uncertain a split-half reliability is: an interval for it from resampled tuples."""

import math

import numpy as np

from annotation.bws.judgements import FloatArray, Judgements, tuple_numbers
from annotation.bws.reliability.correlation import LIMIT, fisher_z, spearman
from annotation.bws.reliability.split_half import HalfScores, batches, halves_of_groups


def reliability_interval(
    judgements: Judgements, estimate: float, *, resamples: int = 200, splits: int = 8, seed: int = 1234
) -> tuple[float, float]:
    """A 95 % interval of the split-half reliability `estimate`, a mean over splits of each tuple's judgements.

    Tuples are drawn with replacement, each with all its judgements (Efron 1979), and the resample is split and
    correlated `splits` times. A tuple that is drawn twice is split once, and counts twice in either half: if its copies
    were split each by itself, the same answer would be in both halves and make them agree.
    The interval is normal on Fisher's z, around the estimate: resamples hold fewer different tuples than the campaign,
    so that they correlate a little less, and only their spread is of use.
    Judgements that share a person are taken as independent; with few people the interval is too narrow.
    """
    values = _resampled(judgements, resamples, splits, np.random.default_rng(seed))
    values = values[~np.isnan(values)]
    if len(values) < resamples / 2:
        return -1.0, 1.0
    spread = float(fisher_z(values).std(ddof=1))
    middle = math.atanh(min(max(estimate, -LIMIT), LIMIT))
    if spread < 1e-9:
        return estimate, estimate
    return math.tanh(middle - 1.96 * spread), math.tanh(middle + 1.96 * spread)


def _resampled(judgements: Judgements, resamples: int, splits: int, rng: np.random.Generator) -> FloatArray:
    """The reliability (resamples,) of each resample; NaN if halves have nothing to compare."""
    tuple_of = tuple_numbers(judgements.items)  # (n,)
    tuples = int(tuple_of.max()) + 1
    draw, scores = halves_of_groups(tuple_of), HalfScores(judgements)
    values = []
    for count in batches(resamples, len(judgements) * splits):
        drawn = rng.integers(0, tuples, size=(count, tuples)) + tuples * np.arange(count)[:, None]
        # How often each tuple was drawn in each resample (tuples, count), and its judgements in each split (n, B).
        times = np.bincount(drawn.ravel(), minlength=count * tuples).reshape(count, tuples).T
        weights = np.repeat(times, splits, axis=1)[tuple_of]
        one, two, seen = scores.count(draw(count * splits, rng), weights)
        values.append(spearman(one, two, seen).reshape(count, splits).mean(axis=1))
    return np.concatenate(values)
