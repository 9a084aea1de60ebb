"""How far the split-half reliability of a campaign may be from that of another campaign like it."""

import math
from dataclasses import dataclass

import numpy as np

from annotation.bws.judgements import IntArray, Judgements, tuple_numbers
from annotation.bws.reliability.correlation import LIMIT, fisher_z, spearman
from annotation.bws.reliability.split_half import HalfScores, Split, batches, draw_halves

FEWEST_PEOPLE = 3  # of two, half of the resamples hold one person alone, whose judgements have no other half


@dataclass(frozen=True)
class Interval:
    """low, high: of a reliability. people: whether annotators were resampled, or tuples alone."""

    low: float
    high: float
    people: bool


def reliability_interval(
    judgements: Judgements,
    estimate: float,
    *,
    split: Split = Split.JUDGEMENTS,
    resamples: int = 200,
    seed: int = 1234,
) -> Interval:
    """A 95 % interval of the split-half reliability, whose `estimate` is a mean over splits of this kind.

    It is for the mean reliability of campaigns with the same items and plan, and with other people from the same
    population and other tuples. Both are drawn with replacement (Efron 1979), each with all its judgements: in one run
    the tuples, in another the annotators if there are at least three. The wider of the two intervals is the result.
    The pigeonhole bootstrap (Owen 2007) draws both at once and counts the noise of single judgements three times. The
    sum of both variances less that of single judgements (Cameron, Gelbach and Miller 2011) is too large as well, since
    designs balance the tuples. `docs/experiments/reliability_coverage.py` compares them: this one contains the mean
    reliability in .92 to .99 of campaigns. It is too wide if few annotators are alike, and too narrow if annotators
    differ and nobody knows who judged.

    The interval is normal on Fisher's z, around the estimate: resamples hold fewer different judgements than the
    campaign, so that they correlate a little less, and only their spread is of use. If nothing was resampled that could
    be compared, it is -1..1.
    """
    rng = np.random.default_rng(seed)
    tuples, people = tuple_numbers(judgements.items), known_people(judgements)
    by_tuple, by_person = (
        None
        if units is None
        else resampled_variance(judgements, [units], split=split, resamples=resamples, rng=rng)
        for units in (tuples, people)
    )
    known = [variance for variance in (by_tuple, by_person) if variance is not None]
    if not known:
        return Interval(-1.0, 1.0, people=False)
    # Var(z) from tuples or from annotators, the larger one; 1.96 standard deviations to either side.
    margin = 1.96 * math.sqrt(max(known))
    # All resamples gave one z: halves always agree, or there is one possible half.
    if margin < 1e-9:
        return Interval(estimate, estimate, by_person is not None)
    # Normal on z = artanh r, and back by tanh.
    middle = math.atanh(min(max(estimate, -LIMIT), LIMIT))
    return Interval(math.tanh(middle - margin), math.tanh(middle + margin), by_person is not None)


def known_people(judgements: Judgements) -> IntArray | None:
    """The annotators (n,), numbered from 0, if there are enough of them to be resampled."""
    if judgements.annotators is None:
        return None
    people = np.unique(judgements.annotators, return_inverse=True)[1]
    return people if people.max(initial=-1) + 1 >= FEWEST_PEOPLE else None


def resampled_variance(
    judgements: Judgements,
    units: list[IntArray],
    *,
    split: Split = Split.JUDGEMENTS,
    resamples: int,
    rng: np.random.Generator,
) -> float | None:
    """The variance of the reliability, on Fisher's z, over resamples of units; None if most have nothing to compare.

    units: of each way to resample, the unit (n,) that each judgement belongs to. A judgement counts as often as its
    unit was drawn, in several ways as often as the product. It is in one half with all its copies: if they were split,
    the same answer would be in both halves and make them agree. So are all copies of a tuple or an annotator if these
    are split.
    Each resample is split twice. The difference of the two is chance that the mean of many splits does not have; its
    share of the variance is subtracted.
    """
    draw, scores = draw_halves(judgements, split), HalfScores(judgements)
    halves = []
    for count in batches(resamples, 2 * len(judgements)):
        times = np.ones((len(judgements), count), dtype=np.int64)
        for unit in units:
            # How often each unit is drawn (units, count) if as many are drawn as there are.
            number = int(unit.max()) + 1
            # One count over all resamples: unit u of resample b is the number b * units + u.
            drawn = rng.integers(0, number, size=(count, number)) + number * np.arange(count)[:, None]
            times *= np.bincount(drawn.ravel(), minlength=count * number).reshape(count, number).T[unit]
        # Columns 2 b and 2 b + 1 are two splits of resample b.
        one, two, seen = scores.count(draw(2 * count, rng), np.repeat(times, 2, axis=1))
        halves.append(fisher_z(spearman(one, two, seen).reshape(count, 2)))
    z = np.concatenate(halves)  # (resamples, 2)
    z = z[~np.isnan(z).any(axis=1)]
    # With fewer, the resamples that can be compared are not a random choice of all.
    if len(z) < resamples / 2:
        return None
    # Var(mean of two splits) = Var over resamples + (variance of one split) / 2, and E[(z_1 - z_2)^2] / 4 is that half.
    total = float(z.mean(axis=1).var(ddof=1))
    net = total - float(((z[:, 0] - z[:, 1]) ** 2).mean()) / 4  # the variance of a mean of two
    # A difference of two estimates can be negative by chance; the total, which is larger, then replaces it.
    return net if net > 0 else total
