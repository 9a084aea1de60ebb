"""Figures of a cross-validation, against scipy fold by fold."""

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from scipy.stats import t as student

from curation.statistics.influence import spearman_by_pair
from docs.experiments.folds_coverage import covered
from mlworkers.science.encoders.cross_validation import method_figures, sources_described
from mlworkers.science.encoders.folds import Folds, Protocol, folds_drawn, part_to_cite

EVERY = np.ones(80, dtype=bool)


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

    found = method_figures(
        "dice", predicted[None], scores, folds, sources, unseen=EVERY, resamples=200, seed=1
    )

    by_hand = [spearmanr(predicted[folds.fold == k], scores[folds.fold == k]).statistic for k in range(4)]
    assert [one.value for one in found.by_fold.values()] == pytest.approx(by_hand)
    assert found.mean.value == pytest.approx(np.mean(by_hand))
    assert found.pooled.value == pytest.approx(spearmanr(predicted, scores).statistic)
    assert found.by_source["news"].value == pytest.approx(spearmanr(predicted[:30], scores[:30]).statistic)
    assert found.mean.low < found.mean.value < found.mean.high


def test_the_mean_of_four_equal_folds_is_known_twice_as_well_as_one() -> None:
    """Folds that drew the same resamples would count as one: the interval of their mean would be a fold's."""
    rng = np.random.default_rng(5)
    scores = np.sort(rng.uniform(size=60))
    predicted = scores + rng.normal(scale=0.3, size=60)

    def widths(count: int) -> list[float]:
        names, none = [str(number) for number in range(count)], np.zeros(60 * count, dtype=bool)
        folds = Folds(Protocol.RANDOM, np.repeat(np.arange(count), 60), names, none)
        found = method_figures(
            "dice", np.tile(predicted, count)[None], np.tile(scores, count), folds, [""] * 60 * count,
            unseen=~none, resamples=1000, seed=1,
        )  # fmt: skip
        return [figure.high - figure.low for figure in (found.mean, found.mean_pearson)]

    assert widths(4) == pytest.approx([width / 2 for width in widths(1)], rel=0.15)


def test_the_mean_of_pearsons_correlation_is_that_of_the_folds(scored) -> None:
    scores, predicted, folds, sources = scored
    unseen = np.arange(80) % 3 > 0
    of_seeds = np.stack([predicted, predicted**3])

    one = method_figures(
        "dice", predicted[None], scores, folds, sources, unseen=unseen, resamples=200, seed=1
    )
    two = method_figures("fine-tuned", of_seeds, scores, folds, sources, unseen=EVERY, resamples=0, seed=1)

    def by_hand(values: np.ndarray, among: np.ndarray) -> float:
        parts = [among & (folds.fold == k) for k in range(4)]
        return float(np.mean([pearsonr(values[part], scores[part]).statistic for part in parts]))

    assert one.mean_pearson.value == pytest.approx(by_hand(predicted, EVERY))
    assert one.mean_pearson.low < one.mean_pearson.value < one.mean_pearson.high
    assert one.unseen.mean_pearson.value == pytest.approx(by_hand(predicted, unseen))
    assert two.mean_pearson.value == pytest.approx(np.mean([by_hand(each, EVERY) for each in of_seeds]))


def test_too_few_pairs_have_no_figure(scored) -> None:
    scores, predicted, folds, _sources = scored

    sources = ["one"] * 2 + ["more"] * 78
    found = method_figures("dice", predicted[None], scores, folds, sources, unseen=EVERY, resamples=0, seed=1)

    assert found.by_source["one"].value is None
    assert found.pooled.low is None


def test_pairs_that_no_fold_tests_are_in_no_figure() -> None:
    rng = np.random.default_rng(4)
    scores, sources = rng.uniform(size=33), ["news"] * 15 + ["odd"] * 3 + ["captions"] * 15
    folds = folds_drawn(Protocol.SOURCES, np.arange(33), np.arange(33) + 99, sources, count=2, seed=1)
    predicted = np.where(folds.tested, scores + rng.normal(scale=0.3, size=33), np.nan)

    found = method_figures(
        "fine-tuned", predicted[None], scores, folds, sources, unseen=np.ones(33, bool), resamples=0, seed=1
    )

    tested = folds.tested
    assert found.pooled.value == pytest.approx(spearmanr(predicted[tested], scores[tested]).statistic)
    assert (found.pooled.n, found.mean.n, found.by_source["odd"].n) == (30, 30, 0)
    assert found.unseen is None


def test_the_unseen_pairs_have_figures_of_their_own(scored) -> None:
    scores, predicted, folds, sources = scored
    unseen = np.arange(80) % 3 > 0

    found = method_figures(
        "dice", predicted[None], scores, folds, sources, unseen=unseen, resamples=200, seed=1
    )

    by_hand = [
        spearmanr(predicted[unseen & (folds.fold == k)], scores[unseen & (folds.fold == k)]).statistic
        for k in range(4)
    ]
    of_news = spearmanr(predicted[:30][unseen[:30]], scores[:30][unseen[:30]]).statistic
    assert found.pooled.n == 80
    assert found.unseen.pooled.n == found.unseen.mean.n == 53
    assert [one.value for one in found.unseen.by_fold.values()] == pytest.approx(by_hand)
    assert found.unseen.mean.value == pytest.approx(np.mean(by_hand))
    assert found.unseen.pooled.value == pytest.approx(spearmanr(predicted[unseen], scores[unseen]).statistic)
    assert (found.unseen.by_source["news"].n, found.unseen.by_source["news"].value) == (
        20,
        pytest.approx(of_news),
    )
    assert found.unseen.mean.low < found.unseen.mean.value < found.unseen.mean.high


