"""What training pairs count for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlworkers.science.encoders import weighting as weighting_module
from mlworkers.science.encoders.plan import Normalise, Signal, Weighting
from mlworkers.science.encoders.weighting import (
    RowWeights,
    WeightedRows,
    WeightingError,
    density_ratios,
    effective_size,
    precisions,
    ranks_within,
)

P_D = np.array([0.9, 0.2, 0.5, 0.2, 0.7])
PAIRS = np.array([11, 14, 12, 13, 15])


def weigh(
    weighting: Weighting,
    *,
    pairs,
    targets=None,
    realism=None,
    consistency=None,
    verdicts=None,
    errors=None,
    **settings,
):
    """The weights of pairs of which these signals are known."""
    given = zip(Signal, (realism, consistency, verdicts, errors), strict=True)
    signals = {signal: values for signal, values in given if values is not None}
    rows = WeightedRows(pairs, signals, np.zeros(len(pairs)) if targets is None else targets)
    return weighting_module.weigh(weighting, rows, **settings)


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
    scaled = RowWeights(found.places, found.weights * scale)

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


P_Y = np.array([0.1, 0.8, 0.5, 0.4, 1.0])


def test_consistency_is_p_y_and_the_product_both() -> None:
    found = weigh(Weighting.CONSISTENCY, pairs=PAIRS, consistency=P_Y).weights
    both = weigh(Weighting.PRODUCT, pairs=PAIRS, realism=P_D, consistency=P_Y).weights

    assert found.tolist() == P_Y.tolist()
    assert both == pytest.approx([0.09, 0.16, 0.25, 0.08, 0.7])


def test_the_filter_of_consistency_drops_the_lowest_p_y() -> None:
    found = weigh(Weighting.FILTER_CONSISTENCY, pairs=PAIRS, consistency=P_Y, share=0.4)

    assert PAIRS[found.places].tolist() == [14, 12, 15]
    assert found.weights.tolist() == [1, 1, 1]


def test_density_ratios_by_hand() -> None:
    found = density_ratios([0.5, 0.75, 0.0, 1.0])

    # 1, 3, and the bounds .05 and 20; their mean is 24.05 / 4 = 6.0125.
    assert found == pytest.approx(np.array([1, 3, 0.05, 20]) / 6.0125)
    assert found.mean() == pytest.approx(1)
    assert weigh(Weighting.RATIO, pairs=range(4), realism=[0.5, 0.75, 0.0, 1.0]).weights == pytest.approx(
        found
    )


def test_ranks_within_a_label_by_hand() -> None:
    values, labels = [0.1, 0.9, 0.5, 0.9, 0.3, 0.2], [0.1, 0.1, 0.1, 0.1, 0.9, 0.9]

    # Label .1: ranks 1, 3.5, 2, 3.5 of 4. Label .9: ranks 2 and 1 of 2.
    expected = [0.125, 0.75, 0.375, 0.75, 0.75, 0.25]
    assert ranks_within(values, labels) == pytest.approx(expected)
    found = weigh(Weighting.RANK, pairs=range(6), realism=values, targets=labels).weights
    assert found == pytest.approx(expected)


def test_ranks_within_labels_that_are_all_different_are_refused() -> None:
    with pytest.raises(WeightingError, match="5 pairs have 5 different scores"):
        weigh(Weighting.RANK, pairs=PAIRS, realism=P_D, targets=P_Y)


def test_verdicts_count_kept_pairs_whole_rejected_ones_not_and_unjudged_ones_as_stated() -> None:
    verdicts = [1.0, 0.0, np.nan, np.nan, 1.0]

    found = weigh(Weighting.VERDICTS, pairs=PAIRS, verdicts=verdicts, unjudged=0.3)

    assert found.weights.tolist() == [1, 0, 0.3, 0.3, 1]
    # (1 + .3 + .3 + 1)² / (1 + .09 + .09 + 1) = 6.76 / 2.18
    assert effective_size(found.weights) == pytest.approx(6.76 / 2.18)


def test_a_snapshot_without_verdicts_is_refused() -> None:
    with pytest.raises(WeightingError, match="does not say which pairs were kept"):
        weigh(Weighting.VERDICTS, pairs=PAIRS)


SHUFFLES = [each for each in Weighting if each.controlled]


@pytest.mark.parametrize("control", SHUFFLES)
def test_each_shuffle_gives_the_weights_under_test_to_other_pairs(control: Weighting) -> None:
    rng = np.random.default_rng(3)
    known = {
        "realism": rng.uniform(size=60),
        "consistency": rng.uniform(size=60),
        "verdicts": rng.choice([1.0, np.nan], 60),
        "targets": rng.choice([0.1, 0.9], 60),
        "errors": rng.uniform(high=0.3, size=60),
    }

    own = weigh(control.controlled, pairs=range(60), share=0.3, unjudged=0.4, **known)
    found = weigh(control, pairs=range(60), share=0.3, unjudged=0.4, seed=1, **known)

    assert np.sort(found.weights) == pytest.approx(np.sort(own.weights))
    assert found.places.size == own.places.size
    moved = (found.places != own.places) | (found.weights != own.weights)
    assert moved.any()


@pytest.mark.parametrize("weighting", [each for each in Weighting if each.signals and not each.controlled])
def test_each_weighting_that_depends_on_the_pair_has_a_control_of_its_own(weighting: Weighting) -> None:
    assert weighting.control is not None
    assert weighting.control.controlled is weighting
    assert weighting.control.signals == weighting.signals


@pytest.mark.parametrize("weighting", list(Weighting))
def test_with_mean1_the_weights_of_what_is_trained_on_have_the_mean_one(weighting: Weighting) -> None:
    known = {"realism": P_D, "consistency": P_Y, "verdicts": [1, 1, np.nan, 1, 1], "targets": [0, 0, 0, 1, 1]}
    known["errors"] = [0.1, 0.2, 0.3, 0.1, 0.2]

    found = weigh(weighting, pairs=PAIRS, share=0.2, normalise=Normalise.MEAN1, **known)

    assert found.weights.mean() == pytest.approx(1)


def test_precision_is_the_share_of_a_score_s_variance_that_is_not_error() -> None:
    scores = [0.0, 0.2, 0.4, 0.6, 0.8]  # variance .1 by n - 1
    errors = [0.0, 0.1, 0.2, 0.2, 0.1]  # mean square .02, so that σ² = .08

    found = weigh(Weighting.PRECISION, pairs=PAIRS, targets=scores, errors=errors)

    assert found.weights.tolist() == pytest.approx([1, 8 / 9, 8 / 12, 8 / 12, 8 / 9])
    assert found.places.tolist() == [0, 1, 2, 3, 4]


def test_precision_recovers_the_variance_between_pairs() -> None:
    rng = np.random.default_rng(5)
    errors = rng.choice([0.05, 0.3], size=20_000)
    scores = rng.normal(0.5, 0.2, size=errors.size) + rng.normal(size=errors.size) * errors

    found = precisions(errors, scores)

    expected = 0.04 / (0.04 + errors**2)
    assert np.abs(found - expected).max() < 0.02


def test_equal_standard_errors_weigh_all_alike() -> None:
    found = weigh(Weighting.PRECISION, pairs=PAIRS, targets=[0, 0.3, 0.5, 0.7, 1], errors=[0.1] * 5)

    assert np.ptp(found.weights) == 0


def test_the_control_of_precision_gives_its_weights_to_other_pairs() -> None:
    given = {"pairs": PAIRS, "targets": [0, 0.3, 0.5, 0.7, 1], "errors": [0.01, 0.1, 0.2, 0.3, 0.05]}
    own = weigh(Weighting.PRECISION, **given).weights
    shuffled = weigh(Weighting.SHUFFLE_PRECISION, seed=3, **given).weights

    assert sorted(shuffled) == sorted(own)
    assert shuffled.tolist() != own.tolist()


@pytest.mark.parametrize(
    ("errors", "sentence"),
    [
        (
            None,
            "The snapshot has no standard errors of these scores; choose scores from judgements or ratings",
        ),
        ([0.1, np.nan, 0.1, np.nan, 0.1], "2 of 5 scores have no standard error, first that of pair 14"),
        ([0.1, 0.1, -0.1, 0.1, 0.1], "1 of 5 scores have no standard error, first that of pair 12"),
        ([9.0] * 5, "The standard errors explain the whole spread of the scores"),
    ],
)
def test_precision_without_usable_standard_errors_is_refused(errors, sentence) -> None:
    with pytest.raises(WeightingError, match=sentence):
        weigh(Weighting.PRECISION, pairs=PAIRS, targets=[0, 0.3, 0.5, 0.7, 1], errors=errors)
