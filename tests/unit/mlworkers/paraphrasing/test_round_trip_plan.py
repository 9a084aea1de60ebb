"""Settings of round-trip translation: pairs of k and temperature, there and back."""

import pytest

from mlworkers.plans.fields import PlanError
from mlworkers.science.paraphrasing.languages import language_code
from mlworkers.science.paraphrasing.round_trip_plan import (
    GRID,
    RoundTripPlan,
    samplings_read,
)
from mlworkers.science.paraphrasing.writing_plan import Decoding, Sampling, Search

NAMED = {"dataset": "news", "forward": "en-de", "backward": "de-en"}


def test_the_papers_settings_give_four_candidates_of_a_sentence() -> None:
    plan = RoundTripPlan(**NAMED)

    assert plan.candidates == 4
    assert [(trip.forward, trip.backward) for trip in plan.trips] == [
        (Sampling(20, 3.0), Sampling(20, 3.0)),
        (Sampling(20, 3.0), Sampling(30, 2.0)),
        (Sampling(30, 2.0), Sampling(20, 3.0)),
        (Sampling(30, 2.0), Sampling(30, 2.0)),
    ]
    assert [trip.name for trip in plan.trips][1] == "round trip k20 T3 back k30 T2"


def test_the_papers_grid_has_sixteen_settings_there_and_back() -> None:
    plan = RoundTripPlan(**NAMED, forward_settings="the paper's grid", backward_settings="the paper's grid")

    assert {(one.top_k, one.temperature) for one in GRID} == {
        (k, t) for k in (10, 20, 30, 40) for t in (1.0, 2.0, 3.0, 4.0)
    }
    assert plan.candidates == len(plan.trips) == 256


def test_the_baseline_is_a_beam_search_whose_best_is_kept() -> None:
    plan = RoundTripPlan(**NAMED, search=Search.BEAM)

    [trip] = plan.trips
    assert trip.forward == trip.backward == Decoding(5, 1, 0.75, 1.5)
    assert (trip.name, plan.candidates) == ("round trip", 1)


def test_of_a_beam_several_can_be_kept_on_the_way_back() -> None:
    plan = RoundTripPlan(**NAMED, search=Search.BEAM, best=3)

    [trip] = plan.trips
    assert (trip.forward.candidates, trip.backward.candidates, plan.candidates) == (1, 3, 3)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("20", "has “20”; give a whole number k and a temperature above 0, such as 20 3."),
        ("20 3 1", "has “20 3 1”"),
        ("k20 T3", "has “k20 T3”"),
        ("20 0", "has “20 0”"),
        ("0 3", "has “0 3”"),
        ("20 nan", "has “20 nan”"),
        ("20.5 3", "has “20.5 3”"),
        ("", "names no pair of k and temperature, or one twice"),
        ("20 3, 20 3.0", "names no pair of k and temperature, or one twice"),
    ],
)
def test_what_is_no_setting_is_refused_in_one_sentence(text, sentence) -> None:
    with pytest.raises(PlanError, match=f"“forward_settings” {sentence}"):
        samplings_read(text, setting="forward_settings")


def test_too_many_combinations_are_refused() -> None:
    many = ", ".join(f"{k} 1" for k in range(1, 20))

    with pytest.raises(PlanError, match="have 361 combinations; at most 256 are allowed"):
        RoundTripPlan(**NAMED, forward_settings=many, backward_settings=many)


def test_more_of_a_beam_than_it_has_are_refused() -> None:
    with pytest.raises(PlanError, match="“best” is 6, but “beams” is 5"):
        RoundTripPlan(**NAMED, search=Search.BEAM, best=6)


@pytest.mark.parametrize(
    ("name", "code"), [("en", "en"), ("deu", "de"), ("eng_Latn", "en"), ("pt-BR", "pt"), ("tlh", "tlh")]
)
def test_models_name_languages_by_several_codes(name, code) -> None:
    assert language_code(name) == code
