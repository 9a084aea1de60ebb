"""Variance components, marginal reliability and fewer judgements: against loops, tables and simulated truths."""

from collections import defaultdict
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import chi2, spearmanr

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.reliability.components import variance_components
from annotation.bws.reliability.marginal import marginal_interval, marginal_reliability
from annotation.bws.reliability.per_tuple import fewer_judgements
from annotation.bws.reliability.split_half import Split, split_half_reliability
from annotation.bws.scores.empirical_bayes import log_evidence
from annotation.bws.scores.posterior import fit_utilities
from annotation.bws.scores.refitting import maxdiff_fit
from annotation.bws.scores.scoring import maxdiff_scores
from tests.unit.annotation.bws.test_prior_and_contrasts import drawn

ITEMS = 150


def judged_by(people: int, each: int, *, own: float = 0.0, seed: int = 3, items: int = ITEMS) -> Judgements:
    """Every tuple is judged by `each` people, who see items with noise .7 and with values of their own beside."""
    rng = np.random.default_rng(seed)
    shown = np.repeat(rng.random((2 * items, items)).argsort(axis=1)[:, :4], each, axis=0)
    person = rng.random((2 * items, people)).argsort(axis=1)[:, :each].ravel()
    values = np.linspace(-1.7, 1.7, items) + own * rng.standard_normal((people, items))
    seen = values[person[:, None], shown] + 0.7 * rng.standard_normal(shown.shape)
    return Judgements.from_slots(
        shown, seen.argmax(axis=1), seen.argmin(axis=1), item_count=items, annotators=person
    )


def test_components_are_those_of_all_pairs_of_outcomes() -> None:
    judged = judged_by(4, 3, own=0.6, items=12)
    outcomes = [
        (item, frozenset(row.tolist()), person, number, int(item == best) - int(item == worst))
        for number, (row, best, worst, person) in enumerate(
            zip(judged.items, judged.best, judged.worst, judged.people, strict=True)
        )
        for item in row
    ]
    products = defaultdict(list)
    for one, two in combinations(outcomes, 2):
        if one[3] != two[3]:
            shared = one[0] == two[0] and (one[1] == two[1], one[2] == two[2])
            products[shared].append(one[4] * two[4])
    mean = {shared: np.mean(found) for shared, found in products.items()}
    item = mean[False, False] - mean[False]

    found = variance_components(judged)

    assert found.item == pytest.approx(item)
    assert found.tuple == pytest.approx(max(0, mean[True, False] - mean[False, False]))
    assert found.annotator == pytest.approx(max(0, mean[False, True] - mean[False, False]))
    total = np.mean([outcome[4] ** 2 for outcome in outcomes]) - mean[False]
    assert found.item + found.tuple + found.annotator + found.residual == pytest.approx(total)


def test_components_of_a_table_by_hand() -> None:
    # Item 0 beats 1 twice in one tuple and 2 twice in another, so its outcomes are 1 and those of 1 and 2 are -1.
    items = np.array([[0, 1], [0, 1], [0, 2], [0, 2]])
    judged = Judgements(items, items[:, 0], items[:, 1], 3)

    found = variance_components(judged)

    # One item, with another tuple or with the same: every product is 1. Two items, two judgements: 0 with 1 or 2 is -1,
    # twice within each tuple and eight times across; 1 with 2 is 1, four times across. (4 - 12) / 16 = -1/2.
    assert (found.item, found.tuple, found.annotator, found.residual) == (1.5, 0.0, None, 0.0)
    assert (found.icc, found.score_icc, found.sem) == (1.0, 1.0, 0.0)
    assert found.effective_judgements == pytest.approx((4 + 2 + 2) / 3)


