"""What cosines are worth against human scores and labels."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from mlworkers.science.encoders.evaluation import measure_agreement, measure_classification


def test_agreement_says_how_many_pairs_it_is_from() -> None:
    agreement = measure_agreement([0.1, 0.5, 0.4, 0.9], [0, 2, 1, 3], resamples=0, seed=1)

    assert (agreement.pairs, agreement.spearman) == (4, pytest.approx(1))


def test_no_resamples_give_no_interval() -> None:
    agreement = measure_agreement([0.1, 0.5, 0.9], [0, 1, 2], resamples=0, seed=1)

    assert agreement.interval is None


def test_the_interval_holds_the_correlation() -> None:
    generator = np.random.default_rng(3)
    cosines = generator.uniform(-1, 1, size=80)

    agreement = measure_agreement(cosines, cosines + generator.normal(size=80), resamples=500, seed=1)

    assert agreement.interval.low < agreement.spearman < agreement.interval.high


def test_equal_cosines_have_no_correlation_and_a_warning() -> None:
    agreement = measure_agreement([0.5, 0.5, 0.5], [0, 1, 2], resamples=100, seed=1)

    assert (agreement.pearson, agreement.spearman, agreement.interval) == (None, None, None)
    assert agreement.warnings == (
        "The encoder gives every pair the same cosine, so there is no correlation.",
    )


def test_constant_resamples_are_warned_of() -> None:
    agreement = measure_agreement([0.1, 0.2, 0.3], [0, 1, 2], resamples=1_000, seed=1)

    assert agreement.warnings[0].startswith(
        f"The interval leaves out {agreement.interval.undefined} constant"
    )


@pytest.mark.parametrize(
    ("gold", "reason"),
    [
        ([1.0], "1 pairs with a score are too few"),
        ([1.0, 2.0], "2 pairs with a score are too few"),
        ([3.0, 3.0, 3.0], "All 3 scores are 3"),
        ([1.0, np.nan, 2.0], "human score of pair 2 is not a finite number"),
    ],
)
def test_scores_that_measure_nothing_are_refused(gold, reason) -> None:
    with pytest.raises(ValueError, match=reason):
        measure_agreement(np.linspace(0, 1, len(gold)), gold, resamples=0, seed=1)


def test_thresholds_come_from_the_tuning_pairs_alone() -> None:
    # By the tuning pairs a cosine above .5 is a paraphrase; the measured ones would want a threshold at .8.
    found = measure_classification(
        [0.9, 0.7, 0.6, 0.3], [1, 0, 0, 0], tuning_cosines=[0.6, 0.4, 0.3], tuning_labels=[1, 0, 0]
    )

    assert (found.accuracy_threshold, found.accuracy, found.f1) == (pytest.approx(0.5), 2 / 4, 2 / 4)
    assert (found.pairs, found.tuned_on) == (4, 3)


def test_a_threshold_that_takes_every_pair_takes_the_lowest_cosine_there_is() -> None:
    # F1 on the tuning pairs is best with all taken.
    found = measure_classification(
        [-1.0, 1.0, 0.0],
        [1, 1, 0],
        tuning_cosines=[0.9, 0.8, 0.7, 0.6, 0.5],
        tuning_labels=[1, 0, 1, 1, 1],
    )

    assert found.f1 == 2 * 2 / (3 + 2)


def test_a_threshold_that_takes_no_pair_takes_not_even_the_highest_cosine() -> None:
    found = measure_classification(
        [1.0, 0.5, 0.0],
        [0, 0, 1],
        tuning_cosines=[0.9, 0.8, 0.7, 0.6, 0.5],
        tuning_labels=[0, 0, 0, 0, 1],
    )

    assert found.accuracy == 2 / 3


def test_thresholds_can_stand_in_json() -> None:
    found = measure_classification(
        [1.0, 0.0], [0, 1], tuning_cosines=[0.9, 0.8, 0.5], tuning_labels=[0, 0, 1]
    )

    assert json.loads(json.dumps(asdict(found), allow_nan=False)) == asdict(found)


def test_measured_labels_of_one_kind_alone_are_refused() -> None:
    with pytest.raises(ValueError, match="All 2 labels are equal"):
        measure_classification([0.1, 0.2], [1, 1], tuning_cosines=[0.1, 0.2], tuning_labels=[0, 1])
