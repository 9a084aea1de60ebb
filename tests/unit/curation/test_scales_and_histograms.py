"""Scales and the histograms drawn on them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.pairs.scales import COMMON_SCALES, scale_checked, smallest_common_scale
from curation.statistics.histograms import Histogram, bin_edges, histogram


@pytest.mark.parametrize(
    ("lowest", "highest", "scale"),
    [
        (0.0, 1.0, (0, 1)),
        (0.25, 0.75, (0, 1)),
        (-0.1, 1.0, (-1, 1)),
        (1.0, 5.0, (1, 5)),
        (0.0, 5.0, (0, 5)),
        (0.0, 1.0001, (0, 5)),
        (2.0, 5.5, (0, 10)),
        (0.0, 42.0, (0, 100)),
        (0.0, 100.5, None),
        (-2.0, 0.0, None),
    ],
)
def test_the_smallest_common_scale_holds_all_scores(lowest: float, highest: float, scale: object) -> None:
    assert smallest_common_scale(lowest, highest) == scale


@given(st.floats(-200, 200), st.floats(-200, 200))
def test_no_narrower_common_scale_would_do(one: float, other: float) -> None:
    lowest, highest = sorted((one, other))

    found = smallest_common_scale(lowest, highest)

    holding = [high - low for low, high in COMMON_SCALES if low <= lowest and highest <= high]
    assert (found[1] - found[0] if found else None) == min(holding, default=None)


@pytest.mark.parametrize(("low", "high"), [(5, 0), (1, 1), (float("nan"), 1), (0, float("inf"))])
def test_a_scale_has_to_rise(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="does not rise"):
        scale_checked(low, high)


@given(st.floats(-10, 10), st.floats(0.5, 20), st.integers(1, 40))
def test_bins_are_equally_wide_and_end_at_the_scale(low: float, width: float, bins: int) -> None:
    edges = bin_edges(low, low + width, bins)

    np.testing.assert_allclose(edges, np.linspace(low, low + width, bins + 1), atol=1e-12)
    assert edges[-1] == low + width


def test_counts_go_to_their_groups_and_the_highest_score_to_the_last_bin() -> None:
    drawn = histogram(0, 5, 5, [("news", 0, 2), ("forum", 4, 1), ("news", 5, 3)])

    assert drawn.counts == {"forum": (0, 0, 0, 0, 1), "news": (2, 0, 0, 0, 3)}
    assert drawn.n == 6


def test_beyond_the_largest_groups_all_are_one() -> None:
    drawn = Histogram((0.0, 0.5, 1.0), {"a": (1, 0), "b": (5, 5), "c": (0, 2), "d": (3, 1)})

    largest = drawn.with_largest(2, other="other")

    assert list(largest.counts.items()) == [("b", (5, 5)), ("d", (3, 1)), ("other", (1, 2))]
    assert largest.n == drawn.n


def test_a_group_that_is_named_as_the_rest_is_added_to_it() -> None:
    drawn = Histogram((0.0, 1.0), {"other": (9,), "b": (5,), "c": (2,)})

    assert drawn.with_largest(2, other="other").counts == {"b": (5,), "other": (11,)}
