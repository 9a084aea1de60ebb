"""The fewest judgements, or annotators, without which a claim no longer holds: by brute force, and by hand."""

from itertools import combinations, permutations

import numpy as np
import pytest

from annotation.bws.judgements import Judgements
from annotation.bws.reliability.split_half import TooFewJudgements
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements
from annotation.bws.studies.turning import (
    Above,
    ReliableEnough,
    claim_turning,
    judgements_between,
    reliability_turning,
)
from curation.statistics.turning import Claim, turning


def judged(
    items: int = 8, tuples: int = 8, each: int = 2, people: int = 4, noise: float = 0.5, seed: int = 1
) -> Judgements:
    random = np.random.default_rng(seed)
    return simulated_judgements(
        np.array([random.permutation(items)[:4] for _ in range(tuples)]),
        random.standard_normal(items),
        annotators=[SimulatedAnnotator(noise)] * people,
        judgements_per_tuple=each,
        seed=seed,
    )


def fewest(claim: Claim, unit: np.ndarray) -> int | None:
    """By trying every set, the smallest first."""
    count = int(unit.max()) + 1
    for size in range(count):
        for removed in combinations(range(count), size):
            if claim.margins(~np.isin(unit, removed)[:, None])[0] <= 1e-12:
                return size
    return None


def rows_of(judgements: Judgements, *items: int) -> Judgements:
    return judgements.only(np.isin(judgements.items, items).any(axis=1))


@pytest.mark.parametrize("seed", [0, 2, 3, 5, 6, 7, 8, 9])
def test_the_fewest_judgements_between_two_items_are_those_of_brute_force(seed) -> None:
    judgements = judged(tuples=7, seed=seed)
    scores = [Above(judgements, item, 0)._score(item, np.ones(len(judgements))) for item in range(8)]
    above, below = int(np.nanargmax(scores)), int(np.nanargmin(scores))
    near = rows_of(judgements, above, below)

    found = judgements_between(judgements, above, below)

    assert found.least
    assert found.number == fewest(Above(near, above, below), np.arange(len(near)))
    if found.removed is not None:
        kept = ~np.isin(np.arange(len(judgements)), found.removed)
        assert Above(judgements, above, below).margins(kept[:, None])[0] <= 1e-12


def test_judgements_in_which_both_met_turn_a_claim_fastest() -> None:
    # Item 0 is best and item 1 worst in the two in which they met; apart, both are in the middle.
    items = np.array([[0, 1, 2, 3]] * 2 + [[0, 2, 3, 4]] * 2 + [[1, 2, 3, 4]] * 2)
    judgements = Judgements(items, np.array([0, 0, 2, 2, 2, 2]), np.array([1, 1, 3, 3, 3, 3]), 5)

    found = judgements_between(judgements, 0, 1)

    assert (found.number, found.least) == (2, True)
    assert found.removed.tolist() == [0, 1]
    assert (found.before, found.after) == (1.0, 0.0)


def test_the_influence_of_a_judgement_on_a_difference_is_what_its_removal_changes() -> None:
    judgements = judged(tuples=12, seed=4)
    every = np.ones(len(judgements), dtype=np.bool_)

    for above, below in permutations(range(8), 2):
        claim = Above(judgements, above, below)
        told = claim.influences(every)
        without = claim.margins(~np.eye(len(judgements), dtype=np.bool_)) - claim.margins(every[:, None])
        assert np.ptp(without) > 0.01
        assert told == pytest.approx(without)


def test_judgements_with_neither_of_two_items_are_left_where_they_are() -> None:
    # Items 0 and 1 never met. 0 was worst in one of four judgements, 1 in six of eight: -1/4 is above -3/4.
    items = np.repeat([[2, 3, 4, 5], [0, 2, 3, 4], [1, 2, 3, 4]], [3, 4, 8], axis=0)
    worst = np.repeat([5, 0, 4, 1, 4], [3, 1, 3, 6, 2])
    judgements = Judgements(items, np.full(15, 3), worst, 6)

    found = judgements_between(judgements, 0, 1)

    # Without the three in which 0 was not worst it is at -1; without two of them at -1/2, as 1 without four of its six.
    assert found.number == fewest(Above(judgements, 0, 1), np.arange(15)) == 3
    assert found.removed.tolist() == [4, 5, 6]
    assert found.after == -0.25


