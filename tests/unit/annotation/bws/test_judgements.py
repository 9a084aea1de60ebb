"""Judgements as arrays: what they refuse, and which of them are of one tuple."""

import numpy as np
import pytest

from annotation.bws.annotators.agreement import intra_annotator_agreement, leave_one_out_agreement
from annotation.bws.judgements import Judgements, tuple_numbers
from annotation.bws.reliability.split_half import HalfScores
from annotation.bws.scores.bradley_terry import implied_pairs
from annotation.bws.scores.scoring import Scale, counting_scores


def test_slots_name_the_items_that_stand_there() -> None:
    judgements = Judgements.from_slots(
        np.array([[4, 2, 0], [1, 3, 2]]), np.array([0, 2]), np.array([2, 1]), item_count=5
    )

    assert judgements.best.tolist() == [4, 2]
    assert judgements.worst.tolist() == [0, 3]


def test_a_best_item_from_elsewhere_is_refused() -> None:
    with pytest.raises(ValueError, match="the best of judgement 2 is not among its items"):
        Judgements(np.array([[0, 1], [2, 3]]), np.array([0, 0]), np.array([1, 2]), 4)


def test_an_item_number_beyond_the_items_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 2"):
        Judgements(np.array([[0, 3]]), np.array([0]), np.array([3]), 3)


def test_a_slot_beyond_the_tuple_is_refused() -> None:
    with pytest.raises(ValueError, match="worst positions must lie between 0 and 1"):
        Judgements.from_slots(np.array([[0, 1]]), np.array([0]), np.array([2]), item_count=2)


def test_annotators_must_be_as_many_as_judgements() -> None:
    with pytest.raises(ValueError, match="1 judgements need as many annotators"):
        Judgements(np.array([[0, 1]]), np.array([0]), np.array([1]), 2, np.array([0, 1]))


@pytest.mark.parametrize(("best", "worst"), [([0], [1, 1]), ([0, 0], [1])])
def test_both_choices_must_be_as_many_as_judgements(best, worst) -> None:
    with pytest.raises(ValueError, match=r"need items \(n, k\) and best and worst \(n,\)"):
        Judgements(np.array([[0, 1], [0, 1]]), np.array(best), np.array(worst), 2)


def test_the_same_items_in_another_order_are_one_tuple() -> None:
    numbers = tuple_numbers(np.array([[3, 1, 2], [0, 1, 2], [2, 3, 1]]))

    assert numbers[0] == numbers[2] != numbers[1]


def test_an_item_that_stands_twice_counts_once_in_the_name_of_a_tuple() -> None:
    numbers = tuple_numbers(np.array([[0, 0, 1], [1, 0, 1], [0, 1, 2]]))

    assert numbers[0] == numbers[1] != numbers[2]


def test_tuples_are_told_apart_as_python_sets_are() -> None:
    rows = np.random.default_rng(0).integers(0, 5, size=(400, 4))

    numbers = tuple_numbers(rows)

    groups = {number: {frozenset(row) for row in rows[numbers == number].tolist()} for number in set(numbers)}
    assert all(len(group) == 1 for group in groups.values())
    assert len(groups) == len({frozenset(row) for row in rows.tolist()})


def test_choosing_judgements_keeps_item_numbers_and_annotators() -> None:
    judgements = Judgements(
        np.array([[0, 1], [2, 1], [1, 0]]), np.array([0, 2, 0]), np.array([1, 1, 1]), 3, np.array([7, 8, 9])
    )

    chosen = judgements.only(np.array([True, False, True]))

    assert chosen.items.tolist() == [[0, 1], [1, 0]]
    assert chosen.annotators is not None
    assert chosen.annotators.tolist() == [7, 9]
    assert chosen.item_count == 3


# A tuple of four, one of three and one of two, then a tie of three and a tie of four; two people.
MIXED = Judgements(
    np.array([[0, 1, 2, 3], [3, 1, 0, -1], [2, 4, -1, -1], [0, 1, 2, -1], [1, 2, 3, 4]]),
    np.array([0, 3, 2, -1, -1]),
    np.array([3, 1, 4, -1, -1]),
    5,
    np.array([0, 1, 0, 1, 0]),
)


