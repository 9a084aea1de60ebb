import pytest

from mlworkers.plans.fields import PlanError
from mlworkers.science.encoders.search_plan import SearchPlan

NAMED = {
    "dataset": "scenes",
    "model": "packaged:all-MiniLM-L6-v2",
    "scores": "run 7: target",
    "realism": "run 7: p_D",
    "test_score_set": "gold",
}


def planned(**values) -> SearchPlan:
    return SearchPlan(**{**NAMED, **values})


def test_the_default_grid_is_that_of_rise_s_temperatures_and_the_published_p_d() -> None:
    grid = planned().grid

    assert len(grid) == 5 * 3 * 2 * 2
    assert sorted({trial.temperature for trial in grid}) == [0.0, 0.5, 0.7, 0.9, 1.0]


def test_each_trial_and_seed_is_trained_and_the_chosen_settings_once_more_for_each_seed() -> None:
    assert planned(trials=4, seeds=3).trainings == 15


def test_a_trial_becomes_the_plan_of_an_encoder() -> None:
    plan = planned(max_length=64)
    trial = plan.grid[-1]

    encoder = plan.encoder(trial, 43)

    assert (encoder.temperature, encoder.learning_rate, encoder.epochs, encoder.batch_size) == (
        1.0,
        5e-5,
        3,
        32,
    )
    assert (encoder.seed, encoder.max_length, str(encoder.weighting)) == (43, 64, "realism")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"learning_rates": "1e-5, fast"}, "Value 2 of “learning_rates” is “fast”"),
        (
            {"learning_rates": "1e-5,1"},
            "Value 2 of “learning_rates” is “1”; give different numbers from 1e-08 to 0.1",
        ),
        ({"learning_rates": "nan"}, "Value 1 of “learning_rates” is “nan”"),
        ({"epochs": "1,2.5"}, "Value 2 of “epochs” is “2.5”"),
        ({"epochs": "3,1,3"}, "Value 3 of “epochs” is “3”"),
        ({"batch_sizes": "16,,32"}, "Value 2 of “batch_sizes” is “”"),
        ({"batch_sizes": ""}, "Value 1 of “batch_sizes” is “”"),
        ({"temperatures": "0.5,0"}, "Value 2 of “temperatures” is “0”"),
        ({"temperatures": "-1"}, "Value 1 of “temperatures” is “-1”"),
        ({"weighting": "plain"}, "“temperatures” has several values, and the weighting “plain” does not use"),
        ({"weighting": "rank"}, "“temperatures” has several values, and the weighting “rank” does not use"),
        ({"realism": ""}, "The weighting “realism” needs p_D"),
        ({"epochs": ",".join(map(str, range(1, 101)))}, "3000 combinations are more than 1000"),
        ({"dev_scores": "gold", "dev_split": "Test"}, "“dev_split” is “Test”, so test pairs would choose"),
        ({"dev_scores": "gold", "dev_split": ""}, "“dev_split” is “”, so test pairs would choose"),
        ({"dev_scores": "gold", "dev_split": "held", "test_split": "held"}, "“dev_split” is “held”"),
        ({"dev_scores": "gold", "dev_split": "dev", "test_split": ""}, "“dev_split” is “dev”"),
        (
            {"dev_scores": "gold", "dev_dataset": "other", "dev_split": "test"},
            "“dev_split” is “test”, so test pairs would choose",
        ),
    ],
)
def test_what_cannot_be_searched_is_said_in_one_sentence_with_value_and_place(values, sentence: str) -> None:
    with pytest.raises(PlanError) as raised:
        planned(**values)

    assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize(
    "values",
    [
        {"weighting": "plain", "temperatures": "fitted", "realism": ""},
        {"dev_scores": "gold", "dev_split": "dev"},
        {"dev_scores": "gold", "dev_dataset": "other", "dev_split": ""},
        {"epochs": ",".join(map(str, range(1, 101))), "trials": 20},
    ],
)
def test_what_can_be_searched_is_accepted(values) -> None:
    assert planned(**values).tried