def test_a_claim_that_does_not_hold_needs_no_removal_and_one_about_an_unjudged_item_is_refused() -> None:
    judgements = judged()
    worse = judgements_between(judgements, 0, 1).number or judgements_between(judgements, 1, 0).number

    assert worse
    assert 0 in {judgements_between(judgements, 0, 1).number, judgements_between(judgements, 1, 0).number}
    unjudged = Judgements(judgements.items, judgements.best, judgements.worst, 9)
    with pytest.raises(TooFewJudgements, match="not judged"):
        judgements_between(unjudged, 0, 8)


@pytest.mark.parametrize("seed", range(6))
def test_the_fewest_annotators_are_those_of_brute_force(seed) -> None:
    judgements = judged(tuples=12, each=4, people=6, seed=seed)
    scores = [Above(judgements, item, 0)._score(item, np.ones(len(judgements))) for item in range(8)]
    claim = Above(judgements, int(np.nanargmax(scores)), int(np.nanargmin(scores)))

    found = turning(claim, judgements.people)

    assert found.least
    assert found.number == fewest(claim, judgements.people)


@pytest.mark.parametrize("seed", range(3))
def test_the_fewest_judgements_for_a_reliability_are_those_of_brute_force(seed) -> None:
    judgements = judged(items=5, tuples=6, noise=0.3, seed=seed)
    reached = ReliableEnough(judgements, 0.0, trials=10).margins(
        np.ones((len(judgements), 1), dtype=np.bool_)
    )[0]
    claim = ReliableEnough(judgements, reached - 0.15, trials=10)

    found = turning(claim, np.arange(len(judgements)))

    assert found.least
    assert found.number == fewest(claim, np.arange(len(judgements)))


def test_influences_on_a_reliability_go_with_what_removals_do() -> None:
    judgements = judged(items=40, tuples=80, each=4, people=8, seed=3)
    claim = ReliableEnough(judgements, 0.5, trials=20)
    every = np.ones(len(judgements), dtype=np.bool_)
    rows = np.random.default_rng(5).choice(len(judgements), 60, replace=False)
    without = np.repeat(every[:, None], 60, axis=1)
    without[rows, np.arange(60)] = False

    true = claim.margins(without) - claim.margins(every[:, None])
    told = claim.influences(every)[rows]

    assert np.corrcoef(true, told)[0, 1] > 0.8
    assert 0.6 < np.polyfit(told, true, 1)[0] < 1.2


def test_halves_that_are_computed_in_batches_are_those_that_are_computed_at_once(monkeypatch) -> None:
    judgements = judged(items=12, tuples=24, each=4, people=6, seed=3)
    kept = np.arange(len(judgements)) % 7 > 0
    whole = ReliableEnough(judgements, 0.5, trials=20)

    monkeypatch.setattr("annotation.bws.reliability.split_half.CELLS_AT_ONCE", 6 * len(judgements))
    parts = ReliableEnough(judgements, 0.5, trials=20)

    assert [part.shape[1] for part in parts.halves] == [6, 6, 6, 2]
    assert parts.margins(kept[:, None]) == pytest.approx(whole.margins(kept[:, None]))
    assert parts.influences(kept) == pytest.approx(whole.influences(kept))


def test_a_reliability_rests_on_judgements_by_the_highest_number_that_it_reaches() -> None:
    judgements = judged(items=8, tuples=10, each=2, people=4, noise=0.3, seed=2)

    found = claim_turning(judgements, 0.85, most_cells=200_000)

    assert found is not None
    assert found["least"] == 0.8
    assert 0 < found["judgements"]["number"] < len(judgements)
    assert claim_turning(judgements, 0.55) is None


def test_where_some_halves_have_nothing_to_compare_the_refusal_is_that_of_a_reliability() -> None:
    # The one half that is a tie gives every item the same score.
    items = np.array([[0, 1, 2, 3]] * 2)
    judgements = Judgements(items, np.array([-1, 0]), np.array([-1, 1]), 4, np.array([0, 1]))

    with pytest.raises(TooFewJudgements, match="some halves have nothing to compare"):
        reliability_turning(judgements, 0.5)
    assert claim_turning(judgements, 0.95) is None


def test_a_number_that_is_too_dear_to_be_the_least_is_said_to_be_at_most() -> None:
    judgements = judged(items=20, tuples=40, each=4, people=8, noise=0.3, seed=2)
    claim = ReliableEnough(judgements, 0.93, trials=20)

    found = turning(claim, np.arange(len(judgements)), most_cells=claim.cells)

    assert not found.least
    assert 1 < found.number < len(judgements) / 2
    assert found.before > 0 >= found.after
