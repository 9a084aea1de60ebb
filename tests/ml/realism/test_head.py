"""The head on frozen features: its optimum, what it recovers, and that nothing leaks."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from scipy.special import expit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.utils.class_weight import compute_sample_weight
from threadpoolctl import threadpool_info, threadpool_limits

from mlworkers.science.realism.calibration import class_weights
from mlworkers.science.realism.dataset import SdiData, sdi_data
from mlworkers.science.realism.discrimination import auc
from mlworkers.science.realism.head import cross_fit, fit_head, usual_penalty
from mlworkers.science.realism.scoring import in_sample_auc, pair_figures, score_sentences

PEOPLE, MACHINES = 300, 200


def problem(n: int = 200, d: int = 12, *, seed: int = 1):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d)) * rng.uniform(0.1, 3, d) + rng.normal(size=d)
    labels = rng.random(n) < expit(features @ rng.normal(size=d))
    return features, labels


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    yield
    torch.set_num_threads(before)


def data_of(people: int = PEOPLE, machines: int = MACHINES, *, seed: int = 1, groups: int = 0) -> SdiData:
    """Sentences that are all different; with groups, each of so many holds sentences of both classes."""
    texts = [f"sentence {number} says something" for number in range(people + machines)]
    human = np.arange(people + machines) < people
    links = [(place, people + place % machines) for place in range(min(groups, people))]
    return sdi_data(texts, human, np.ones(len(texts), dtype=bool), links, folds=5, seed=seed)


@pytest.mark.parametrize("penalty", [1e-3, 0.1, 10.0])
def test_a_head_is_the_minimum_of_its_loss(penalty: float) -> None:
    features, labels = problem()

    head = fit_head(features, labels, penalty=penalty)

    scaled = (features - head.mean) / head.scale
    share = expit(scaled @ head.coefficients + head.intercept)
    errors = np.where(labels, 0.5 / labels.sum(), 0.5 / (~labels).sum()) * (share - labels)
    assert scaled.T @ errors + penalty * head.coefficients == pytest.approx(np.zeros(12), abs=1e-8)
    assert errors.sum() == pytest.approx(0, abs=1e-8)


def test_classes_that_a_plane_separates_still_have_an_optimum() -> None:
    features = np.concatenate([np.full((30, 3), 50.0), np.full((30, 3), -50.0)])

    head = fit_head(features, np.arange(60) < 30, penalty=1e-4)

    assert np.isfinite(head.coefficients).all()
    assert (head.logits(features)[:, 1] > 0).tolist() == [True] * 30 + [False] * 30


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        ([[0.0], [np.nan]], [True, False], "vector of sentence 2 holds values that are not finite"),
        ([[0.0], [1.0]], [True, True], "All sentences are of one class"),
    ],
)
def test_what_cannot_be_fitted_is_one_sentence(features, labels, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_head(np.array(features), np.array(labels), penalty=1.0)


def test_a_head_weighs_classes_alike_as_balanced_scikit_learn_does() -> None:
    features, labels = problem()

    head = fit_head(features, labels, penalty=0.05)

    scaled = (features - features.mean(0)) / features.std(0)
    balanced = LogisticRegression(
        C=1 / (0.05 * len(labels)), class_weight="balanced", solver="newton-cholesky", tol=1e-12
    ).fit(scaled, labels)
    margins = np.diff(head.logits(features), axis=1)[:, 0]
    assert margins == pytest.approx(balanced.decision_function(scaled), rel=1e-4, abs=1e-5)


def test_a_feature_that_never_varies_changes_nothing() -> None:
    features, labels = problem()

    with_constant = fit_head(np.column_stack([features, np.full(len(labels), 0.1)]), labels, penalty=0.1)

    tested = np.column_stack([features, np.full(len(labels), 7.0)])
    assert with_constant.logits(tested) == pytest.approx(
        fit_head(features, labels, penalty=0.1).logits(features)
    )


def test_a_feature_that_varies_by_its_rounding_errors_alone_changes_nothing() -> None:
    features, labels = problem()
    rounded = 1e6 + 1e-9 * labels  # a billionth of a million is its last digits

    with_rounded = fit_head(np.column_stack([features, rounded]), labels, penalty=0.1)

    assert with_rounded.logits(np.column_stack([features, rounded])) == pytest.approx(
        fit_head(features, labels, penalty=0.1).logits(features)
    )


def planted(data: SdiData, *, distance: float, d: int = 20, seed: int = 3):
    """Features in which the classes lie `distance` standard deviations apart, in a drawn direction."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=d)
    direction /= np.linalg.norm(direction)
    return rng.normal(size=(len(data.texts), d)) + np.outer(data.human, direction) * distance