def test_components_with_an_item_that_stands_twice_in_a_tuple_by_hand() -> None:
    # 0 is best and 1 worst in the first tuple, in which 0 stands twice: its outcomes are 1/2 and 1/2, that of 1 is -1.
    # In the second, 0, 1 and 2 have the outcomes 1, 0 and -1.
    judged = Judgements(np.array([[0, 0, 1], [0, 1, 2]]), np.array([0, 0]), np.array([1, 2]), 3)

    found = variance_components(judged)

    # One item in both: 1/2, 1/2 and 0, mean 1/3. Two items, two judgements: all nine products sum to 0, so the six
    # others to -1, mean -1/6. The mean square is (1/4 + 1/4 + 1 + 1 + 0 + 1) / 6 = 7/12.
    assert (found.item, found.tuple, found.annotator) == (pytest.approx(1 / 2), None, None)
    assert found.residual == pytest.approx(7 / 12 + 1 / 6 - 1 / 2)
    assert found.icc == pytest.approx((1 / 2) / (3 / 4))


def test_a_variance_that_is_estimated_below_zero_is_zero() -> None:
    # 0 beats 1, 1 beats 2 and 2 beats 0: each item wins in one tuple and loses in another.
    items = np.array([[0, 1], [1, 2], [2, 0]])

    found = variance_components(Judgements(items, items[:, 0], items[:, 1], 3))

    # One item, two tuples: -1. Two items, two judgements: the square of the sum 0, less 0 of rows and of items, and
    # with the 6 that is in both, in 36 - 12 - 12 + 6 = 18 ordered pairs.
    assert (found.item, found.icc, found.score_icc) == (0.0, 0.0, 0.0)
    assert found.residual == pytest.approx(1 - 6 / 18)


def test_scores_of_other_people_and_other_tuples_correlate_as_the_components_say() -> None:
    one, two = (judged_by(6, 3, own=0.5, seed=seed) for seed in (1, 2))
    net = [
        (np.bincount(judged.best, minlength=ITEMS) - np.bincount(judged.worst, minlength=ITEMS))
        / np.bincount(judged.items.ravel(), minlength=ITEMS)
        for judged in (one, two)
    ]
    found = [variance_components(judged) for judged in (one, two)]

    correlation = np.corrcoef(*net)[0, 1]

    assert np.mean([each.score_icc for each in found]) == pytest.approx(correlation, abs=0.04)
    error = np.std(net[0] - net[1]) / 2**0.5
    assert np.mean([each.sem for each in found]) == pytest.approx(error, rel=0.1)
    # Half the tuples of each campaign say less of the scores than half the judgements of each tuple.
    assert correlation < split_half_reliability(one, trials=50).spearman_brown


def test_without_names_or_second_judgements_a_component_is_in_the_residual() -> None:
    judged = judged_by(5, 2, own=0.5)
    unnamed = Judgements(judged.items, judged.best, judged.worst, ITEMS)
    once = judged.only(np.arange(0, len(judged), 2))

    assert variance_components(unnamed).annotator is None
    assert variance_components(unnamed).residual > variance_components(judged).residual
    assert variance_components(once).tuple is None


def test_judgements_of_different_people_on_different_tuples_all_count_in_full() -> None:
    items = np.array([[0, 1], [0, 2], [1, 2]])

    found = variance_components(Judgements(items, items[:, 0], items[:, 1], 3, np.arange(3)))

    assert found.effective_judgements == pytest.approx(2.0)


def test_items_that_never_met_twice_have_no_components() -> None:
    with pytest.raises(ValueError, match="several tuples"):
        variance_components(Judgements(np.array([[0, 1]]), np.array([0]), np.array([1]), 2))


def test_marginal_reliability_is_the_share_of_the_variance_of_draws_from_the_posterior_that_its_means_have() -> (
    None
):
    judged = Judgements(np.tile([0, 1, 2], (6, 1)), np.repeat(0, 6), np.repeat(2, 6), 3)
    posterior = maxdiff_fit(judged).posterior
    rng = np.random.default_rng(7)
    draws = rng.multivariate_normal(
        posterior.utilities, np.linalg.inv(posterior.precision.toarray()), 200_000
    )

    share = posterior.utilities.var() / draws.var(axis=1).mean()

    assert marginal_reliability(judged, posterior) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("each", [1, 3])
