"""Correlations, against scipy and tables worked by hand."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from curation.statistics.correlation import pearson, spearman

# Few values, so that ties are common.
TIED = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=40)


def test_spearman_of_a_table_with_ties_worked_by_hand() -> None:
    predicted = [0.1, 0.4, 0.4, 0.9]  # ranks 1, 2.5, 2.5, 4
    gold = [0, 2, 1, 3]  # ranks 1, 3, 2, 4; products of centred ranks sum to 4.5, squares to 4.5 and 5

    correlation = spearman(predicted, gold)

    assert correlation == pytest.approx(4.5 / np.sqrt(4.5 * 5))


def test_pearson_of_a_table_worked_by_hand() -> None:
    predicted, gold = [1, 2, 3], [1, 3, 2]  # centred -1 0 1 and -1 1 0

    correlation = pearson(predicted, gold)

    assert correlation == pytest.approx(1 / 2)


@given(TIED)
def test_correlations_are_those_of_scipy(pairs) -> None:
    predicted, gold = np.array(pairs, dtype=float).T
    assume(np.ptp(predicted) > 0 and np.ptp(gold) > 0)

    ours = pearson(predicted, gold), spearman(predicted, gold)

    assert ours == pytest.approx(
        (stats.pearsonr(predicted, gold).statistic, stats.spearmanr(predicted, gold).statistic)
    )


@given(TIED, st.floats(0.1, 10), st.floats(-5, 5))
def test_spearman_knows_only_the_order(pairs, slope, shift) -> None:
    predicted, gold = np.array(pairs, dtype=float).T

    moved = spearman(np.exp(slope * predicted + shift), gold)

    assert moved == spearman(predicted, gold)


@given(TIED)
def test_reversing_one_side_reverses_the_sign(pairs) -> None:
    predicted, gold = np.array(pairs, dtype=float).T
    assume(np.ptp(predicted) > 0 and np.ptp(gold) > 0)

    reversed_ = spearman(-predicted, gold)

    assert reversed_ == pytest.approx(-spearman(predicted, gold), abs=1e-12)


@pytest.mark.parametrize("correlation", [pearson, spearman])
def test_a_constant_side_has_no_correlation(correlation) -> None:
    constant = [0.7, 0.7, 0.7]

    found = correlation(constant, [1, 2, 3]), correlation([1, 2, 3], constant)

    assert found == (None, None)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_very_small_and_very_large_values_correlate_too(size) -> None:
    values = size * np.array([1.0, 2.0, 3.0])

    correlation = pearson(values, [1, 2, 3])

    assert correlation == pytest.approx(1)


@pytest.mark.parametrize(
    ("predicted", "gold", "reason"),
    [
        ([1, 2], [1, 2, 3], "2 predicted and 3 human scores"),
        ([1], [1], "at least 2 pairs; there is 1"),
        ([1, np.nan, 3], [1, 2, 3], "predicted score of pair 2 is not a finite number"),
        ([1, 2, 3], [1, 2, np.inf], "human score of pair 3 is not a finite number"),
        ([[1, 2]], [[1, 2]], "they have 2 dimensions"),
    ],
)
def test_useless_vectors_are_refused_with_the_reason(predicted, gold, reason) -> None:
    with pytest.raises(ValueError, match=reason):
        spearman(predicted, gold)
