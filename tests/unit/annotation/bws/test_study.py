"""What a dashboard works out: disagreement, leaving people out, and all of it together."""

from dataclasses import asdict, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from annotation.bws.annotators.agreement import tuple_agreement
from annotation.bws.designs.design import design_tuples
from annotation.bws.designs.swapping import unreported
from annotation.bws.judgements import Judgements
from annotation.bws.scores.scoring import counting_scores
from annotation.bws.studies.forecast import ForecastPlan, forecast
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_choices
from annotation.bws.studies.study import (
    THRESHOLDS,
    CampaignRecord,
    StudyPlan,
    _forecast,
    _people,
    agreements,
    counted_without,
    leaving_out_result,
    reliability_now,
    study,
)

ITEMS, EACH = 60, 4
STEADY, CARELESS = SimulatedAnnotator(0.5), SimulatedAnnotator(careless=1.0)


def comparisons(best: int, worst: int, size: int) -> dict[tuple[int, int], bool]:
    """Which of two slots a judgement puts above the other, where it says so."""
    said = {}
    for a, b in combinations(range(size), 2):
        if best in {a, b} or worst in {a, b}:
            said[a, b] = best == a or worst == b
    return said


def test_agreement_on_a_tuple_is_that_of_each_two_judgements() -> None:
    rng = np.random.default_rng(3)
    tuples = rng.integers(10, 16, size=40)
    best = rng.integers(0, 4, size=40)
    worst = (best + rng.integers(1, 4, size=40)) % 4

    found = tuple_agreement(tuples, best, worst, np.full(40, 4))

    for number, judgements, share in zip(*found, strict=True):
        rows = np.flatnonzero(tuples == number)
        alike = [
            one[pair] == two[pair]
            for one, two in combinations([comparisons(best[row], worst[row], 4) for row in rows], 2)
            for pair in one.keys() & two.keys()
        ]
        assert judgements == len(rows)
        assert share == pytest.approx(np.mean(alike))


def test_a_tuple_that_was_judged_once_has_no_agreement() -> None:
    _, _, shares = tuple_agreement(
        np.array([5, 7, 7]), np.array([0, 0, 1]), np.array([1, 1, 0]), np.full(3, 4)
    )

    assert np.isnan(shares[0])
    assert shares[1] == 0.0  # best and worst changed places, and with them every comparison


def test_agreement_on_a_tuple_knows_its_size_and_its_ties_by_hand() -> None:
    # Tuple 3 has three items: 0 over 1 and 2, 1 over 2; then 0 over 1 and 2, 2 over 1; then a tie.
    tuples, best, worst = np.array([3, 3, 3, 8]), np.array([0, 0, -1, 3]), np.array([2, 1, -1, 0])

    _, judgements, shares = tuple_agreement(tuples, best, worst, np.array([3, 3, 3, 4]))

    assert judgements.tolist() == [3, 1]
    assert shares[0] == pytest.approx(2 / 3)


def test_without_a_person_the_surplus_of_others_counts() -> None:
    people = np.array([1, 2, 3, 1, 2])
    tuples = np.array([9, 9, 9, 4, 4])
    wanted = np.full(5, 2)

    everybody = counted_without(people, tuples, wanted, [])
    without = counted_without(people, tuples, wanted, [1])

    assert everybody.tolist() == [True, True, False, True, True]
    assert without.tolist() == [False, True, True, False, True]


@pytest.fixture(scope="module")
def latent():
    return np.random.default_rng(1).standard_normal(ITEMS)