def test_marginal_reliability_is_the_squared_correlation_with_the_truth(each) -> None:
    correlations, reliabilities = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        utilities = rng.standard_normal(ITEMS)
        shown = np.repeat(rng.random((2 * ITEMS, ITEMS)).argsort(axis=1)[:, :4], each, axis=0)
        differences = utilities[shown][:, :, None] - utilities[shown][:, None, :]
        differences[:, range(4), range(4)] = -np.inf  # the best is not the worst
        chosen = (differences + rng.gumbel(size=differences.shape)).reshape(-1, 16).argmax(axis=1)
        judged = Judgements.from_slots(shown, chosen // 4, chosen % 4, item_count=ITEMS)
        posterior = maxdiff_fit(judged).posterior
        reliabilities.append(marginal_reliability(judged, posterior))
        correlations.append(np.corrcoef(posterior.utilities, utilities)[0, 1] ** 2)

    assert np.mean(reliabilities) == pytest.approx(np.mean(correlations), abs=0.03)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("spread", "each"), [(1.0, 1), (0.4, 1), (0.0, 3)])
def test_the_interval_of_the_marginal_reliability_holds_the_squared_correlation(spread, each) -> None:
    held, lows, values = [], [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        utilities = spread * rng.standard_normal(ITEMS)
        judged = drawn(np.repeat(design_tuples(ITEMS, seed=seed).tuples, each, axis=0), utilities, seed)
        fit = maxdiff_fit(judged)
        value = marginal_reliability(judged, fit.posterior)
        low, high = marginal_interval(fit, value)
        correlation = np.corrcoef(fit.posterior.utilities, utilities)[0, 1] if spread else 0.0
        held.append(low <= correlation**2 <= high)
        lows.append(low)
        values.append(value)
        assert 0 <= low <= value <= high < 1

    assert np.mean(held) >= 10 / 12
    if spread == 1:
        assert min(lows) > 0.3
    if spread == 0:  # of answers drawn at random: the estimate is low, and the interval begins at 0
        assert np.mean(values) < 0.2
        assert np.mean(np.array(lows) == 0) >= 11 / 12


def test_the_quick_interval_of_the_marginal_reliability_is_that_of_the_likelihood(monkeypatch) -> None:
    utilities = 1.5 * np.random.default_rng(3).standard_normal(300)
    fit = maxdiff_fit(drawn(design_tuples(300).tuples, utilities, 3))

    quick = marginal_interval(fit, 0.8)
    monkeypatch.setattr("annotation.bws.reliability.marginal.ENOUGH_KNOWN", np.inf)

    assert quick == pytest.approx(marginal_interval(fit, 0.8), abs=0.015)


def test_the_interval_of_a_small_campaign_ends_where_the_evidence_is_1_92_lower() -> None:
    rng = np.random.default_rng(3)
    tuples = rng.random((60, 30)).argsort(axis=1)[:, :4]
    fit, reliability = maxdiff_fit(drawn(tuples, 1.5 * rng.standard_normal(30), 3)), 0.7

    low, high = marginal_interval(fit, reliability)

    # The logit of the reliability falls as the log of the precision rises.
    best = fit.posterior.prior_precision
    ends = [best * np.exp(logit(reliability) - logit(end)) for end in (low, high)]
    highest, *lower = (
        log_evidence(fit.likelihood, fit_utilities(fit.likelihood, prior_precision=float(precision)))
        for precision in (best, *ends)
    )
    assert 0 < low < reliability < high < 1
    assert [highest - each for each in lower] == pytest.approx([chi2.ppf(0.95, 1) / 2] * 2, abs=0.02)


def test_items_that_nobody_judged_do_not_narrow_the_interval() -> None:
    utilities = 1.5 * np.random.default_rng(3).standard_normal(300)
    judged = drawn(design_tuples(300).tuples, utilities, 3)

    alone = maxdiff_fit(judged)
    with_others = maxdiff_fit(replace(judged, item_count=3_000))

    assert marginal_interval(with_others, 0.8) == pytest.approx(marginal_interval(alone, 0.8), abs=1e-6)


def test_all_judgements_are_as_reliable_as_split_half_says_and_agree_with_themselves() -> None:
    judged = judged_by(6, 4)

    one, *_, four = fewer_judgements(judged, trials=300)

    assert (one.judgements_per_tuple, one.judgements, one.spearman_mean) == (1, 2 * ITEMS, None)
    assert four.agreement_mean == pytest.approx(1.0)
    whole = split_half_reliability(judged, trials=300, split=Split.JUDGEMENTS)
    assert four.spearman_mean == pytest.approx(whole.spearman_mean, abs=0.003)
    assert four.spearman_sd == pytest.approx(whole.spearman_sd, rel=0.3)


def test_fewer_judgements_are_those_of_a_campaign_that_collected_fewer() -> None:
    judged = judged_by(6, 4)
    two = fewer_judgements(judged, trials=200)[1]
    rng = np.random.default_rng(1)
    kept = [np.concatenate([rng.permutation(4)[:2] + 4 * row for row in range(2 * ITEMS)]) for _ in range(20)]

    values = [split_half_reliability(judged.only(rows), trials=20).spearman_mean for rows in kept]

    assert two.judgements == 4 * ITEMS
    assert two.spearman_mean == pytest.approx(np.mean(values), abs=0.01)


def test_maxdiff_scores_from_few_judgements_agree_with_those_from_all() -> None:
    judged = judged_by(6, 4)
    fit = maxdiff_fit(judged)

    one, *_, four = fewer_judgements(judged, trials=4, fit=fit, fits=3)

    rng = np.random.default_rng(1)
    rows = [rng.integers(4, size=2 * ITEMS) + 4 * np.arange(2 * ITEMS) for _ in range(6)]
    precision = fit.settings.prior_precision
    values = [
        spearmanr(
            maxdiff_scores(judged.only(kept), prior_precision=precision, with_errors=False).values,
            maxdiff_scores(judged, with_errors=False).values,
        ).statistic
        for kept in rows
    ]
    assert one.maxdiff_agreement_mean == pytest.approx(np.mean(values), abs=0.02)
    assert four.maxdiff_agreement_mean == 1.0
    assert fewer_judgements(judged, trials=4)[0].maxdiff_agreement_mean is None


def test_all_judgements_agree_with_themselves_though_the_utilities_of_items_are_equal_but_for_rounding() -> (
    None
):
    # What was said of items 0 to 5 was said of 6 to 11 too, so each has a twin.
    rng = np.random.default_rng(19)
    half = np.array(list(combinations(range(6), 3)))
    slots = np.tile([rng.permutation(3)[:2] for _ in half], (2, 1))
    judged = Judgements.from_slots(np.vstack([half, half + 6]), slots[:, 0], slots[:, 1], item_count=12)

    (point,) = fewer_judgements(judged, trials=2, fit=maxdiff_fit(judged))

    assert (point.judgements, point.maxdiff_agreement_mean) == (40, 1.0)


def test_the_curve_ends_at_what_half_of_the_tuples_have() -> None:
    judged = judged_by(6, 3)
    third = np.arange(len(judged)) % 3 == 2
    some = judged.only(~third | (np.arange(len(judged)) < len(judged) // 4))

    assert [point.judgements_per_tuple for point in fewer_judgements(some, trials=5)] == [1, 2]
    assert fewer_judgements(judged.only(np.zeros(0, dtype=int))) == []


def test_ties_and_small_tuples_are_outcomes_too() -> None:
    # A tie of 0 and 1 is an outcome of 0 for both; the last tuple has two items.
    items = np.array([[0, 1, 2], [0, 1, -1], [0, 2, -1], [1, 2, -1]])
    judged = Judgements(items, np.array([0, -1, 0, 1]), np.array([2, -1, 2, 2]), 3)

    found = variance_components(judged)

    # One item in two tuples: 0: 1*0, 1*1, 0*1; 1: 0*0, 0*1, 0*1; 2: three times 1; mean 4/9. Two items, two judgements:
    # the square of the sum 0, less those of rows, 0, and of items, 4 + 1 + 9, and with what is in both, 6: -8 in all,
    # in 81 - 21 - 27 + 9 = 42 ordered pairs.
    assert found.item == pytest.approx(4 / 9 + 8 / 42)
    assert found.tuple is None
    points = fewer_judgements(judged, trials=3)
    assert [point.judgements for point in points] == [4]
