"""Weights of Eq. 3 chosen by dev pairs."""

import numpy as np
import pytest

from mlworkers.science.contexts.pair_terms import PairContexts
from mlworkers.science.contexts.similarity import Weights, centred_similarity, combined
from mlworkers.science.contexts.tuning import equal_weights, grid, weights_tuned

GIVEN = ("sentence", "left", "right")


def planted(pairs: int, *, term: int) -> tuple[list[PairContexts], np.ndarray]:
    """Pairs whose similarity by one term follows the scores, and whose other terms are louder noise."""
    rng = np.random.default_rng(7)
    scores = rng.uniform(size=pairs)
    found = []
    for score in scores:
        terms = rng.normal(-3, 2, size=(3, 30, 4))
        common = rng.normal(size=30)
        for side in (0, 1):
            noise = rng.normal(size=30)
            terms[side, :, term] = np.sqrt(score) * common + np.sqrt(1 - score) * noise
        terms[2] = 0.0
        terms[..., 0] = np.nan
        found.append(PairContexts(list(range(30)), [False] * 30, *terms))
    return found, scores


@pytest.mark.parametrize("term", [1, 2, 3])
def test_the_term_that_follows_the_scores_gets_the_weight(term: int) -> None:
    found, scores = planted(40, term=term)

    tuned = weights_tuned(found, scores, GIVEN, same=[False] * 40)

    assert tuned.weights.vector.argmax() == term
    assert tuned.weights.vector[term] >= 0.8
    assert tuned.equal is not None
    assert tuned.spearman > tuned.equal
    similar = [
        centred_similarity(
            *(combined(side, tuned.weights) for side in (each.first, each.second, each.background))
        )
        for each in found
    ]
    ranks = [np.argsort(np.argsort(values)) for values in (similar, scores)]
    assert tuned.spearman == pytest.approx(np.corrcoef(*ranks)[0, 1])


def test_equal_weights_stay_where_nothing_is_better() -> None:
    found, scores = planted(12, term=1)

    tuned = weights_tuned(found, scores, ("left",), same=[False] * 12)

    assert tuned.weights == Weights(0.0, 0.0, 1.0, 0.0) == equal_weights(("left",))
    assert tuned.spearman == tuned.equal


def test_the_grid_has_every_weight_in_steps_of_a_tenth() -> None:
    weights = [each.vector for each in grid(GIVEN)]

    assert len(weights) == 66  # 12 over 2: ten steps over three terms
    assert np.unique(weights, axis=0).shape == (66, 4)
    assert np.sum(weights, axis=1) == pytest.approx(1.0)
    assert not np.any(np.array(weights)[:, 0])


@pytest.mark.parametrize("scores", [np.arange(9), np.ones(12)])
def test_too_few_dev_pairs_and_scores_that_are_all_the_same_are_refused(scores: np.ndarray) -> None:
    found, _scores = planted(len(scores), term=1)

    with pytest.raises(ValueError, match="10 with different scores are needed"):
        weights_tuned(found, scores, GIVEN, same=[False] * len(scores))


def test_similarities_that_are_all_the_same_choose_no_weights() -> None:
    found, scores = planted(12, term=1)

    with pytest.raises(ValueError, match="With no weights do the similarities of the dev pairs differ"):
        weights_tuned(found, scores, GIVEN, same=[True] * 12)