@pytest.fixture(scope="module")
def record(latent) -> CampaignRecord:
    """60 items; six people judge, of whom the last two answer at random and the very last is excluded."""
    tuples = design_tuples(ITEMS, seed=2).tuples
    rng = np.random.default_rng(5)
    asked = np.repeat(np.arange(len(tuples)), 6)
    people = np.tile(np.arange(6), len(tuples))
    order = rng.permutation(len(asked))
    asked, people = asked[order], people[order]
    best, worst = np.empty_like(asked), np.empty_like(asked)
    for person in range(6):
        mine = people == person
        manner = STEADY if person < 4 else CARELESS
        best[mine], worst[mine] = simulated_choices(latent[tuples[asked[mine]]], manner, rng)
    judged = Judgements.from_slots(tuples[asked], best, worst, item_count=ITEMS, annotators=people)
    wanted = np.full(len(asked), EACH)
    places = rng.integers(0, 4, size=(2, len(asked)))
    return CampaignRecord(
        judged=judged,
        tuples=asked + 100,
        best_slot=best,
        worst_slot=worst,
        best_position=places[0],
        worst_position=places[1],
        required=wanted,
        counted=counted_without(people, asked, wanted, [5]),
        excluded=frozenset({5}),
        gold_shares={0: 0.95, 1: 0.9, 4: 0.45, 5: 0.5},
    )


@pytest.fixture(scope="module")
def found(record):
    return study(record, StudyPlan(size=4, factor=2.0, judgements_per_tuple=EACH, campaigns=5))


def test_careless_people_agree_as_often_as_chance_and_are_held_against_those_who_count(record) -> None:
    shares = agreements(record)

    assert sorted(shares) == list(range(6))
    assert min(shares[person][0] for person in range(4)) > 0.75
    assert all(0.4 < shares[person][0] < 0.6 for person in (4, 5))


def test_a_person_whose_items_nobody_else_judged_has_no_agreement() -> None:
    items, people = np.array([[0, 1, 2], [0, 1, 2], [3, 4, 5]]), np.array([0, 1, 2])
    best, worst = np.zeros(3, dtype=int), np.full(3, 2)
    record = CampaignRecord(
        judged=Judgements.from_slots(items, best, worst, item_count=6, annotators=people),
        tuples=np.array([7, 7, 8]),
        best_slot=best,
        worst_slot=worst,
        best_position=best,
        worst_position=worst,
        required=np.full(3, 2),
        counted=np.ones(3, dtype=bool),
        excluded=frozenset(),
        gold_shares={},
    )

    shares = agreements(record)

    assert {person: (share, judgements) for person, (share, _error, judgements) in shares.items()} == {
        0: (1.0, 1),
        1: (1.0, 1),
    }


def test_a_study_says_how_reliable_the_campaign_is_and_will_be(found, record) -> None:
    now = found["reliability"]

    assert now["low"] < now["spearman"] < now["high"]
    assert found["judgements"] == int(record.counted.sum()) == 480
    # Eighths of the judgements; of the first 120, too few are of one tuple for a reliability.
    assert [point["judgements"] for point in found["curve"]] == [180, 240, 300, 360, 420, 480]
    assert found["curve"][-1]["spearman"] == pytest.approx(now["spearman"], abs=0.02)
    assert found["forecast"]["fitted"]
    assert found["forecast"]["maxdiff"]["mean"] > found["forecast"]["counting"]["mean"]


def test_a_study_forecasts_as_many_ties_as_there_were(found, record) -> None:
    tied = np.random.default_rng(8).random(len(record.judged)) < 0.4
    best, worst = (np.where(tied, -1, each) for each in (record.judged.best, record.judged.worst))
    plan = StudyPlan(size=4, factor=2.0, judgements_per_tuple=EACH, campaigns=5, resamples=8)

    with_ties = study(replace(record, judged=replace(record.judged, best=best, worst=worst)), plan)

    assert with_ties["forecast"]["fitted"]
    before, after = (one["forecast"]["reliability"]["mean"] for one in (found, with_ties))
    assert after < before - 0.05


def test_a_study_says_how_scores_repeat_on_other_tuples_by_either_method(found) -> None:
    across = found["across"]

    assert 0 < across["counting"] < across["maxdiff"] < 1
    assert across["counting"] < found["reliability"]["spearman"]


