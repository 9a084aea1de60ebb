"""Reliability over growing numbers of judgements, and what is needed for more."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements, tuple_numbers
from annotation.bws.reliability.drawing import halves_of_units, random_ranks
from annotation.bws.reliability.replication import compared_methods, counting_values, replication
from annotation.bws.reliability.split_half import equal_shares, judgements_for, split_half_reliability
from annotation.bws.scores.refitting import maxdiff_fit
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements


def campaign(judgements_per_tuple: int, *, items: int = 100) -> Judgements:
    return simulated_judgements(
        design_tuples(items).tuples,
        np.random.default_rng(0).standard_normal(items),
        annotators=[SimulatedAnnotator(noise=0.7)] * 8,
        judgements_per_tuple=judgements_per_tuple,
        seed=1,
    )


def test_equal_shares_end_with_all_judgements_and_leave_out_none() -> None:
    assert equal_shares(1600, 4) == [400, 800, 1200, 1600]
    assert equal_shares(3, 8) == [1, 2, 3]


def test_judgements_needed_by_hand() -> None:
    # From .8 to .9: 9 / 1 against 4 / 1, two and a quarter times as many.
    assert judgements_for(0.9, judgements=1000, spearman=0.8) == 2250
    assert judgements_for(0.8, judgements=1000, spearman=0.8) == 1000
    assert judgements_for(0.9, judgements=1000, spearman=-0.1) is None
    assert judgements_for(0.9, judgements=1000, spearman=1.0) == 1000


def test_the_promise_about_holds_in_simulation() -> None:
    few = split_half_reliability(campaign(4, items=200), trials=50).spearman_mean

    needed = judgements_for(
        split_half_reliability(campaign(8, items=200), trials=50).spearman_mean,
        judgements=4 * 400,
        spearman=few,
    )

    assert needed == pytest.approx(8 * 400, rel=0.15)


@pytest.mark.parametrize("target", [-0.5, 0.0, 1.0])
def test_a_target_that_no_reliability_comes_to_is_refused(target) -> None:
    with pytest.raises(ValueError, match=f"between 0 and 1, not {target:g}"):
        judgements_for(target, judgements=10, spearman=0.5)


def test_scores_from_other_tuples_agree_better_with_more_judgements_and_with_maxdiff() -> None:
    judgements = campaign(8, items=200)

    counting, maxdiff = (
        [replication(judgements, method, judgements_per_tuple=n, trials=4) for n in (1, 4)]
        for method in compared_methods(maxdiff_fit(judgements).settings).values()
    )

    assert counting[0].spearman_mean < counting[1].spearman_mean < maxdiff[1].spearman_mean
    assert counting[0].spearman_mean < maxdiff[0].spearman_mean
    assert [point.judgements for point in counting] == [200, 800]


def test_a_replication_is_what_halves_and_choices_in_turn_from_one_stream_give() -> None:
    judgements = campaign(4)
    tuples, rng, expected = tuple_numbers(judgements.items), np.random.default_rng(7), []
    for _ in range(3):
        first = halves_of_units(tuples)(1, rng)[:, 0]
        few = first & (random_ranks(tuples, 1, rng)[:, 0] < 2)
        one, two = (counting_values(judgements.only(half)) for half in (few, ~first))
        expected.append(spearmanr(one, two, nan_policy="omit").statistic)

    found = replication(judgements, counting_values, judgements_per_tuple=2, trials=3, seed=7)

    assert (found.spearman_mean, found.spearman_sd) == pytest.approx((np.mean(expected), np.std(expected)))


@pytest.mark.parametrize("rows", [0, 3])
def test_one_tuple_or_none_has_no_other_half(rows) -> None:
    judgements = Judgements(
        np.tile([0, 1], (rows, 1)), np.zeros(rows, dtype=int), np.ones(rows, dtype=int), 2
    )

    with pytest.raises(ValueError, match="at least two different tuples"):
        replication(judgements, counting_values, judgements_per_tuple=1)


@pytest.mark.parametrize(("each", "trials"), [(0, 5), (1, 0)])
def test_a_replication_from_no_judgements_or_in_no_trials_is_refused(each, trials) -> None:
    with pytest.raises(ValueError, match="At least 1 judgement and 1 trial"):
        replication(campaign(1, items=8), counting_values, judgements_per_tuple=each, trials=trials)
