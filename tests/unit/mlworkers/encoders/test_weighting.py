"""What training pairs count for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlworkers.encoders.plan import Normalise, Weighting
from mlworkers.encoders.weighting import WeightingError, effective_size, weigh

P_D = np.array([0.9, 0.2, 0.5, 0.2, 0.7])
PAIRS = np.array([11, 14, 12, 13, 15])


def weighed(weighting: Weighting, **settings):
    return weigh(weighting, pairs=PAIRS, realism=P_D, **settings)


def test_plain_counts_every_pair_alike_and_realism_by_its_p_d() -> None:
    assert weighed(Weighting.PLAIN).weights.tolist() == [1, 1, 1, 1, 1]
    assert weighed(Weighting.REALISM).weights.tolist() == P_D.tolist()
    assert weighed(Weighting.CONSTANT).weights.tolist() == [0.5] * 5


def test_of_equal_p_d_the_filter_drops_the_pair_of_the_lower_number() -> None:
    found = weighed(Weighting.FILTER, share=0.2)

    assert PAIRS[found.places].tolist() == [11, 14, 12, 15]
    assert found.weights.tolist() == [1, 1, 1, 1]


def test_what_is_filtered_does_not_depend_on_the_order_of_the_rows() -> None:
    order = np.array([3, 0, 4, 2, 1])

    found = weigh(Weighting.FILTER, pairs=PAIRS[order], realism=P_D[order], share=0.2)

    assert sorted(PAIRS[order][found.places]) == [11, 12, 14, 15]


@pytest.mark.parametrize(
    ("count", "share", "left"), [(9, 0.1, 9), (10, 0.1, 9), (19, 0.1, 18), (5, 0.0, 5), (4, 0.5, 2)]
)
def test_the_filter_drops_the_whole_part_of_its_share(count: int, share: float, left: int) -> None:
    found = weigh(Weighting.FILTER, pairs=range(count), realism=np.linspace(0, 1, count), share=share)

    assert found.places.tolist() == list(range(count - left, count))


def test_shuffling_keeps_every_value_of_p_d() -> None:
    values = np.random.default_rng(3).uniform(size=50)

    found = weigh(Weighting.SHUFFLE, pairs=range(50), realism=values, seed=1).weights

    assert np.array_equal(np.sort(found), np.sort(values))
    assert not np.array_equal(found, values)


def test_random_weights_are_uniform_and_other_for_each_seed() -> None:
    first, second = (
        weigh(Weighting.RANDOM, pairs=range(4000), realism=None, seed=seed).weights for seed in (1, 2)
    )

    assert abs(first.mean() - 0.5) < 0.02
    assert abs(first.var() - 1 / 12) < 0.01
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.06
    assert np.array_equal(first, weigh(Weighting.RANDOM, pairs=range(4000), realism=None, seed=1).weights)


def test_a_mean_of_one_leaves_proportions_as_they_are() -> None:
    found = weighed(Weighting.REALISM, normalise=Normalise.MEAN1).weights

    assert found.mean() == pytest.approx(1)
    assert found / found[0] == pytest.approx(P_D / P_D[0])


def test_the_effective_number_of_pairs_by_hand() -> None:
    assert effective_size(weighed(Weighting.PLAIN).weights) == 5
    squares = 0.81 + 0.04 + 0.25 + 0.04 + 0.49
    assert effective_size(weighed(Weighting.REALISM).weights) == pytest.approx(2.5**2 / squares)


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=30), st.floats(0.1, 7))
def test_the_effective_number_is_at_most_that_of_pairs_and_knows_no_scale(
    values: list[float], scale: float
) -> None:
    found = weigh(Weighting.REALISM, pairs=range(len(values)), realism=values)
    scaled = type(found)(found.places, found.weights * scale)

    assert 1 - 1e-9 <= effective_size(found.weights) <= len(values) + 1e-9
    assert effective_size(scaled.weights) == pytest.approx(effective_size(found.weights))


@pytest.mark.parametrize(
    ("realism", "sentence"),
    [
        ([0, 0, 0, 0, 0], "All 5 weights are 0, so nothing would be trained"),
        ([0.5, np.nan, 0.5, np.nan, 1], "p_D is missing for 2 of 5 pairs, first pair 14"),
        ([0.5, 1.2, 0.5, 0.1, 1], r"p_D of pair 14 is 1\.2; it must be within 0 and 1"),
        ([0.5, 0.5], "2 values of p_D, 5 pairs"),
        (None, "needs p_D; name a score set of realism"),
    ],
)
def test_p_d_that_weighs_nothing_is_refused(realism, sentence: str) -> None:
    with pytest.raises(WeightingError, match=sentence):
        weigh(Weighting.REALISM, pairs=PAIRS, realism=realism)


def test_controls_need_no_p_d() -> None:
    for weighting in (Weighting.PLAIN, Weighting.RANDOM, Weighting.CONSTANT):
        assert weigh(weighting, pairs=PAIRS, realism=[np.nan] * 5).places.size == 5


def test_no_pair_at_all_is_refused() -> None:
    with pytest.raises(WeightingError, match="There is no pair to weigh"):
        weigh(Weighting.PLAIN, pairs=[], realism=None)