def test_a_study_says_what_no_split_says_and_what_fewer_judgements_give(found, record) -> None:
    assert 0 < found["components"]["score_icc"] < found["marginal_reliability"] < 1
    assert [point["judgements_per_tuple"] for point in found["per_tuple"]] == [1, 2, 3, 4]
    unnamed = study(replace(record, named=False), StudyPlan(4, 2.0, EACH, campaigns=2, resamples=8))
    assert (found["reliability"]["people"], unnamed["reliability"]["people"]) == (True, False)
    assert unnamed["components"]["annotator"] is None


def test_what_if_leaves_out_whoever_lies_below_the_threshold(found, record) -> None:
    steps = {row["threshold"]: row for row in found["what_if"]["agreement"]}

    assert (steps[0.0]["left_out"], steps[0.7]["left_out"]) == (0, 2)
    assert (steps[0.7]["people"], steps[0.7]["judgements"]) == (4, 480)
    assert steps[0.7]["reliability"] > steps[0.0]["reliability"]
    # As many random people leave some of the careless ones in.
    assert steps[0.7]["random"] < steps[0.7]["reliability"]
    assert steps[0.0]["random"] is None
    gold = {row["threshold"]: row for row in found["what_if"]["gold"]}
    assert (gold[0.5]["left_out"], gold[0.55]["left_out"]) == (1, 2)
    for rows in found["what_if"].values():
        left_out = [row["left_out"] for row in rows]
        assert left_out == sorted(left_out)  # a higher threshold brings nobody back


@pytest.mark.parametrize("measure", ["gold", "agreement"])
def test_what_if_begins_with_everybody_and_leaves_out_more_with_each_threshold(found, measure) -> None:
    steps = found["what_if"][measure]

    assert steps[0]["left_out"] == 0
    assert all(one["threshold"] < two["threshold"] for one, two in pairwise(steps))
    assert all(one["left_out"] <= two["left_out"] for one, two in pairwise(steps))


def test_a_study_counts_the_scores_in_each_twentieth_of_the_scale(found, record) -> None:
    scores = counting_scores(record.judged.only(record.counted)).values

    assert (
        found["scores"]["counts"] == np.bincount((20 * scores).astype(int).clip(0, 19), minlength=20).tolist()
    )
    assert found["scores"]["quartiles"][1] == np.median(scores)


def test_what_if_changes_nothing_where_it_is_what_is(record) -> None:
    plan = StudyPlan(size=4, factor=2.0, judgements_per_tuple=EACH, scenario_trials=10, seed=1)

    as_it_is = leaving_out_result(record, record.excluded, plan)

    assert as_it_is.rank == pytest.approx(1.0)


def test_an_exclusion_stands_with_its_before_and_after(found) -> None:
    (exclusion,) = found["exclusions"]

    assert exclusion["person"] == 5
    assert exclusion["before"]["people"] == 6
    assert exclusion["after"]["people"] == 5
    assert exclusion["after"]["rank"] == pytest.approx(1.0)
    assert 0.5 < exclusion["rank"] < 1.0


def test_the_tuples_of_lowest_agreement_come_first(found) -> None:
    shares = [row["agreement"] for row in found["lowest_agreement"]]

    assert shares == sorted(shares)
    assert len(shares) == 10
    assert all(row["tuple"] >= 100 for row in found["lowest_agreement"])


def two_tuples(gold_shares: dict[int, float]) -> CampaignRecord:
    """Two tuples of two items, the first decided 2 to 1 and the second 2 to 2."""
    tuples, people = np.array([7, 7, 7, 8, 8, 8, 8]), np.array([0, 1, 2, 0, 1, 2, 3])
    items = np.where(tuples[:, None] == 7, [[0, 1]], [[2, 3]])
    best = np.array([0, 0, 1, 0, 0, 1, 1])
    return CampaignRecord(
        judged=Judgements.from_slots(items, best, 1 - best, item_count=4, annotators=people),
        tuples=tuples,
        best_slot=best,
        worst_slot=1 - best,
        best_position=best,
        worst_position=1 - best,
        required=np.full(7, 4),
        counted=np.ones(7, dtype=bool),
        excluded=frozenset(),
        gold_shares=gold_shares,
    )


