"""Scores of people with the help of a machine: what must be equal, and 40 simulated campaigns of each machine."""

import numpy as np
import pytest
import scipy.stats

from annotation.bws.judgements import Judgements
from annotation.bws.scores.counting import counts
from annotation.bws.scores.with_machine import FEWEST_TUPLES, MachineError, assisted_scores

ITEMS, ROUNDS, JUDGED = 40, 16, 4
UTILITIES = 1.5 * scipy.stats.norm.ppf((np.arange(ITEMS) + 0.5) / ITEMS)


def options_of(tuples):
    """u_b - u_w of each best b and worst w (T, 4, 4), -inf where they are one."""
    utilities = UTILITIES[tuples]
    apart = utilities[:, :, None] - utilities[:, None, :]
    apart[:, range(4), range(4)] = -np.inf
    return apart


def campaign(seed: int, correlation: float, *, each: int = 2):
    """People's answers to 4 of 16 rounds by MaxDiff, a machine's to all by a latent variable, and people's expected
    counting scores over all tuples.
    """
    rng = np.random.default_rng(seed)
    tuples = np.concatenate([rng.permutation(ITEMS).reshape(-1, 4) for _round in range(ROUNDS)])
    share = ITEMS // 4
    rounds = rng.choice(ROUNDS, JUDGED, replace=False)
    judged = np.repeat((rounds[:, None] * share + np.arange(share)).ravel(), each)
    options = options_of(tuples)
    chosen = (options[judged] + rng.gumbel(size=(len(judged), 4, 4))).reshape(-1, 16).argmax(axis=1)
    people = Judgements.from_slots(tuples[judged], chosen // 4, chosen % 4, item_count=ITEMS)
    noise = np.sqrt(1 - correlation**2) * rng.normal(size=ITEMS)
    latent = (correlation * UTILITIES / 1.5 + noise)[tuples]
    machine = Judgements.from_slots(tuples, latent.argmax(axis=1), latent.argmin(axis=1), item_count=ITEMS)
    chances = np.exp(options)
    chances /= chances.sum(axis=(1, 2), keepdims=True)
    expected = chances.sum(axis=2) - chances.sum(axis=1)
    return people, machine, np.bincount(tuples.ravel(), expected.ravel()) / ROUNDS


def test_the_score_is_the_mean_of_what_the_machine_lets_expect_and_of_what_people_correct() -> None:
    people, machine, _expected = campaign(1, 0.9)

    found = assisted_scores(people, machine)
    again = assisted_scores(people, machine)
    appearances, best, worst = counts(people)

    np.testing.assert_array_equal(found.values, again.values)
    np.testing.assert_allclose(found.people, (best - worst) / appearances)
    # Summed over the items of a tuple, outcomes and expectations are 0: so are the corrections over all items.
    assert found.values.sum() == pytest.approx(found.people.sum(), abs=1e-9)
    assert (found.tuples, found.both) == (ROUNDS * ITEMS // 4, JUDGED * ITEMS // 4)


def test_the_error_of_an_item_is_that_of_items_of_its_score_by_the_tuples_without_the_one_that_is_weighed() -> (
    None
):
    people, machine, _expected = campaign(7, 0.9, each=1)

    found = assisted_scores(people, machine)

    # Of each item its four outcomes, one a tuple: 1 best, -1 worst, 0 else.
    outcomes = np.array(
        [
            [
                (best == item) * 1 - (worst == item)
                for row, best, worst in zip(people.items, people.best, people.worst, strict=True)
                if item in row
            ]
            for item in range(ITEMS)
        ]
    )
    own = outcomes.mean(axis=1)
    left_out = np.array([[np.delete(row, place).mean() for place in range(4)] for row in outcomes])
    # The mean square of a deviation from a mean of four is three quarters of the variance.
    squares = (outcomes - own[:, None]) ** 2 * 4 / 3
    slope, start = np.polyfit(left_out.ravel() ** 2, squares.ravel(), 1)
    np.testing.assert_allclose(found.people_errors, np.sqrt((start + slope * own**2) / 4))


def test_where_people_judged_every_tuple_the_machine_changes_and_saves_nothing() -> None:
    people, _machine, _expected = campaign(2, 0.9)
    first = np.unique(people.items, axis=0, return_index=True)[1]
    machine = people.only(first)

    found = assisted_scores(people, machine)

    # Means of the same cells: by weights of ten folds, and none of them matters.
    np.testing.assert_allclose(found.values, found.people, atol=1e-12)
    assert abs(found.saved) < 0.05


def test_a_machine_that_answers_less_decidedly_than_people_weighs_as_if_it_were_as_decided() -> None:
    people, machine, _expected = campaign(5, 1.0, each=8)
    rng = np.random.default_rng(6)
    tuples = np.repeat(machine.items, 20, axis=0)
    options = 0.3 * options_of(tuples) + rng.gumbel(size=(len(tuples), 4, 4))
    chosen = options.reshape(-1, 16).argmax(axis=1)
    hesitant = Judgements.from_slots(tuples, chosen // 4, chosen % 4, item_count=ITEMS)

    found = assisted_scores(people, hesitant)

    # Its expected outcomes are those of people's utilities once they are spread as far, and those have the weight 1.
    assert found.weight == pytest.approx(1, abs=0.15)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("correlation", "least", "most"), [(0.95, 0.15, 0.3), (0.0, -0.03, 0.01), (-0.8, 0.07, 0.25)]
)
def test_intervals_hold_for_good_useless_and_lying_machines_and_the_saving_is_that_of_the_errors(
    correlation: float, least: float, most: float
) -> None:
    covered, told, squares, ceilings, weights = [], [], np.zeros(2), [], []
    for seed in range(40):
        people, machine, expected = campaign(seed, correlation)
        found = assisted_scores(people, machine, seed=seed)
        covered.append((np.abs(found.values - expected) < 1.96 * found.errors).mean())
        told.append(found.saved)
        squares += [((each - expected) ** 2).sum() for each in (found.values, found.people)]
        ceilings.append(found.ceiling)
        weights.append(found.weight)

    # 1,600 intervals: the share of those that hold has a standard error of .006 and rather more.
    assert np.mean(covered) == pytest.approx(0.95, abs=0.025)
    assert least < np.mean(told) < most
    assert np.mean(told) == pytest.approx(1 - squares[0] / squares[1], abs=0.08)
    assert np.mean(told) < np.mean(ceilings) + 0.02
    assert np.mean(weights) == pytest.approx(correlation, abs=0.2)


def test_the_ceiling_is_what_a_machine_with_people_s_utilities_saves_and_unknown_without_second_judgements() -> (
    None
):
    people, machine, _expected = campaign(3, 1.0)
    single, _machine, _expected = campaign(3, 1.0, each=1)

    alone = assisted_scores(single, machine)
    assert assisted_scores(people, machine).ceiling == pytest.approx(0.3, abs=0.08)
    assert alone.ceiling is None
    assert (alone.errors > 0).all()


def test_tuples_may_be_of_several_sizes() -> None:
    people, machine, _expected = campaign(6, 0.9)

    def shortened(judgements: Judgements) -> Judgements:
        """Of the first round's tuples, the last item goes where nobody named it."""
        items = judgements.items.copy()
        rows = np.isin(items, machine.items[:10]).all(axis=1) & (items[:, 3] % 2 == 0)
        rows &= (items[:, 3] != judgements.best) & (items[:, 3] != judgements.worst)
        items[rows, 3] = -1
        return Judgements(items, judgements.best, judgements.worst, ITEMS)

    asked = np.unique(people.items, axis=0)
    both = shortened(people.only(np.flatnonzero((people.items != asked[0]).any(axis=1))))
    same = both.only(np.unique(both.items, axis=0, return_index=True)[1])

    found = assisted_scores(both, same)

    assert (both.sizes == 3).any()
    np.testing.assert_allclose(found.values, found.people, atol=1e-12)


def test_an_item_that_nobody_judged_has_no_score() -> None:
    people, machine, _expected = campaign(4, 0.9)
    without = people.only(~(people.items == 7).any(axis=1))

    found = assisted_scores(without, machine)

    assert np.flatnonzero(np.isnan(found.values)).tolist() == [7]
    assert np.flatnonzero(np.isnan(found.errors)).tolist() == [7]


def test_answers_that_do_not_fit_together_are_refused() -> None:
    people, machine, _expected = campaign(5, 0.9)
    missing = machine.only(~(machine.items == people.items[0, 0]).any(axis=1))

    with pytest.raises(MachineError, match="must answer all of them"):
        assisted_scores(people, missing)
    with pytest.raises(MachineError, match=f"fewer than {FEWEST_TUPLES}"):
        assisted_scores(people.only(np.arange(20)), machine)
    with pytest.raises(MachineError, match="same items"):
        assisted_scores(Judgements(people.items, people.best, people.worst, ITEMS + 1), machine)


def test_an_empty_place_in_every_tuple_changes_no_score() -> None:
    people, machine, _expected = campaign(8, 0.9)
    wider = [
        Judgements(np.pad(said.items, ((0, 0), (0, 1)), constant_values=-1), said.best, said.worst, ITEMS)
        for said in (people, machine)
    ]

    plain, padded = assisted_scores(people, machine), assisted_scores(*wider)

    np.testing.assert_allclose(padded.values, plain.values)
    np.testing.assert_allclose(padded.errors, plain.errors)
