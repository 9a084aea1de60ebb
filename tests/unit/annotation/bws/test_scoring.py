"""Counting: (best - worst) / appearances, by hand and by properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.counting import counting_errors, design_effects
from annotation.bws.scores.scoring import Scale, counting_scores
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements

# Four items, three judgements of four and one of a row that names item 0 twice:
#   0 1 2 3   best 0   worst 3
#   0 1 2 3   best 0   worst 2
#   3 2 1 0   best 1   worst 3
#   0 0 1 2   best 0   worst 1
TABLE = Judgements(
    np.array([[0, 1, 2, 3], [0, 1, 2, 3], [3, 2, 1, 0], [0, 0, 1, 2]]),
    np.array([0, 0, 1, 0]),
    np.array([3, 2, 3, 1]),
    5,
)


def test_the_table_scored_by_hand_signed() -> None:
    scores = counting_scores(TABLE, scale=Scale.SIGNED)

    assert scores.values[:4].tolist() == pytest.approx([3 / 5, 0, -1 / 4, -2 / 3])
    assert scores.appearances.tolist() == [5, 4, 4, 3, 0]
    assert scores.best.tolist() == [3, 1, 0, 0, 0]
    assert scores.worst.tolist() == [0, 1, 1, 2, 0]


def test_the_unit_scale_maps_minus_one_to_zero_and_one_to_one() -> None:
    scores = counting_scores(TABLE)

    assert scores.values[:4].tolist() == pytest.approx([0.8, 0.5, 0.375, 1 / 6])


def test_an_item_that_never_appeared_has_no_score_and_no_error() -> None:
    scores = counting_scores(TABLE)

    assert np.isnan(scores.values[4])
    assert np.isnan(scores.standard_errors[4])


def test_an_item_that_was_always_best_is_still_not_known_without_error() -> None:
    judgements = Judgements(np.tile([0, 1], (8, 1)), np.zeros(8, dtype=int), np.ones(8, dtype=int), 2)

    scores = counting_scores(judgements, scale=Scale.SIGNED)

    # Laplace: 9 of 11 best, 1 neither, 1 worst; mean 8/11, mean square 10/11.
    assert scores.standard_errors[0] == pytest.approx(np.sqrt((10 / 11 - (8 / 11) ** 2) / 8))


def test_an_item_that_appeared_once_has_an_error_and_one_that_never_did_has_none() -> None:
    errors = counting_errors(np.array([1, 0]), np.array([1, 0]), np.array([0, 0]))

    # Laplace: 2 of 4 best, 1 neither, 1 worst; mean 1/4, mean square 3/4.
    assert errors[0] == pytest.approx(np.sqrt(3 / 4 - 1 / 16))
    assert np.isnan(errors[1])


def test_standard_errors_shrink_to_the_scale_of_the_scores() -> None:
    signed = counting_scores(TABLE, scale=Scale.SIGNED)
    unit = counting_scores(TABLE, scale=Scale.UNIT)

    assert unit.standard_errors[:4] == pytest.approx(signed.standard_errors[:4] / 2)


def test_standard_errors_cover_the_truth_about_as_often_as_they_say() -> None:
    # Best with .5, worst with .2 of 40 appearances: the score tends to .3.
    rng = np.random.default_rng(3)
    best, worst, _ = rng.multinomial(40, [0.5, 0.2, 0.3], size=4000).T

    errors = counting_errors(np.full(4000, 40), best, worst)

    covered = np.abs((best - worst) / 40 - 0.3) < 1.96 * errors
    assert 0.93 < covered.mean() < 0.97


@st.composite
def some_judgements(draw: st.DrawFn) -> Judgements:
    items, rows = draw(st.integers(4, 9)), draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    drawn = np.array([rng.permutation(items)[:4] for _ in range(rows)])
    slots = np.array([rng.permutation(4)[:2] for _ in range(rows)])
    return Judgements.from_slots(drawn, slots[:, 0], slots[:, 1], item_count=items)


@given(some_judgements())
def test_every_best_is_paid_for_by_a_worst(judgements) -> None:
    scores = counting_scores(judgements, scale=Scale.SIGNED)

    net = np.nansum(scores.values * scores.appearances)

    assert net == pytest.approx(0, abs=1e-9)
    assert scores.appearances.sum() == judgements.items.size


@given(some_judgements())
def test_the_order_of_judgements_and_places_changes_nothing(judgements) -> None:
    turned = Judgements(
        judgements.items[::-1, ::-1], judgements.best[::-1], judgements.worst[::-1], judgements.item_count
    )

    scores, turned_scores = counting_scores(judgements), counting_scores(turned)

    assert np.array_equal(scores.values, turned_scores.values, equal_nan=True)


def test_design_effects_by_hand() -> None:
    # Three pairs of three items, each judged twice; both judges of 0 1 and of 1 2 agree, those of 0 2 do not.
    judgements = Judgements(
        np.array([[0, 1], [0, 1], [0, 2], [2, 0], [1, 2], [1, 2]]),
        np.array([0, 0, 0, 2, 1, 1]),
        np.array([1, 1, 2, 0, 2, 2]),
        3,
    )

    effects = design_effects(judgements)

    # Sums of squares: of the six cells 8, of the three items 2, of all twelve outcomes 12. Between (8 - 2) / 3 = 2,
    # within (12 - 8) / 6 = 2/3, two outcomes in a cell: r = (2 - 2/3) / (2 + 2/3) = 1/2, and 1 + (2 - 1) / 2.
    assert effects == pytest.approx([1.5, 1.5, 1.5])


def test_an_item_that_was_judged_once_is_in_the_design_effects_of_the_others() -> None:
    # 0 and 1 meet five times, and 0 wins four times; then 2 beats 0.
    best, worst = np.array([0, 0, 0, 0, 1, 2]), np.array([1, 1, 1, 1, 0, 0])

    effects = design_effects(Judgements(np.column_stack([best, worst]), best, worst, 3))

    # Sums of squares: of cells 9/5 + 9/5 + 1 + 1, of items 4/6 + 9/5 + 1, of outcomes 12. Between 32/15 over 4 - 3,
    # within (32/5) / (12 - 4) = 4/5. s = 26/6, 5, 1; outcomes of a cell 12 - 31/3 = 5/3.
    # r = (32/15 - 4/5) / (32/15 + 2/3 * 4/5) = 1/2.
    assert effects == pytest.approx([1 + 10 / 3 / 2, 1 + 4 / 2, 1])


@pytest.mark.exhaustive
def test_a_tuple_judged_once_has_a_design_effect_of_one() -> None:
    tuples = design_tuples(30).tuples

    assert design_effects(Judgements(tuples, tuples[:, 0], tuples[:, 1], 30)).tolist() == [1.0] * 30


@pytest.mark.exhaustive
def test_intervals_of_counting_cover_the_score_over_random_tuples() -> None:
    rng, people = np.random.default_rng(1), [SimulatedAnnotator(noise=0.7)] * 8
    latent = rng.standard_normal(100)
    random = np.array([rng.permutation(100).reshape(-1, 4) for _ in range(4000)]).reshape(-1, 4)
    asked_of_all = simulated_judgements(random, latent, annotators=people, judgements_per_tuple=1, seed=1)
    expected = counting_scores(asked_of_all).values

    covered, covered_by_independent = [], []
    for seed in range(12):
        judgements = simulated_judgements(
            design_tuples(100, seed=seed).tuples, latent, annotators=people, judgements_per_tuple=8, seed=seed
        )
        scores = counting_scores(judgements)
        away = np.abs(scores.values - expected)
        covered.append((away < 1.96 * scores.standard_errors).mean())
        alone = counting_errors(scores.appearances, scores.best, scores.worst) / 2
        covered_by_independent.append((away < 1.96 * alone).mean())

    assert 0.93 < np.mean(covered) < 0.98
    assert np.mean(covered_by_independent) < 0.88