SMALL = StudyPlan(size=2, factor=0.5, judgements_per_tuple=4, campaigns=2, resamples=8)


def test_of_tuples_that_people_agree_on_alike_the_one_with_more_judgements_comes_first() -> None:
    found = study(two_tuples({}), SMALL)

    # Of 3 pairs of judgements of the first tuple 1 agrees, and of 6 pairs of the second 2.
    assert found["lowest_agreement"] == [
        {"tuple": 8, "agreement": pytest.approx(1 / 3), "judgements": 4},
        {"tuple": 7, "agreement": pytest.approx(1 / 3), "judgements": 3},
    ]


def test_somebody_who_got_78_of_100_gold_trials_right_lies_below_the_thresholds_from_80_on() -> None:
    found = study(two_tuples({0: 0.78}), SMALL)

    left_out = [row["threshold"] for row in found["what_if"]["gold"] if row["left_out"]]
    assert left_out == [0.8, 0.85, 0.9, 0.95]


def test_a_campaign_that_has_just_begun_is_forecast_with_as_many_people_as_there_are(record) -> None:
    begun = record.judged.people == 0
    plan = StudyPlan(size=4, factor=2.0, judgements_per_tuple=1, campaigns=2, resamples=8)

    found = study(replace(record, counted=begun), plan)

    usual = ForecastPlan(
        items=ITEMS, size=4, factor=2.0, judgements_per_tuple=1, people=1, campaigns=2, seed=plan.seed
    )
    assert not found["forecast"]["fitted"]
    assert found["forecast"]["counting"] == asdict(forecast(usual).counting_accuracy)


@pytest.mark.parametrize(("people", "simulated"), [(np.array([4, 9, 4]), 2), (None, ForecastPlan.people)])
def test_too_few_judgements_are_forecast_with_the_people_who_judged_or_else_with_as_many_as_usual(
    people, simulated
) -> None:
    items = np.arange(12).reshape(3, 4)
    every = Judgements(items, items[:, 0], items[:, 1], 12, people)
    plan = StudyPlan(size=4, factor=0.25, judgements_per_tuple=1, campaigns=2)

    found = _forecast(every, plan, unreported)

    usual = ForecastPlan(
        items=12, factor=0.25, judgements_per_tuple=1, people=simulated, campaigns=2, seed=plan.seed
    )
    assert not found["fitted"]
    assert found["counting"] == asdict(forecast(usual).counting_accuracy)


@pytest.mark.parametrize("role", ["best", "worst"])
def test_a_persons_position_is_shown_for_the_choice_that_chance_explains_least(role) -> None:
    always, even, items = np.full(20, 2), np.arange(20) % 4, np.tile(np.arange(4), (20, 1))
    best, worst = (always, even) if role == "best" else (even, always)
    record = CampaignRecord(
        judged=Judgements.from_slots(
            items, np.zeros(20, int), np.ones(20, int), item_count=4, annotators=np.zeros(20, int)
        ),
        tuples=np.arange(20),
        best_slot=np.zeros(20, int),
        worst_slot=np.ones(20, int),
        best_position=best,
        worst_position=worst,
        required=np.ones(20, int),
        counted=np.ones(20, bool),
        excluded=frozenset(),
        gold_shares={},
    )

    (person,) = _people(record, {})

    assert (person["role"], person["position"], person["share"]) == (role, 3, 1.0)


@pytest.mark.parametrize("measure", ["gold", "agreement"])
def test_thresholds_rise_from_0_and_stay_below_1(measure) -> None:
    steps = THRESHOLDS[measure]

    assert steps[0] == 0
    assert all(one < two for one, two in pairwise(steps))
    assert steps[-1] < 1


