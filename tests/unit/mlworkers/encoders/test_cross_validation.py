"""Figures of a cross-validation, against scipy fold by fold."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from mlworkers.encoders.cross_validation import method_figures, sources_described
from mlworkers.encoders.folds import Protocol, folds_drawn


@pytest.fixture
def scored():
    rng = np.random.default_rng(3)
    scores = rng.uniform(size=80)
    folds = folds_drawn(
        Protocol.RANDOM, np.repeat(np.arange(40), 2), np.arange(80) + 99, [""] * 80, count=4, seed=1
    )
    return scores, scores + rng.normal(scale=0.3, size=80), folds, ["news"] * 30 + ["captions"] * 50


def test_the_mean_of_folds_is_not_the_correlation_over_all_pairs(scored) -> None:
    scores, predicted, folds, sources = scored

    found = method_figures("dice", predicted, scores, folds, sources, resamples=200, seed=1)

    by_hand = [spearmanr(predicted[folds.fold == k], scores[folds.fold == k]).statistic for k in range(4)]
    assert [one.value for one in found.by_fold.values()] == pytest.approx(by_hand)
    assert found.mean.value == pytest.approx(np.mean(by_hand))
    assert found.pooled.value == pytest.approx(spearmanr(predicted, scores).statistic)
    unseen = ~folds.leaking
    assert found.unseen.value == pytest.approx(spearmanr(predicted[unseen], scores[unseen]).statistic)
    assert found.by_source["news"].value == pytest.approx(spearmanr(predicted[:30], scores[:30]).statistic)
    assert found.mean.low < found.mean.value < found.mean.high


def test_too_few_pairs_have_no_figure(scored) -> None:
    scores, predicted, folds, _sources = scored

    found = method_figures("dice", predicted, scores, folds, ["one"] * 2 + ["more"] * 78, resamples=0, seed=1)

    assert found.by_source["one"].value is None
    assert found.pooled.low is None


def test_a_source_with_narrow_scores_shows_it() -> None:
    found = sources_described(["a", "", "a", ""], np.array([0.1, 0.5, 0.9, 0.5]))

    assert [(one.source, one.pairs) for one in found] == [("a", 2), ("no source", 2)]
    assert found[0].deviation == pytest.approx(np.std([0.1, 0.9], ddof=1))
    assert found[1].deviation == 0
