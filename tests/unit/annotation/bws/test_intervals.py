"""The interval of the split-half reliability: against loops, against campaigns like it, and where little is known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from annotation.bws.judgements import Judgements
from annotation.bws.reliability.interval import Interval, reliability_interval, resampled_variance
from annotation.bws.reliability.split_half import Split, split_half_reliability
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements

ITEMS = 40
STEADY = SimulatedAnnotator(0.5)


def random_tuples(rng: np.random.Generator) -> np.ndarray:
    return rng.random((2 * ITEMS, ITEMS)).argsort(axis=1)[:, :4]


@pytest.fixture(scope="module")
def latent():
    return np.random.default_rng(1).standard_normal(ITEMS)


@pytest.fixture(scope="module")
def alike(latent) -> list[Judgements]:
    """Twenty campaigns of eight people who are alike."""
    plan = {"annotators": [STEADY] * 8, "judgements_per_tuple": 3}
    return [
        simulated_judgements(random_tuples(np.random.default_rng(seed)), latent, seed=seed, **plan)
        for seed in range(20)
    ]


@pytest.fixture(scope="module")
def different(latent) -> list[Judgements]:
    """Twenty campaigns of five people each, who see the items differently and more or less clearly."""
    campaigns = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        shown = np.repeat(random_tuples(rng), 2, axis=0)
        person = rng.random((len(shown) // 2, 5)).argsort(axis=1)[:, :2].ravel()
        own = latent + 0.6 * rng.standard_normal((5, ITEMS))
        noise = np.exp(rng.standard_normal(5) / 2) / 2
        seen = own[person[:, None], shown] + noise[person, None] * rng.standard_normal(shown.shape)
        slots = seen.argmax(axis=1), seen.argmin(axis=1)
        campaigns.append(Judgements.from_slots(shown, *slots, item_count=ITEMS, annotators=person))
    return campaigns


def held(campaigns: list[Judgements]) -> int:
    """How many intervals contain the mean reliability of all."""
    values = [split_half_reliability(judged, trials=50).spearman_mean for judged in campaigns]
    intervals = [
        reliability_interval(judged, value, resamples=60)
        for judged, value in zip(campaigns, values, strict=True)
    ]
    return sum(interval.low <= np.mean(values) <= interval.high for interval in intervals)


@pytest.mark.exhaustive
def test_resampling_is_that_of_a_loop_that_draws_people_and_splits_tuples_twice(different) -> None:
    judged = different[0]
    rng = np.random.default_rng(3)
    of_tuple = [np.flatnonzero((judged.items == row).all(axis=1)) for row in judged.items[::2]]
    means, noise = [], []
    for _ in range(250):
        drawn = np.bincount(rng.integers(0, 5, size=5), minlength=5)
        z = []
        for _ in range(2):
            first = np.concatenate([rows[rng.permutation(2)[:1]] for rows in of_tuple])
            second = np.setdiff1d(np.arange(len(judged)), first)
            z.append(np.arctanh(spearman_of_halves(judged, [first, second], drawn)))
        means.append(np.mean(z))
        noise.append((z[0] - z[1]) ** 2 / 4)  # the variance of the mean of two is half of (a - b)^2 / 2
    slow = np.nanvar(means, ddof=1) - np.nanmean(noise)

    fast = resampled_variance(judged, [judged.people], resamples=2000, rng=np.random.default_rng(4))

    assert fast == pytest.approx(slow, rel=0.3)


def test_the_variance_of_one_split_is_taken_off_that_of_the_resamples(latent, monkeypatch) -> None:
    judged = simulated_judgements(
        random_tuples(np.random.default_rng(2)),
        latent,
        annotators=[STEADY] * 5,
        judgements_per_tuple=2,
        seed=2,
    )
    means, apart = np.array([0.1, 0.5, 0.9, 0.3]), 0.1

    def halves(*_arguments) -> np.ndarray:
        """Two splits of each of four resamples."""
        return np.column_stack([means + apart, means - apart]).ravel()

    monkeypatch.setattr("annotation.bws.reliability.interval.spearman", halves)
    monkeypatch.setattr("annotation.bws.reliability.interval.fisher_z", lambda correlations: correlations)

    found = resampled_variance(judged, [judged.people], resamples=4, rng=np.random.default_rng(1))

    # Var(mean of two) less (z_1 - z_2)^2 / 4.
    assert found == pytest.approx(means.var(ddof=1) - apart**2)


def spearman_of_halves(judged: Judgements, halves: list[np.ndarray], drawn: np.ndarray) -> float:
    scores, seen = [], []
    for rows in halves:
        net, times = np.zeros(ITEMS), np.zeros(ITEMS)
        for row in rows:
            weight = drawn[judged.people[row]]
            times[judged.items[row]] += weight
            net[judged.best[row]] += weight
            net[judged.worst[row]] -= weight
        scores.append(net / np.maximum(times, 1))
        seen.append(times > 0)
    return float(spearmanr(*(score[seen[0]] for score in scores)).statistic)


def test_the_interval_contains_the_reliability_of_campaigns_like_it(alike, different) -> None:
    assert held(alike) >= 18
    assert held(different) >= 17


def test_tuples_alone_hide_how_people_differ(different) -> None:
    named = [reliability_interval(judged, 0.7, resamples=60) for judged in different]
    unnamed = [
        reliability_interval(replace(judged, annotators=None), 0.7, resamples=60) for judged in different
    ]

    wide, narrow = (np.mean([found.high - found.low for found in ways]) for ways in (named, unnamed))
    assert wide > 1.1 * narrow


@pytest.mark.parametrize("split", [Split.TUPLES, Split.ANNOTATORS])
def test_the_interval_of_another_split_contains_the_reliability_of_campaigns_like_it(
    different, split
) -> None:
    means = [split_half_reliability(judged, trials=40, split=split).spearman_mean for judged in different]
    intervals = [
        reliability_interval(judged, mean, split=split, resamples=60)
        for judged, mean in zip(different, means, strict=True)
    ]

    assert sum(found.low <= np.mean(means) <= found.high for found in intervals) >= 0.85 * len(means)
    assert all(found.high - found.low < 0.5 for found in intervals)


def test_it_says_whether_people_were_resampled(different) -> None:
    judged = different[0]
    two = judged.only(judged.people < 2)

    assert reliability_interval(judged, 0.7, resamples=20).people
    assert not reliability_interval(replace(judged, annotators=None), 0.7, resamples=20).people
    assert not reliability_interval(two, 0.7, resamples=20).people


def test_people_who_always_agree_are_sure_to() -> None:
    plan = {"annotators": [SimulatedAnnotator(0.0)] * 3, "judgements_per_tuple": 3, "seed": 1}
    judged = simulated_judgements(random_tuples(np.random.default_rng(2)), np.arange(ITEMS) * 1.0, **plan)

    interval = reliability_interval(judged, 1.0, resamples=20)

    assert interval.low == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("people", [True, False])
def test_halves_that_cannot_differ_leave_no_interval(people) -> None:
    by = np.arange(12) % 3 if people else None
    judged = Judgements(np.tile([0, 1], (12, 1)), np.zeros(12, dtype=int), np.ones(12, dtype=int), 2, by)

    assert reliability_interval(judged, 1.0, resamples=20) == Interval(1.0, 1.0, people=people)


def test_nothing_to_compare_is_no_knowledge() -> None:
    items = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
    judged = Judgements(items, items[:, 0], items[:, 3], 8)

    interval = reliability_interval(judged, 0.0, resamples=20)

    assert (interval.low, interval.high) == (-1.0, 1.0)