def test_tuples_of_several_sizes_and_ties_are_counted_by_hand() -> None:
    scores = counting_scores(MIXED, scale=Scale.SIGNED)

    assert MIXED.sizes.tolist() == [4, 3, 2, 3, 4]
    assert MIXED.ties.tolist() == [False, False, False, True, True]
    assert scores.appearances.tolist() == [3, 4, 4, 3, 2]
    assert (scores.best.tolist(), scores.worst.tolist()) == ([1, 0, 1, 1, 0], [0, 1, 0, 1, 1])
    assert scores.values.tolist() == pytest.approx([1 / 3, -1 / 4, 1 / 4, 0, -1 / 2])


def test_halves_count_tuples_of_several_sizes_and_ties_by_hand() -> None:
    one, two, seen = HalfScores(MIXED).count(np.array([[True], [False], [True], [True], [False]]))

    assert one[0].tolist() == pytest.approx([1 / 2, 0, 1 / 3, -1, -1])
    assert two[0].tolist() == pytest.approx([0, -1 / 2, 0, 1 / 2, 0])
    assert seen[0].all()


def test_a_tie_implies_no_pair_and_a_short_tuple_fewer() -> None:
    pairs = sorted(zip(*(side.tolist() for side in implied_pairs(MIXED)), strict=True))

    assert pairs == [(0, 1), (0, 1), (0, 2), (0, 3), (1, 3), (2, 3), (2, 4), (3, 0), (3, 1)]


def test_short_tuples_are_one_tuple_in_any_order_and_differ_from_longer_ones() -> None:
    numbers = tuple_numbers(np.array([[2, 0, -1, -1], [0, 2, -1, -1], [0, 2, 1, -1], [0, 0, 2, -1]]))

    assert numbers[0] == numbers[1] == numbers[3] != numbers[2]


def test_agreement_with_the_others_knows_ties_and_sizes_by_hand() -> None:
    # The others' scores for person 0 are from [3 1 0] and the tie: item 3 is 1, 0 and 2 are 0, 1 is -1/2; 4 is unseen.
    # Of 0 over 1 2 3 and 1 2 over 3 they confirm 0 over 1, and half of 0 over 2; 2 over 4 cannot be compared.
    agreement = leave_one_out_agreement(MIXED)

    # For person 1 they are from [0 1 2 3], [2 4] and the tie: 0 is 1, 1 is 0, 3 is -1/2: only 0 over 1 is confirmed.
    assert agreement.compared.tolist() == [5, 3]
    assert (agreement.shares * agreement.compared).tolist() == pytest.approx([1.5, 1])


def test_a_repeated_tie_repeats_both_choices_and_a_tie_after_a_choice_none() -> None:
    judgements = Judgements(
        np.array([[0, 1, 2], [2, 1, 0], [0, 1, -1], [1, 0, -1]]),
        np.array([-1, -1, 0, -1]),
        np.array([-1, -1, 1, -1]),
        3,
        np.array([0, 0, 1, 1]),
    )

    assert intra_annotator_agreement(judgements).shares.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("best", "worst", "why"),
    [
        (-1, 1, "the best of judgement 1 is not among its items"),
        (0, -1, "the worst of judgement 1 is not among its items"),
        (0, 2, "the worst of judgement 1 is not among its items"),
    ],
)
def test_half_a_tie_and_a_choice_from_elsewhere_are_refused(best, worst, why) -> None:
    with pytest.raises(ValueError, match=why):
        Judgements(np.array([[0, 1, -1]]), np.array([best]), np.array([worst]), 3)


def test_a_position_without_an_item_must_come_last() -> None:
    with pytest.raises(ValueError, match="judgement 2 needs its items before the positions without one"):
        Judgements(np.array([[0, 1, 2], [0, -1, 1]]), np.array([0, 0]), np.array([1, 1]), 3)


def test_an_item_number_below_none_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 2"):
        Judgements(np.array([[0, 1, -2]]), np.array([0]), np.array([1]), 3)


def test_positions_of_minus_one_are_a_tie_and_a_position_without_an_item_is_refused() -> None:
    items = np.array([[4, 2, 0], [1, 3, -1]])

    judgements = Judgements.from_slots(items, np.array([-1, 1]), np.array([-1, 0]), item_count=5)

    assert (judgements.best.tolist(), judgements.worst.tolist()) == ([-1, 3], [-1, 1])
    with pytest.raises(ValueError, match="the best of judgement 2 is not among its items"):
        Judgements.from_slots(items, np.array([0, 2]), np.array([1, 2]), item_count=5)
