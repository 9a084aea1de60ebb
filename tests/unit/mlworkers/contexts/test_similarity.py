"""Eq. 3 and Eq. 4 by hand, the squeezed cosine as the specification states it, and its repair."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from mlworkers.science.contexts.similarity import (
    ABLATIONS,
    Weights,
    centred_similarity,
    combined,
    pair_similarity,
    parts_of_contexts,
    raw_cosine,
)

WEIGHTS = Weights(0.1, 0.2, 0.3, 0.4)


@pytest.mark.parametrize(
    ("dropped", "score"),
    [("", -3.0), ("λ1", -2.9), ("λ3", -2.1), ("λ4", -1.4), ("λ3, λ4", -0.5)],
)
def test_a_score_is_the_weighted_sum_of_its_terms_and_an_ablation_drops_some(
    dropped: str, score: float
) -> None:
    terms = np.array([-1.0, -2.0, -3.0, -4.0])  # .1 · -1 + .2 · -2 + .3 · -3 + .4 · -4 = -3

    found = combined(terms, WEIGHTS.without(*ABLATIONS[dropped]))

    assert float(found) == pytest.approx(score)


def test_a_missing_term_counts_nothing_with_weight_0_and_is_refused_by_name_otherwise() -> None:
    terms = np.array([[-1.0, -2.0, np.nan, -4.0]])

    assert combined(terms, WEIGHTS.without("left")).tolist() == pytest.approx([-2.1])
    with pytest.raises(ValueError, match="“left” is missing"):
        combined(terms, WEIGHTS)
    with pytest.raises(ValueError, match="All weights"):
        combined(terms, Weights(0, 0, 0, 0))


def test_the_raw_cosine_of_a_worked_pair() -> None:
    assert raw_cosine([-1, -2], [-2, -1]) == pytest.approx(0.8)
    assert raw_cosine([0, 0], [1, 2]) is None


def test_the_centred_similarity_of_a_worked_pair_is_the_sum_of_what_its_contexts_add() -> None:
    background = [-5.0, -1.0, -9.0]
    first = [-4.0, 1.0, -6.0]  # 1, 2, 3 above the background
    second = [-4.0, 2.0, -7.0]  # 1, 3, 2 above it

    parts = parts_of_contexts(first, second, background)

    assert centred_similarity(first, second, background) == pytest.approx(0.5)
    assert parts is not None
    assert parts.tolist() == pytest.approx([0.5, 0, 0])  # z-scores: (-1, 0, 1) and (-1, 1, 0), times √1.5
    assert parts_of_contexts(background, second, background) is None


@pytest.mark.parametrize(("mean", "squeezed"), [(-2.0, 0.8), (-4.0, 0.941), (-8.0, 0.985)])
def test_raw_cosine_of_independent_rows_is_near_1_and_the_centred_one_near_0(
    mean: float, squeezed: float
) -> None:
    rng = np.random.default_rng(1)
    pairs = rng.normal(mean, 1, size=(200, 2, 1000))

    raw = [raw_cosine(*pair) for pair in pairs]
    centred = [centred_similarity(*pair, np.zeros(1000)) for pair in pairs]

    assert np.mean(raw) == pytest.approx(squeezed, abs=0.002)  # μ² / (μ² + σ²)
    assert np.mean(centred) == pytest.approx(0, abs=0.01)


def test_what_all_sentences_share_in_a_context_leaves_the_centred_similarity_alone() -> None:
    rng = np.random.default_rng(2)
    first, second, background, fluent = rng.normal(size=(4, 30))
    shared = 5 * fluent

    found = centred_similarity(2 * (first + shared), 2 * (second + shared), 2 * (background + shared))

    assert found == pytest.approx(centred_similarity(first, second, background))
    assert raw_cosine(first + shared, second + shared) != pytest.approx(raw_cosine(first, second), abs=0.1)


def test_intervals_over_contexts_agree_with_scipys() -> None:
    rng = np.random.default_rng(3)
    terms = rng.normal(-3, 1, size=(3, 40, 4))
    terms[1] = (terms[0] + terms[1]) / 2
    left, right, mean = (combined(part, WEIGHTS) for part in terms)

    found = pair_similarity(*terms, WEIGHTS, seed=4, resamples=20_000)

    for interval, rows, figure in (
        (found.raw_interval, (left, right), raw_cosine),
        (found.centred_interval, (left - mean, right - mean), lambda a, b: np.corrcoef(a, b)[0, 1]),
    ):
        expected = bootstrap(
            rows, figure, paired=True, vectorized=False, method="percentile", n_resamples=5000, rng=5
        ).confidence_interval
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=0.02)
    assert found.contexts == 40


def test_too_few_contexts_give_no_similarity_and_equal_sentences_are_1_by_definition() -> None:
    terms = np.random.default_rng(6).normal(size=(3, 2, 4))

    few = pair_similarity(*terms, WEIGHTS)
    same = pair_similarity(*terms, WEIGHTS, same=True)

    assert (few.contexts, few.raw, few.centred) == (2, None, None)
    assert (same.raw, same.centred, same.raw_interval) == (1.0, 1.0, None)
