"""Temperature, calibration error and Brier score, against a grid, independent code and hand-worked tables."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.metrics import brier_score_loss

from mlworkers.science.realism.calibration import (
    at_temperature,
    brier_score,
    calibration_error,
    class_weights,
    fit_temperature,
    negative_log_likelihood,
    probabilities,
)

HUMAN = np.array([True, True, False, False])


def drawn(n: int, *, temperature: float, seed: int = 1):
    """Logits whose sentences are human as often as softmax(logits / temperature) says."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=3.0, size=(n, 2))
    return logits, rng.random(n) < softmax(logits / temperature, axis=1)[:, 1]


@pytest.mark.parametrize("temperature", [0.3, 0.9, 2.5])
def test_the_temperature_is_the_best_of_a_fine_grid(temperature: float) -> None:
    logits, human = drawn(400, temperature=temperature)

    found = fit_temperature(logits, human)

    grid = np.exp(np.linspace(math.log(0.05), math.log(20), 3_001))
    best = min(grid, key=lambda tried: negative_log_likelihood(logits, human, tried))
    assert found == pytest.approx(best, rel=2e-3)


@pytest.mark.parametrize("temperature", [0.4, 1.0, 3.0])
def test_the_temperature_that_sentences_were_drawn_with_is_found_again(temperature: float) -> None:
    logits, human = drawn(20_000, temperature=temperature)

    assert fit_temperature(logits, human) == pytest.approx(temperature, rel=0.05)


def test_probabilities_are_the_softmax_of_the_divided_logits() -> None:
    logits, _ = drawn(50, temperature=1.0)

    assert probabilities(logits, 0.7) == pytest.approx(softmax(logits / 0.7, axis=1)[:, 1])


def test_a_temperature_below_one_sharpens_and_keeps_the_order() -> None:
    logits, _ = drawn(50, temperature=1.0)

    plain, sharp = probabilities(logits, 1.0), probabilities(logits, 0.5)

    assert (np.abs(sharp - 0.5) >= np.abs(plain - 0.5)).all()
    assert (np.argsort(plain) == np.argsort(sharp)).all()


def test_logits_far_apart_overflow_nothing() -> None:
    found = probabilities([[-1e4, 1e4], [1e4, -1e4]], 0.02)

    assert found.tolist() == [1.0, 0.0]
    assert math.isfinite(negative_log_likelihood([[-1e4, 1e4], [-1e4, 1e4]], np.array([True, False]), 0.02))


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan, math.inf])
def test_a_temperature_that_is_not_above_zero_is_refused(temperature: float) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        probabilities([[0.0, 1.0]], temperature)


@pytest.mark.parametrize("logits", [[0.0, 1.0], [[0.0, 1.0, 2.0]]])
def test_logits_that_are_not_two_of_each_sentence_are_refused(logits) -> None:
    with pytest.raises(ValueError, match="give two a sentence, machine and human"):
        probabilities(logits, 1.0)


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_a_logit_that_is_no_number_is_refused_by_its_place(wrong: float) -> None:
    with pytest.raises(ValueError, match="A logit of sentence 2 is not a finite number"):
        probabilities([[0.0, 1.0], [wrong, 1.0]], 1.0)


def test_calibration_error_of_a_hand_worked_table() -> None:
    # Two bins of 0..1/2 and 1/2..1; every sentence weighs a quarter. Below: p_D 0.1 and 0.3, one of two human:
    # |0.2 - 0.5|. Above: 0.6 and 0.9, one of two human: |0.75 - 0.5|. Each bin weighs one half.
    share, human = np.array([0.1, 0.3, 0.6, 0.9]), np.array([False, True, False, True])

    assert calibration_error(share, human, bins=2) == pytest.approx(0.5 * 0.3 + 0.5 * 0.25)


def test_calibration_error_counts_the_class_that_has_fewer_sentences_as_much() -> None:
    # One human sentence at 0.8, three machine ones at 0.2, two bins: |0.8 - 1| * 1/2 + |0.2 - 0| * 1/2.
    share, human = np.array([0.8, 0.2, 0.2, 0.2]), np.array([True, False, False, False])

    assert calibration_error(share, human, bins=2) == pytest.approx(0.2)


def test_a_certainty_of_one_lies_in_the_last_bin() -> None:
    assert calibration_error([1.0, 0.0], np.array([True, False])) == 0.0
    # One bin with both sentences, 0.95 human and 1.0 machine, each weighing one half: |0.975 - 0.5|.
    assert calibration_error([0.95, 1.0], np.array([True, False]), bins=10) == pytest.approx(0.475)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=4, max_size=30))
def test_the_brier_score_is_that_of_scikit_learn_with_classes_of_equal_weight(rows) -> None:
    share, human = np.array([p for p, _ in rows]), np.array([mark for _, mark in rows])
    if human.all() or not human.any():
        return

    expected = brier_score_loss(human, share, sample_weight=class_weights(human))

    assert brier_score(share, human) == pytest.approx(expected)


def test_fitting_brings_the_calibration_error_of_what_was_drawn_near_zero() -> None:
    logits, human = drawn(20_000, temperature=3.0)

    before = calibration_error(probabilities(logits, 1.0), human)
    after = calibration_error(probabilities(logits, fit_temperature(logits, human)), human)

    assert before > 0.1
    assert after < 0.02


def test_one_class_alone_cannot_be_calibrated() -> None:
    with pytest.raises(ValueError, match="of one class"):
        fit_temperature([[0.0, 1.0]], np.array([True]))


@pytest.mark.parametrize(
    ("p", "published", "temperature", "expected"),
    [
        # odds^(T/τ): odds 3 with T/τ = 2 become 9, odds 1/4 become 1/16, and odds 9 with T/τ = 1/2 become 3.
        (0.75, 1.0, 0.5, 0.9),
        (0.2, 0.5, 0.25, 1 / 17),
        (0.9, 0.5, 1.0, 0.75),
        (0.5, 2.0, 0.1, 0.5),
        (0.3, 0.7, 0.7, 0.3),
        (0.0, 1.0, 0.5, 0.0),
        (1.0, 1.0, 0.5, 1.0),
    ],
)
def test_p_d_is_brought_to_another_temperature(p, published, temperature, expected: float) -> None:
    found = at_temperature([p], published=published, temperature=temperature)

    assert found == pytest.approx([expected], abs=1e-12)
    assert (found[0] in (0.0, 1.0)) == (p in (0.0, 1.0))


def test_p_d_at_another_temperature_is_that_of_the_logits_at_it() -> None:
    logits = np.random.default_rng(3).normal(size=(50, 2)) * 4

    found = at_temperature(probabilities(logits, 1.7), published=1.7, temperature=0.5)

    assert found == pytest.approx(probabilities(logits, 0.5), abs=1e-9)


def test_what_has_no_p_d_gets_none_by_another_temperature() -> None:
    assert np.isnan(at_temperature([np.nan], published=1.0, temperature=0.5)).all()


@pytest.mark.parametrize(("published", "temperature"), [(0.0, 1.0), (1.0, 0.0), (1.0, -1.0), (np.inf, 1.0)])
def test_p_d_cannot_be_brought_to_a_temperature_that_is_not_above_zero(
    published: float, temperature: float
) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        at_temperature([0.5], published=published, temperature=temperature)
