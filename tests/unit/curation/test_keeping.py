"""The share of machine sentences that people would keep, and its interval."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from curation.pairs.keeping import kept_by_p_d, kept_from, kept_share, wilson_interval

VERDICTS = [(0.1, False), (0.2, False), (0.3, True), (0.3, False), (0.6, True), (0.9, True)]


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_the_one_that_scipy_computes(counts: tuple[int, int]) -> None:
    right, n = counts

    interval = binomtest(right, n).proportion_ci(0.95, method="wilson")

    assert wilson_interval(right, n) == pytest.approx((interval.low, interval.high), abs=1e-9)


def test_without_sentences_everything_is_possible() -> None:
    nothing = kept_share(0, 0)

    assert (nothing.share, nothing.low, nothing.high) == (None, 0.0, 1.0)


def test_more_kept_than_there_are_is_an_error() -> None:
    with pytest.raises(ValueError, match="3 kept of 2 sentences cannot be"):
        kept_share(3, 2)


def test_the_share_from_a_p_d_upwards_counts_that_value_too() -> None:
    kept = kept_from(VERDICTS, 0.3).kept

    assert (kept.kept, kept.n) == (3, 4)


def test_the_levels_begin_with_all_and_cut_the_rest_evenly() -> None:
    levels = kept_by_p_d(VERDICTS, steps=3)

    assert [(level.at_least, level.kept.n) for level in levels] == [(0.1, 6), (0.3, 4), (0.6, 2)]


def test_equal_values_make_one_level_and_no_verdict_none() -> None:
    assert [level.at_least for level in kept_by_p_d([(0.5, True)] * 9)] == [0.5]
    assert kept_by_p_d([]) == []