def test_a_planted_signal_is_found_again_up_to_the_best_that_can_be() -> None:
    data = data_of(1500, 1000)
    bayes = norm.cdf(1.5 / np.sqrt(2))

    crossed = cross_fit(planted(data, distance=1.5), data)

    figures = score_sentences(crossed.logits, data).figures
    assert figures["auc"] == pytest.approx(bayes, abs=0.025)
    assert figures["auc_low"] < bayes < figures["auc_high"] + 0.01
    assert figures["ece_after"] < 0.05
    assert figures["median_p_human"] > 0.6
    assert figures["median_p_machine"] < 0.4


def test_each_fold_takes_the_penalty_that_tells_its_inner_fold_best() -> None:
    data = data_of(60, 60)

    crossed = cross_fit(planted(data, distance=3), data, penalties=[1e4, 0.1])

    assert crossed.penalties == (0.1,) * 5


def test_the_inner_fold_is_told_by_the_balanced_log_loss_of_scikit_learn() -> None:
    data, penalties = data_of(60, 60), [1.0, 0.3, 0.1, 0.03]
    features = planted(data, distance=1)

    crossed = cross_fit(features, data, penalties=penalties)

    def loss(fold: int, penalty: float) -> float:
        inner = data.inner(fold)
        fitted = data.seen_by(fold) & ~inner
        head = fit_head(features[fitted], data.label[fitted], penalty=penalty)
        chances = expit(np.diff(head.logits(features[inner]), axis=1)[:, 0])
        balanced = compute_sample_weight("balanced", data.label[inner])
        return log_loss(data.label[inner], chances, sample_weight=balanced)

    best = tuple(min(penalties, key=lambda penalty: loss(fold, penalty)) for fold in range(5))
    assert crossed.penalties == best
    assert len(set(best)) > 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("groups", [0, 300])
def test_labels_that_mean_nothing_are_not_learned(groups: int) -> None:
    """The leak test: more features than sentences of a fold, so that what was seen would be known by heart."""
    found, seen = [], []
    for seed in range(6):
        data = data_of(seed=seed, groups=groups)
        features = np.random.default_rng(seed).normal(size=(len(data.texts), 120))
        # Doubles share their features, as near-doubles share their vectors.
        features = features[data.group]
        crossed = cross_fit(features, data)
        head = fit_head(features[data.learned], data.human[data.learned], penalty=0.01)
        found.append(score_sentences(crossed.logits, data).figures["auc"])
        seen.append(in_sample_auc(head.logits(features), data))

    assert np.mean(found) == pytest.approx(0.5, abs=0.05)
    assert groups or np.mean(seen) > 0.7


