"""Agreement of raters, on published tables."""

import numpy as np
import pytest

from curation.pairs.raters import rater_agreement

NAN = np.nan
# Shrout and Fleiss 1979, table 2: six targets, four judges.
JUDGES = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)
# Krippendorff 2011 ("Computing Krippendorff's alpha-reliability"), part C: four observers, twelve units.
OBSERVERS = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]).T  # fmt: skip


def agreement_of(table: np.ndarray, **more):
    """table: (m, k) ratings of m pairs by k raters, NaN where somebody did not rate."""
    pairs, raters = np.nonzero(~np.isnan(table))
    return rater_agreement(pairs, more.get("raters", raters), table[pairs, raters])


def test_intraclass_correlations_are_those_of_shrout_and_fleiss() -> None:
    found = agreement_of(JUDGES)

    figures = [found.one, found.mean, found.two, found.two_mean]
    assert [round(each.value, 2) for each in figures] == [0.17, 0.44, 0.29, 0.62]  # their table 4


def test_alpha_is_that_of_krippendorff_with_ratings_missing() -> None:
    found = agreement_of(OBSERVERS)

    assert round(found.alpha.value, 3) == 0.849  # for intervals
    assert (found.pairs, found.ratings) == (11, 40)  # one unit has one value, which is compared with nothing


def test_alpha_is_one_less_the_ratio_of_mean_squared_differences() -> None:
    table = np.array([[1.0, 2, 4], [3, NAN, 3], [5, 7, NAN], [2, NAN, NAN]])

    found = agreement_of(table)

    # Within pairs, each rating's mean squared difference from the pair's others: (1+9)/2, (1+4)/2, (9+4)/2; 0, 0; 4, 4.
    within = np.mean([5, 2.5, 6.5, 0, 0, 4, 4])
    values = np.array([1.0, 2, 4, 3, 3, 5, 7])
    any_two = [(one - two) ** 2 for place, one in enumerate(values) for two in np.delete(values, place)]
    assert found.alpha.value == pytest.approx(1 - within / np.mean(any_two))


def test_absolute_agreement_needs_the_same_raters_for_all_pairs() -> None:
    missing = JUDGES.copy()
    missing[0, 0] = NAN
    unknown = np.full(JUDGES.size, -1)

    assert agreement_of(missing).two is None
    assert agreement_of(JUDGES, raters=unknown).two is None
    assert agreement_of(JUDGES, raters=unknown).one == agreement_of(JUDGES).one


def test_neither_the_origin_nor_the_unit_of_the_scale_changes_agreement() -> None:
    one, other = agreement_of(JUDGES), agreement_of(1e6 + 10 * JUDGES)

    for name in ("one", "mean", "two", "two_mean", "alpha"):
        first, second = getattr(one, name), getattr(other, name)
        assert (first.value, first.low, first.high) == pytest.approx((second.value, second.low, second.high))


@pytest.mark.parametrize("table", [[[1.0, NAN], [2, NAN], [3, 4]], [[2.0, 2], [2, 2]]])
def test_nothing_is_said_of_ratings_that_compare_nothing(table) -> None:
    assert agreement_of(np.array(table)) is None


def test_an_interval_that_is_not_defined_is_left_open() -> None:
    # Without either pair one is left, and one pair has no variance between pairs.
    found = agreement_of(np.array([[1.0, 2], [4, 5]]))

    assert found.alpha.value == pytest.approx(1 - 1 / (2 * 10 / 3))
    assert (found.one.low, found.one.high) == (None, None)
