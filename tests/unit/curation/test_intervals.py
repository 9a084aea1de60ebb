"""Bootstrap intervals, against scipy's bootstrap, against resamples ranked one by one, and in coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from curation.statistics import intervals
from curation.statistics.correlation import spearman
from curation.statistics.intervals import Design, bootstrap_interval, resampled_correlations, resampled_sums


def correlated(pairs: int, *, seed: int, levels: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Two vectors that correlate at about .7; the second rounded to so many levels, which makes ties."""
    generator = np.random.default_rng(seed)
    predicted = generator.normal(size=pairs)
    gold = predicted + generator.normal(size=pairs)
    return predicted, gold if levels is None else np.digitize(gold, np.linspace(-2, 2, levels - 1))


def resampled_one_by_one(predicted, gold, statistic, *, resamples: int, seed: int) -> list[float]:
    """What a bootstrap is, written out: every resample drawn, ranked and correlated by itself."""
    generator = np.random.default_rng(seed)
    draws = generator.integers(predicted.size, size=(resamples, predicted.size))
    found = [statistic(predicted[draw], gold[draw]) for draw in draws]
    return [value for value in found if value is not None]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=12), st.integers(0, 99))
def test_each_resample_is_ranked_by_itself(rows, seed) -> None:
    predicted, gold = np.array(rows, dtype=float).T

    interval = bootstrap_interval(predicted, gold, resamples=50, level=0.9, seed=seed)

    expected = resampled_one_by_one(predicted, gold, spearman, resamples=50, seed=seed)
    if interval is None:
        assert spearman(predicted, gold) is None or not expected
    else:
        assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(expected, [0.05, 0.95])))
        assert interval.undefined == 50 - len(expected)


@pytest.mark.exhaustive
@pytest.mark.parametrize("levels", [None, 6])
def test_intervals_are_those_of_scipy(levels) -> None:
    predicted, gold = correlated(60, seed=5, levels=levels)

    ours = bootstrap_interval(predicted, gold, resamples=20_000, seed=1)

    theirs = stats.bootstrap(
        (predicted, gold),
        lambda a, b: stats.spearmanr(a, b).statistic,
        paired=True,
        vectorized=False,
        n_resamples=4_000,
        method="percentile",
        rng=np.random.default_rng(2),
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.015)


def test_nine_of_ten_intervals_of_ninety_percent_hold_the_true_correlation() -> None:
    true = 6 / np.pi * np.arcsin(np.sqrt(0.5) / 2)  # Spearman's of normal vectors that correlate at sqrt(.5)
    samples = [correlated(100, seed=seed) for seed in range(300)]

    intervals = [bootstrap_interval(*sample, resamples=300, level=0.9, seed=7) for sample in samples]

    held = np.mean([interval.low <= true <= interval.high for interval in intervals])
    assert held == pytest.approx(0.9, abs=0.05)


def test_more_pairs_make_a_narrower_interval() -> None:
    few, many = correlated(50, seed=3), correlated(5_000, seed=3)

    widths = [i.high - i.low for i in (bootstrap_interval(*sample, seed=1) for sample in (few, many))]

    assert widths[1] < widths[0] / 5


def test_the_same_seed_gives_the_same_interval() -> None:
    sample = correlated(40, seed=2)

    first, again, other = (bootstrap_interval(*sample, seed=seed) for seed in (1, 1, 2))

    assert first == again != other


def test_the_interval_of_a_perfect_correlation_is_one_point() -> None:
    values = np.arange(20)

    interval = bootstrap_interval(values, values, seed=1)

    assert (interval.low, interval.high) == (pytest.approx(1), pytest.approx(1))


def test_resamples_without_a_correlation_are_counted_and_left_out() -> None:
    predicted, gold = [1, 2, 3], [1, 2, 3]  # a third of a third of resamples draw one pair three times

    interval = bootstrap_interval(predicted, gold, resamples=9_000, seed=1)

    assert interval.undefined == pytest.approx(1_000, abs=150)


def test_large_weights_change_nothing() -> None:
    # One group of equal first scores is a stratum: resamples that draw it alone are constant, whatever its weight.
    predicted, gold = [1, 1, 1, 1, 2], [0.3, 0.1, 0.2, 0.4, 0.5]
    strata = np.zeros(5, dtype=np.int64)
    designs = [Design(np.full(5, weight), strata) for weight in (1.0, 1e6 / 3)]

    light, heavy = (
        resampled_correlations(predicted, gold, seed=4, resamples=2_000, design=design) for design in designs
    )

    assert np.isnan(light).sum() == pytest.approx(2_000 * 0.8**4, rel=0.15)  # 4 of 5 are drawn
    np.testing.assert_allclose(heavy, light, atol=1e-12)


@pytest.mark.parametrize("each", [2, 3, 5])
def test_resamples_within_strata_vary_as_samples_do(each: int) -> None:
    rng = np.random.default_rng(6)
    values, strata = rng.normal(size=10 * each), np.repeat(np.arange(10), each)
    design = Design(np.ones(values.size), strata)

    totals = np.concatenate([counts @ values for counts in intervals._draws_within(design, 20_000, 3)])

    # Of a total: Σ_h n_h s_h², with s_h² the variance of the stratum.
    expected = sum(each * values[strata == stratum].var(ddof=1) for stratum in range(10))
    assert totals.mean() == pytest.approx(values.sum(), abs=0.1)
    assert totals.var() == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("alone", [0, 1, 4])
def test_a_pair_alone_in_its_stratum_varies_too(alone: int) -> None:
    strata = np.array([stratum for stratum in range(5) for _pair in range(1 if stratum == alone else 3)])
    design = Design(np.ones(strata.size), strata)

    [counts] = intervals._draws_within(design, 200, 3)

    assert np.ptp(counts[:, strata == alone]) > 0


def test_every_pair_may_be_alone_in_its_stratum() -> None:
    predicted, gold = np.arange(7.0), [1, 0, 3, 2, 5, 6, 4]
    design = Design(np.ones(7), np.arange(7))

    interval = bootstrap_interval(predicted, gold, seed=1, design=design)

    assert interval.low < interval.high


def test_a_constant_vector_has_no_interval() -> None:
    assert bootstrap_interval([1, 1, 1], [1, 2, 3], seed=1) is None


@pytest.mark.parametrize("wrong", [{"resamples": 0}, {"level": 1.0}, {"level": 0.0}])
def test_resamples_and_level_out_of_range_are_refused(wrong) -> None:
    with pytest.raises(ValueError, match=r"give at least 1, and a level in 0\.\.1"):
        bootstrap_interval([1, 2, 3], [1, 2, 3], seed=1, **wrong)


def test_pairs_of_one_group_are_drawn_together() -> None:
    first, second = np.random.default_rng(3).normal(size=(2, 20))
    single = resampled_correlations(first, second, seed=5, resamples=50)

    # Each pair three times over, as a group: a resample of groups is one of the pairs, whose ranks are the same.
    groups = np.repeat(np.arange(20), 3)
    together = resampled_correlations(
        np.repeat(first, 3), np.repeat(second, 3), seed=5, resamples=50, groups=groups
    )

    assert together == pytest.approx(single)


def test_sums_of_all_columns_are_of_the_same_resamples() -> None:
    columns = np.random.default_rng(4).normal(size=(9, 2))

    sums = resampled_sums(np.column_stack([columns, columns.sum(axis=1)]), seed=1, resamples=30)

    assert sums[:, 2] == pytest.approx(sums[:, 0] + sums[:, 1])
    assert sums[:, 0].std() > 0
