"""What plans of trainings and comparisons accept."""

from dataclasses import asdict

import pytest

from mlworkers.plans.kinds import kind_named, plan_from
from mlworkers.science.encoders.plan import (
    ComparisonPlan,
    EncoderPlan,
    PlanError,
    Source,
    Weighting,
    sources_listed,
)

NAMES = {"dataset": "scenes", "model": "m", "scores": "s", "realism": "p", "test_score_set": "gold"}


def comparison(**settings) -> ComparisonPlan:
    return ComparisonPlan(**NAMES, **settings)


def test_a_comparison_gives_each_encoder_its_own_plan() -> None:
    settings = {"seeds": 2, "first_seed": 7, "epochs": 5, "filter_share": 0.3}
    plan = comparison(weightings="plain, filter", controls=False, **settings)

    made = [plan.encoder(weighting, seed) for weighting in plan.chosen for seed in plan.all_seeds]

    assert [(one.weighting, one.seed) for one in made] == [
        (Weighting.PLAIN, 7), (Weighting.PLAIN, 8), (Weighting.FILTER, 7), (Weighting.FILTER, 8)
    ]  # fmt: skip
    assert {(one.epochs, one.filter_share, one.scores, one.realism) for one in made} == {(5, 0.3, "s", "p")}


def test_a_comparison_has_five_seeds_and_its_controls_unless_they_are_left_out() -> None:
    assert len(comparison().all_seeds) == 5
    assert comparison().chosen == (
        "plain",
        "realism",
        "filter",
        "random",
        "shuffle",
        "shuffle-filter",
        "constant",
    )
    assert comparison(weightings="plain,shuffle,realism").chosen == (
        "plain",
        "shuffle",
        "realism",
        "constant",
    )
    assert comparison(weightings="plain,realism", controls=False).chosen == ("plain", "realism")


def test_each_weighting_of_a_comparison_gets_the_shuffle_of_its_own_weights() -> None:
    chosen = comparison(weightings="plain,consistency,product,random", consistency="p_y").chosen

    added = ("shuffle-consistency", "shuffle-product", "constant")
    assert chosen == ("plain", "consistency", "product", "random", *added)


@pytest.mark.parametrize(
    ("weightings", "needs"),
    [
        ("plain,random", set()),
        ("plain,verdicts", set()),
        ("plain,realism", {"realism"}),
        ("plain,filter", {"realism"}),
        ("plain,ratio", {"realism"}),
        ("plain,rank", {"realism"}),
        ("plain,shuffle", {"realism"}),
        ("plain,consistency", {"consistency"}),
        ("plain,filter-consistency", {"consistency"}),
        ("plain,shuffle-consistency", {"consistency"}),
        ("plain,product", {"realism", "consistency"}),
    ],
)
def test_a_comparison_asks_for_the_score_sets_that_its_weightings_need(
    weightings: str, needs: set[str]
) -> None:
    both = {"realism": "p_D set", "consistency": "p_y set"}
    others = {name: value for name, value in NAMES.items() if name not in both}

    plan = ComparisonPlan(**others, **{name: both[name] for name in needs}, weightings=weightings)

    assert plan.chosen[0] == "plain"
    for name in needs:
        rest = {one: both[one] for one in needs - {name}}
        with pytest.raises(PlanError, match=f"choose a score set for “{name}”"):
            ComparisonPlan(**others, **rest, weightings=weightings)


def test_every_setting_of_an_encoder_but_weighting_and_seed_is_the_comparison_s() -> None:
    names = asdict(comparison()).keys()

    assert EncoderPlan.__dataclass_fields__.keys() - names == {"weighting", "seed"}


@pytest.mark.parametrize(
    ("weightings", "sentence"),
    [
        ("realism,filter", "lacks plain, with which the others are compared; add it"),
        ("", "lacks plain"),
        ("plain,realistic", "There is no weighting “realistic”; choose from plain, realism, consistency"),
        ("plain,filter,plain", "“plain” is named twice"),
    ],
)
def test_weightings_that_cannot_be_compared_are_refused(weightings: str, sentence: str) -> None:
    with pytest.raises(PlanError, match=sentence):
        comparison(weightings=weightings)


@pytest.mark.parametrize("kind", ["evaluate_encoder", "compare_weightings"])
def test_an_interval_needs_enough_resamples_or_none(kind: str) -> None:
    names = {**NAMES, "score_set": "gold"}
    settings = kind_named(kind).settings
    values = {one.name: names[one.name] for one in settings if one.required or one.preselected}

    assert plan_from(kind_named(kind), values | {"bootstrap": "0"}).bootstrap == 0
    assert plan_from(kind_named(kind), values | {"bootstrap": "100"}).bootstrap == 100
    with pytest.raises(PlanError, match="99 resamples are too few; give at least 100, or 0 for no interval"):
        plan_from(kind_named(kind), values | {"bootstrap": "99"})


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"epochs": 0}, "“epochs” is 0; it must be at least 1"),
        ({"batch_size": 0}, "“batch_size” is 0; it must be at least 1"),
        ({"learning_rate": 0}, "“learning_rate” is 0.0; it must be at least 1e-08"),
        ({"warmup": 1.5}, "“warmup” is 1.5; it must be at most 1.0"),
        ({"filter_share": 1}, "“filter_share” is 1.0; it must be at most 0.95"),
        ({"validation_share": 0.9}, "“validation_share” is 0.9; it must be at most 0.5"),
        ({"weighting": "gold"}, "“weighting” is “gold”; choose one of plain, realism"),
        ({"normalise": "sum"}, "“normalise” is “sum”; choose one of none, mean1 and batch"),
        ({"precision": "float16"}, "choose one of float32, bfloat16 and auto"),
        ({"seed": -1}, "“seed” is -1; it must be at least 0"),
        ({"devices": "0"}, "“devices” is “0”; give all, or a number from 1 to 64"),
        ({"devices": "two"}, "“devices” is “two”; give all, or a number"),
        ({"devices": "99999999999999999999"}, "give all, or a number from 1 to 64"),
        (
            {"device": "cuda:1", "devices": "all"},
            "“device” names one GPU, cuda:1; choose auto or cuda, or 1 for “devices”",
        ),
        ({"weighting": "filter"}, "The weighting “filter” needs p_D; choose a score set for “realism”"),
    ],
)
def test_an_encoder_s_plan_out_of_range_is_refused_with_one_sentence(values: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        plan_from(kind_named("train_encoder"), {"dataset": "d", "model": "m", "scores": "s"} | values)


def test_further_sources_name_p_d_and_p_y_where_they_have_them() -> None:
    found = sources_listed("a | gold; b | target | p_D ; c | target | | p_y;")

    assert found == (Source("a", "gold"), Source("b", "target", "p_D"), Source("c", "target", "", "p_y"))


@pytest.mark.parametrize("text", ["a", "a |", "| gold", "a | b | c | d | e"])
def test_a_source_without_its_scores_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match=r"give dataset \| training scores"):
        sources_listed(text)


@pytest.mark.parametrize(
    ("weightings", "sources", "says"),
    [
        ("product", "b | target | p_D", "needs p_y; row 1 of “sources” names none for “b”"),
        ("consistency", "b | target", "needs p_y; row 1 of “sources” names none for “b”"),
        ("realism", "b | target | | p_y", "needs p_D; row 1 of “sources” names none for “b”"),
    ],
)
def test_every_source_needs_the_score_sets_that_a_weighting_reads(weightings, sources, says) -> None:
    with pytest.raises(PlanError, match=says):
        comparison(weightings=weightings, consistency="p_y", sources=sources)