@pytest.mark.exhaustive
def test_scoring_is_the_same_whatever_the_number_of_threads() -> None:
    """As many vectors, as long as an encoder's: the cores share a smaller problem in a way that rounds alike."""
    data = data_of(750, 750)
    features = planted(data, distance=1.0, d=384)
    results, counts = [], []

    for threads in (1, 2):
        with threadpool_limits(threads), torch_threads(threads):
            counts.append({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
            head = fit_head(features, data.human, penalty=0.1)
            crossed = cross_fit(features, data, penalties=[0.1])
            results.append((crossed.logits, head.logits(features)))

    assert counts == [{1}, {2}]
    assert all(np.array_equal(one, other) for one, other in zip(*results, strict=True))


def test_the_penalty_of_all_is_the_one_in_the_middle() -> None:
    assert usual_penalty([0.1, 10.0, 1.0, 0.1, 1.0]) == 1.0


def test_progress_counts_folds_and_may_stop_the_work() -> None:
    data, said = data_of(60, 60), []

    cross_fit(planted(data, distance=1), data, report=lambda done, total, message: said.append((done, total)))

    assert said == [(fold, 5) for fold in range(1, 6)]


# Figures


def test_a_fixed_temperature_is_kept_and_a_fitted_one_is_better_calibrated() -> None:
    data = data_of(1500, 1000)
    logits = cross_fit(planted(data, distance=1.5), data).logits * 4

    fitted, fixed = (score_sentences(logits, data, temperature=tau) for tau in (0.0, 0.5))

    assert fixed.temperature == 0.5
    assert fitted.temperature == pytest.approx(4, rel=0.3)
    assert fitted.figures["ece_after"] < fitted.figures["ece_before"] < fixed.figures["ece_after"]
    assert fitted.figures["brier_after"] < fitted.figures["brier_before"]
    assert fitted.figures["auc"] == fixed.figures["auc"]


def test_a_logit_that_is_no_number_scores_nothing() -> None:
    data = data_of(60, 60)

    with pytest.raises(ValueError, match="logit of sentence 4 is not a finite number"):
        score_sentences(
            np.where(np.arange(120)[:, None] == 3, np.nan, np.zeros((120, 2))), data, temperature=1.0
        )


def test_a_temperature_below_zero_is_refused() -> None:
    data = data_of(60, 60)

    with pytest.raises(ValueError, match="temperature is -1; it must be above 0"):
        score_sentences(np.zeros((120, 2)), data, temperature=-1.0)


def test_the_accuracy_weighs_classes_alike() -> None:
    data = data_of(300, 60)
    logits = np.tile([0.0, 1.0], (360, 1))  # everything is called human

    assert score_sentences(logits, data, temperature=1.0).figures["accuracy"] == 0.5

    logits[225:] = [1.0, 0.0]  # a quarter of the human sentences and all machine sentences are called machine
    assert score_sentences(logits, data, temperature=1.0).figures["accuracy"] == 0.875


def test_p_d_that_goes_with_what_was_intended_is_said() -> None:
    figures = pair_figures([0.9, 0.5, 0.1, 0.2], [0.9, 0.5, 0.1, None])

    assert figures["spearman_p_target"] == pytest.approx(1)
    assert figures["effective_pairs"] == pytest.approx(1.7**2 / (0.81 + 0.25 + 0.01 + 0.04))


@pytest.mark.parametrize(
    ("p", "targets"),
    [([0.5, 0.5], [0, 1]), ([0.1, 0.2, 0.3], [1, 1, 1]), ([0.5], [None]), ([0.1, 0.2, 0.3], [0, 1, None])],
)
def test_a_relation_that_cannot_be_told_is_none(p, targets) -> None:
    assert pair_figures(p, targets)["spearman_p_target"] is None


def test_the_in_sample_auc_flatters() -> None:
    data = data_of(120, 120)
    features = np.random.default_rng(1).normal(size=(240, 60))
    head = fit_head(features[data.learned], data.human[data.learned], penalty=0.01)

    flattered = in_sample_auc(head.logits(features), data)

    margins = np.diff(cross_fit(features, data).logits, axis=1)[:, 0]
    assert flattered > 0.75
    assert auc(margins[data.learned], data.human[data.learned]) < 0.62


def test_a_sentence_s_own_verdict_never_scores_it() -> None:
    data = data_of(80, 80)
    features = np.random.default_rng(3).normal(size=(160, 6))
    machine = np.flatnonzero(~data.human)
    kept = np.isin(np.arange(160), machine[:20])
    rejected = np.isin(np.arange(160), machine[20:40])
    one = machine[0]
    flipped = np.arange(160) == one

    before = cross_fit(features, data.with_verdicts(kept, rejected, count=20.0)).logits
    after = cross_fit(features, data.with_verdicts(kept & ~flipped, rejected | flipped, count=20.0)).logits

    same_fold = data.fold == data.fold[one]
    assert np.array_equal(before[same_fold], after[same_fold])
    assert not np.array_equal(before[~same_fold], after[~same_fold])


def test_verdicts_change_no_label_of_people_and_weigh_within_their_class() -> None:
    data = data_of(3 * 20, 2 * 20)
    kept = np.arange(100) == 60
    rejected = np.arange(100) == 61

    learning = data.with_verdicts(kept | (np.arange(100) == 0), rejected, count=5.0)

    assert np.flatnonzero(learning.label != data.human).tolist() == [60]
    assert np.flatnonzero(learning.count == 5.0).tolist() == [60, 61]
    weights = class_weights(learning.label, learning.count)
    # 60 people's and a kept sentence that counts five times; 39 machine sentences, one of which counts five times.
    assert weights[[0, 60, 61, 62]] == pytest.approx([0.5 / 65, 2.5 / 65, 2.5 / 43, 0.5 / 43])