def test_where_every_pair_is_unseen_no_figure_is_given_twice(scored) -> None:
    scores, predicted, folds, sources = scored

    found = method_figures("dice", predicted[None], scores, folds, sources, unseen=EVERY, resamples=0, seed=1)

    assert found.unseen is None


def test_a_fold_with_too_few_unseen_pairs_leaves_no_mean_over_folds(scored) -> None:
    scores, predicted, folds, sources = scored
    unseen = folds.fold > 0
    unseen[np.flatnonzero(folds.fold == 0)[:2]] = True

    found = method_figures(
        "dice", predicted[None], scores, folds, sources, unseen=unseen, resamples=0, seed=1
    )

    assert (found.unseen.by_fold["1"].n, found.unseen.by_fold["1"].value) == (2, None)
    assert (found.unseen.mean.n, found.unseen.mean.value) == (62, None)
    assert found.unseen.pooled.value is not None


def trained(scored, noises: list[float]) -> tuple[np.ndarray, list[list[float]]]:
    """What trainings of so much noise give the pairs, and the correlation of each in each fold, by scipy."""
    scores, predicted, folds, _sources = scored
    noise = np.random.default_rng(8).normal(size=(len(noises), 80))
    of_seeds = predicted + np.array(noises)[:, None] * noise
    return of_seeds, [
        [spearmanr(one[folds.fold == k], scores[folds.fold == k]).statistic for k in range(4)]
        for one in of_seeds
    ]


def test_with_several_seeds_a_figure_is_the_mean_over_them(scored) -> None:
    scores, _predicted, folds, sources = scored
    of_seeds, by_hand = trained(scored, [0.1, 0.3, 0.6])

    found = method_figures("m", of_seeds, scores, folds, sources, unseen=EVERY, resamples=0, seed=1)

    means = np.mean(by_hand, axis=1)
    pooled = [spearmanr(one, scores).statistic for one in of_seeds]
    assert (found.mean.value, found.mean.sd) == pytest.approx((means.mean(), means.std(ddof=1)))
    assert (found.pooled.value, found.pooled.sd) == pytest.approx((np.mean(pooled), np.std(pooled, ddof=1)))
    assert found.by_fold["2"].value == pytest.approx(np.mean([one[1] for one in by_hand]))
    # The seeds alone already make the interval at least so wide.
    assert (found.mean.high - found.mean.low) / 2 > student.ppf(0.975, 78) * means.std(ddof=1) / np.sqrt(3)


def test_seeds_that_train_the_same_leave_the_interval_of_a_mean_over_folds(scored) -> None:
    scores, predicted, folds, sources = scored

    found = method_figures(
        "m", np.stack([predicted] * 3), scores, folds, sources, unseen=EVERY, resamples=0, seed=1
    )

    # The folds are samples of their own: the variance of a mean of four is the sum of theirs over 16.
    by_fold = [spearman_by_pair(predicted[folds.fold == k], scores[folds.fold == k]) for k in range(4)]
    error = np.sqrt(sum(one.var(ddof=1) / one.size for one in by_fold)) / 4
    reach = student.ppf(0.975, 79) * error
    assert found.mean.sd == pytest.approx(0, abs=1e-12)
    assert (found.mean.low, found.mean.high) == pytest.approx(
        (found.mean.value - reach, found.mean.value + reach)
    )


def test_a_seed_that_gives_every_pair_the_same_leaves_the_figure_undefined(scored) -> None:
    scores, predicted, folds, sources = scored

    found = method_figures(
        "m", np.stack([predicted, np.zeros(80)]), scores, folds, sources, unseen=EVERY, resamples=0, seed=1
    )

    assert (found.mean.value, found.pooled.value, found.pooled.low) == (None, None, None)


@pytest.mark.exhaustive
def test_the_interval_over_pairs_and_seeds_holds_the_true_mean() -> None:
    share, _width = covered(5, 120, 0.7966, np.random.default_rng(3))  # the truth: log of experiments, E-08

    assert 0.88 <= share <= 0.99


@pytest.mark.parametrize(
    ("seen", "cite"),
    [
        ({"random": True, "components": False, "sources": True}, ("components", "all pairs")),
        ({"random": True, "components": True}, ("components", "unseen pairs")),
        ({"random": True, "sources": True}, ("sources", "unseen pairs")),
        ({"random": False}, ("random", "all pairs")),
    ],
)
def test_the_figures_to_cite_are_those_of_pairs_that_nobody_has_seen(seen, cite) -> None:
    assert part_to_cite({Protocol(name): some for name, some in seen.items()}) == cite


def test_a_source_with_narrow_scores_shows_it() -> None:
    found = sources_described(["a", "", "a", ""], np.array([0.1, 0.5, 0.9, 0.5]))

    assert [(one.source, one.pairs) for one in found] == [("a", 2), ("no source", 2)]
    assert found[0].deviation == pytest.approx(np.std([0.1, 0.9], ddof=1))
    assert found[1].deviation == 0
