"""Accuracy and F1, against scikit-learn and tables worked by hand."""

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import assume, given
from hypothesis import strategies as st

from mlworkers.science.encoders.metrics import accuracy, f1


@given(st.lists(st.tuples(st.integers(-2, 2), st.booleans()), min_size=1, max_size=30), st.integers(-3, 3))
def test_accuracy_and_f1_are_those_of_scikit_learn(rows, threshold) -> None:
    scores, labels = np.array([score for score, _ in rows]), np.array([label for _, label in rows])
    assume(labels.any())

    ours = accuracy(scores, labels, threshold), f1(scores, labels, threshold)

    taken = scores > threshold
    assert ours == pytest.approx(
        (sklearn.metrics.accuracy_score(labels, taken), sklearn.metrics.f1_score(labels, taken))
    )


def test_a_score_equal_to_the_threshold_is_not_taken() -> None:
    scores, labels = [0.5, 0.6], [0, 1]

    share = accuracy(scores, labels, 0.5)

    assert share == 1


def test_f1_without_a_positive_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="No label is 1"):
        f1([0.1, 0.2], [0, 0], 0.5)


def test_a_label_other_than_0_and_1_is_refused() -> None:
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        accuracy([0.1, 0.2], [0, 2], 0.5)