def test_somebody_who_always_takes_one_place_is_said_to(record) -> None:
    mine = record.judged.people == 4
    position = np.where(mine, 2, record.best_position)
    # By scipy's chisquare p = .0036, and 2 tests of 6 people make 12 p = .044.
    position[record.judged.people == 3] = np.repeat(np.arange(4), [47, 28, 23, 22])
    biased = replace(record, best_position=position)

    plan = StudyPlan(size=4, factor=2.0, judgements_per_tuple=EACH, campaigns=2, resamples=8)
    people = {row["person"]: row for row in study(biased, plan)["people"]}

    assert (people[4]["biased"], people[4]["role"], people[4]["position"], people[4]["share"]) == (
        True,
        "best",
        3,
        1.0,
    )
    assert [people[person]["biased"] for person in range(4)] == [False, False, False, True]


# A seed that would draw the same person twice, if that were allowed.
QUICK = StudyPlan(4, 0.5, judgements_per_tuple=4, campaigns=2, resamples=40, random_choices=1, seed=1239)


@pytest.fixture(scope="module")
def few() -> CampaignRecord:
    """16 items; two of four people answer nearly at random, and everybody takes every place equally often."""
    rng, latent = np.random.default_rng(3), np.linspace(-2, 2, 16)
    tuples = np.concatenate([rng.permutation(16).reshape(-1, 4) for _deck in range(4)])
    asked, people = np.tile(np.arange(len(tuples)), 4), np.repeat(np.arange(4), len(tuples))
    best, worst = np.empty_like(asked), np.empty_like(asked)
    for person, noise in enumerate((0.2, 0.3, 9.0, 9.0)):
        own = people == person
        best[own], worst[own] = simulated_choices(latent[tuples[asked[own]]], SimulatedAnnotator(noise), rng)
    places = np.tile(np.arange(4), len(tuples))
    return CampaignRecord(
        judged=Judgements.from_slots(tuples[asked], best, worst, item_count=16, annotators=people),
        tuples=asked,
        best_slot=best,
        worst_slot=worst,
        best_position=places,
        worst_position=places,
        required=np.full(len(asked), 4),
        counted=np.ones(len(asked), dtype=bool),
        excluded=frozenset(),
        gold_shares={},
    )


@pytest.fixture(scope="module")
def found_few(few) -> dict[str, Any]:
    return study(few, QUICK)


def test_the_curve_is_resampled_a_quarter_as_often_as_the_reliability_now(few, found_few) -> None:
    first = found_few["curve"][0]
    then, _note = reliability_now(
        few.judged.only(np.arange(first["judgements"])), trials=50, resamples=10, seed=QUICK.seed
    )

    assert first == {name: then[name] for name in first}


def test_random_people_who_are_left_out_for_comparison_are_as_many_different_ones(few, found_few) -> None:
    row = next(row for row in found_few["what_if"]["agreement"] if row["left_out"] == 2)
    quick = replace(QUICK, scenario_trials=QUICK.random_trials)

    twos = [leaving_out_result(few, two, quick).reliability for two in combinations(range(4), 2)]

    assert row["random"] is not None
    assert row["random"] in twos


def test_a_study_of_nothing_says_so(record) -> None:
    nothing = replace(
        record,
        judged=record.judged.only(np.zeros(len(record.judged), dtype=bool)),
        **{
            name: getattr(record, name)[:0]
            for name in (
                "tuples",
                "best_slot",
                "worst_slot",
                "best_position",
                "worst_position",
                "required",
                "counted",
            )
        },
        excluded=frozenset(),
        gold_shares={},
    )

    found = study(nothing, StudyPlan(size=4, factor=2.0, judgements_per_tuple=2, campaigns=2))

    assert found["reliability"] is None
    assert found["note"]
    assert (found["curve"], found["lowest_agreement"], found["exclusions"]) == ([], [], [])
    assert found["what_if"] == {"gold": [], "agreement": []}
    assert found["across"] is None
    assert found["forecast"]["fitted"] is False
