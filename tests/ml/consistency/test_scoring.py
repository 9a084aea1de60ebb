"""p_y ranks planted wrong targets, and p_D does not."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from mlworkers.science.consistency.classifier import label_chances, score_features
from mlworkers.science.consistency.dataset import UNKNOWN, LabelledPairs, labelled_pairs
from mlworkers.science.consistency.scoring import consistency_scores
from mlworkers.science.realism.discrimination import auc_interval

PAIRS = 600
MEANS = np.array([0.1, 0.5, 0.9])


def simulated(*, wrong: float = 0.0, known: int = PAIRS, seed: int = 3):
    """Pairs whose score lies around the mean of their true label; a share of targets is wrong. Simulated."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 3, PAIRS)
    scores = MEANS[true] + rng.normal(0, 0.15, PAIRS)
    marks = rng.uniform(size=PAIRS) < wrong
    target = np.where(marks, (true + rng.integers(1, 3, PAIRS)) % 3, true)
    return true, scores, target, marks


def pairs_with(label) -> LabelledPairs:
    first, second = ([f"{side} {number}" for number in range(PAIRS)] for side in ("one", "two"))
    return labelled_pairs(first, second, label, labels=3, folds=5, seed=1)


def test_the_chances_are_those_of_a_weighted_multinomial_regression_of_the_other_folds() -> None:
    true, scores, _target, _marks = simulated()
    pairs = pairs_with(true)
    features = score_features(scores)

    chances = label_chances(features, pairs)

    own, seen = pairs.fold == 2, pairs.seen_by(2)
    # Another solver and the library's own class weights; the penalty hardly matters with 480 pairs.
    with threadpool_limits(1):
        other = LogisticRegression(
            C=1e4 / 480, solver="lbfgs", class_weight="balanced", tol=1e-10, max_iter=5000
        )
        mean, scale = features[seen].mean(axis=0), features[seen].std(axis=0)
        other.fit((features[seen] - mean) / scale, true[seen])
        expected = other.predict_proba((features[own] - mean) / scale)
    assert chances[own] == pytest.approx(expected, abs=1e-3)
    assert chances.sum(axis=1) == pytest.approx(np.ones(PAIRS))


@pytest.mark.parametrize("circular", [False, True])
def test_p_y_ranks_wrong_targets_and_p_d_does_not(circular: bool) -> None:
    true, scores, target, wrong = simulated(wrong=0.2)
    pairs = pairs_with(target if circular else true)

    found = consistency_scores(
        score_features(scores),
        pairs,
        target,
        np.ones(PAIRS, dtype=bool),
        circular=circular,
        planted=0.2,
        seed=1,
    )

    area = auc_interval(found.p_y, ~wrong)
    assert area.low > 0.9
    p_d = np.random.default_rng(8).uniform(size=PAIRS)  # realism of a sentence does not know its target
    blind = auc_interval(p_d, ~wrong)
    assert blind.low < 0.5 < blind.high


def test_the_planted_errors_of_a_run_say_how_well_p_y_finds_wrong_targets() -> None:
    true, scores, _target, _marks = simulated()

    found = consistency_scores(
        score_features(scores),
        pairs_with(true),
        true,
        np.ones(PAIRS, dtype=bool),
        circular=True,
        planted=0.2,
        seed=1,
    )

    figures = found.figures
    assert figures["planted_errors"] == PAIRS * 0.2
    assert figures["planted_auc_low"] > 0.9
    assert figures["accuracy"] > 0.85
    assert figures["suspected_errors"] < PAIRS * 0.1


def test_scores_that_say_nothing_give_p_y_that_finds_nothing() -> None:
    true, _scores, target, wrong = simulated(wrong=0.2)
    noise = np.random.default_rng(5).normal(size=PAIRS)

    found = consistency_scores(
        score_features(noise),
        pairs_with(true),
        target,
        np.ones(PAIRS, dtype=bool),
        circular=False,
        planted=0.2,
        seed=1,
    )

    assert found.figures["planted_auc_low"] < 0.5 < found.figures["planted_auc_high"]
    area = auc_interval(found.p_y, ~wrong)
    assert area.low < 0.55


def test_pairs_without_a_label_get_the_p_y_of_their_target() -> None:
    true, scores, _target, _marks = simulated()
    asked = np.arange(PAIRS) < 100
    label = np.where(asked, UNKNOWN, true)

    found = consistency_scores(
        score_features(scores),
        pairs_with(label),
        np.where(asked, true, UNKNOWN),
        asked,
        circular=False,
        planted=0.2,
        seed=1,
    )

    assert found.p_y.shape == (100,)
    assert found.p_y.mean() > 0.7
    assert found.figures["learned_pairs"] == PAIRS - 100


def test_a_score_that_is_no_number_is_refused() -> None:
    true, scores, _target, _marks = simulated()
    scores[4] = np.nan

    with pytest.raises(ValueError, match="pair 5"):
        label_chances(score_features(scores), pairs_with(true))
