"""Tuning a threshold, against scikit-learn's curves and tables worked by hand."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_curve, roc_curve

from mlworkers.science.encoders.metrics import accuracy, f1, tune_accuracy, tune_f1


@st.composite
def labelled_scores(draw, scores) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and labels of which at least one is 0 and one is 1."""
    values = draw(st.lists(scores, min_size=2, max_size=30))
    labels = draw(st.lists(st.integers(0, 1), min_size=len(values), max_size=len(values)))
    return np.array(values, dtype=float), np.array([0, 1, *labels[2:]])


tied = labelled_scores(st.integers(0, 4))
# Neighbouring floats, between which no middle lies.
crowded = labelled_scores(st.integers(0, 3).map(lambda steps: 0.5 + steps * np.spacing(0.5)))


@given(tied)
def test_no_threshold_has_a_higher_accuracy(rows) -> None:
    scores, labels = rows

    best = tune_accuracy(scores, labels)

    false_rate, true_rate, _ = roc_curve(labels, scores, drop_intermediate=False)
    positives, negatives = labels.sum(), (1 - labels).sum()
    right = true_rate * positives + (1 - false_rate) * negatives
    assert best.figure == pytest.approx(max(right) / labels.size)


@given(tied)
def test_no_threshold_has_a_higher_f1(rows) -> None:
    scores, labels = rows

    best = tune_f1(scores, labels)

    precision, recall, _ = precision_recall_curve(labels, scores)
    assert best.figure == pytest.approx(max(2 * precision * recall / np.maximum(precision + recall, 1e-9)))


@given(tied | crowded)
@example((np.array([0.5, np.nextafter(0.5, 1)]), np.array([0, 1])))
def test_a_threshold_reaches_what_tuning_promised(rows) -> None:
    scores, labels = rows

    for_accuracy, for_f1 = tune_accuracy(scores, labels), tune_f1(scores, labels)

    reached = accuracy(scores, labels, for_accuracy.value), f1(scores, labels, for_f1.value)
    assert reached == pytest.approx((for_accuracy.figure, for_f1.figure))


@given(tied)
def test_a_threshold_never_equals_a_score(rows) -> None:
    scores, labels = rows

    thresholds = [tune_accuracy(scores, labels).value, tune_f1(scores, labels).value]

    assert not set(thresholds) & set(scores)


def test_the_threshold_lies_midway_between_the_pairs_it_parts() -> None:
    scores, labels = [0.9, 0.8, 0.4, 0.2], [1, 1, 0, 0]

    best = tune_accuracy(scores, labels)

    assert (best.value, best.figure) == (pytest.approx(0.6), 1)


def test_equal_scores_are_never_parted() -> None:
    # Parting the two at .5 would give an accuracy of 1; with them together the best is 3 of 4.
    scores, labels = [0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0]

    best = tune_accuracy(scores, labels)

    assert best.figure == 3 / 4


def test_taking_every_pair_is_a_cut() -> None:
    # Of 4 positives the lowest scores lowest: F1 is 8/9 with all 5 taken, and at most 6/8 otherwise.
    scores, labels = [0.9, 0.8, 0.7, 0.6, 0.5], [1, 0, 1, 1, 1]

    best = tune_f1(scores, labels)

    assert (best.value, best.figure) == (-np.inf, pytest.approx(8 / 9))


def test_taking_no_pair_is_a_cut() -> None:
    # The positive scores lowest: whoever takes it takes all four negatives with it.
    scores, labels = [0.9, 0.8, 0.7, 0.6, 0.5], [0, 0, 0, 0, 1]

    best = tune_accuracy(scores, labels)

    assert (best.value, best.figure) == (np.inf, 4 / 5)


def test_of_equally_good_thresholds_the_highest_is_taken() -> None:
    # Taking only the first and taking the first three are both right about 3 of 4.
    scores, labels = [0.8, 0.6, 0.4, 0.2], [1, 0, 1, 0]

    best = tune_accuracy(scores, labels)

    assert best.value == pytest.approx(0.7)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("tune", [tune_accuracy, tune_f1])
def test_labels_of_one_kind_alone_are_refused(tune, label) -> None:
    with pytest.raises(ValueError, match=f"All 3 labels are {label}"):
        tune([0.1, 0.2, 0.3], [label] * 3)
