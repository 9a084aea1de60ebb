"""The effective size of weights."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlworkers.science.encoders.weighting import effective_size


def test_equal_weights_count_every_row() -> None:
    assert effective_size([0.3] * 7) == pytest.approx(7)


def test_weights_of_one_and_nothing_count_the_ones() -> None:
    assert effective_size([1, 0, 1, 0, 0]) == pytest.approx(2)


def test_a_hand_worked_table() -> None:
    assert effective_size([1, 2, 3]) == pytest.approx(36 / 14)


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=20), st.floats(1e-5, 1e5))
def test_the_unit_of_weights_does_not_matter_and_the_size_lies_within_one_and_n(weights, factor) -> None:
    found = effective_size(weights)

    assert 1 - 1e-9 <= found <= len(weights) + 1e-9
    assert effective_size([weight / max(weights) * factor for weight in weights]) == pytest.approx(found)


@pytest.mark.parametrize(
    ("weights", "message"), [([0, 0], "All weights are 0"), ([-1, 2], "negative"), ([float("nan")], "finite")]
)
def test_weights_that_weigh_nothing_are_refused(weights, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        effective_size(weights)
