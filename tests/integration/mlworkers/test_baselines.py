"""What a comparison says of its baseline model, and of the human scores behind its encoders."""

import pytest

from mlworkers.kinds.comparisons.baselines import baseline_note
from tests.factories import DatasetFactory, RunFactory, ScoreSetFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def scenes():
    return DatasetFactory(slug="scenes")


def comparison(scenes, **plan):
    plan = {"dataset": "scenes", "model": "packaged:all-MiniLM-L6-v2", **plan}
    return RunFactory(kind="compare_weightings", dataset=scenes, plan=plan)


def generated_scores(scenes, generator: str):
    run = RunFactory(kind="generate_pairs", dataset=scenes, plan={"dataset": "scenes", "model": generator})
    return ScoreSetFactory(dataset=scenes, kind="target", name="asked for", run_ref=run.pk)


def test_scores_that_people_gave_are_called_supervised(scenes) -> None:
    ScoreSetFactory(dataset=scenes, kind="human", name="judged")

    note = baseline_note(comparison(scenes, scores="judged"))

    assert note == (
        "The baseline model is packaged:all-MiniLM-L6-v2 without further training; its publisher says on what. "
        "The other encoders are supervised: people gave the scores “judged”."
    )


@pytest.mark.parametrize(("kind", "supervised"), [("reference", True), ("human", True), ("model", False)])
def test_a_generator_that_saw_human_scores_makes_its_encoders_supervised(
    scenes, kind: str, supervised: bool
) -> None:
    ScoreSetFactory(dataset=scenes, kind=kind, name="gold")
    generator = RunFactory(
        kind="bootstrap_generator", dataset=scenes, plan={"dataset": "scenes", "score_set": "gold"}
    )
    generated_scores(scenes, f"run:{generator.pk}")

    note = baseline_note(comparison(scenes, scores="asked for"))

    assert (f"through their generator: run {generator.pk} trained it with human scores" in note) == supervised
    assert ("no human scores reached the other encoders" in note) != supervised


def test_a_generator_from_elsewhere_brought_no_human_scores_as_far_as_is_known(scenes) -> None:
    generated_scores(scenes, "gpt2")

    note = baseline_note(comparison(scenes, scores="asked for"))

    assert note.endswith("As far as the runs here say, no human scores reached the other encoders.")


def consistency(scenes, *, circular: bool) -> None:
    learned = {"dataset": "other", "scores": "run 3: target" if circular else "judged"}
    parameters = {"circular": circular, "trained_on": [learned]}
    ScoreSetFactory(
        dataset=scenes, kind="consistency", name="run 4: p_y", low=0.0, high=1.0, parameters=parameters
    )


def test_weights_that_learned_from_human_scores_are_supervised(scenes) -> None:
    generated_scores(scenes, "gpt2")
    consistency(scenes, circular=False)

    note = baseline_note(comparison(scenes, scores="asked for", consistency="run 4: p_y"))

    assert note.endswith(
        "Weights of “run 4: p_y” are supervised: p_y learned from the human scores “judged” of other."
    )
    assert "no human scores" not in note


def test_weights_that_learned_from_the_targets_are_called_circular(scenes) -> None:
    generated_scores(scenes, "gpt2")
    consistency(scenes, circular=True)

    note = baseline_note(comparison(scenes, scores="asked for", consistency="run 4: p_y"))

    assert "no human scores reached the other encoders" in note
    assert note.endswith("“run 4: p_y” is circular: its p_y learned from the target similarities themselves.")


def test_a_baseline_that_a_run_trained_says_on_what(scenes) -> None:
    run = RunFactory(
        kind="train_encoder", dataset=scenes, plan={"dataset": "scenes", "model": "m", "scores": "first"}
    )
    ScoreSetFactory(dataset=scenes, kind="human", name="judged")

    note = baseline_note(comparison(scenes, scores="judged", model=f"run:{run.pk}"))

    assert note.startswith(f"The baseline model is run:{run.pk}, trained on the scores “first” of scenes.")


def test_a_baseline_with_random_weights_has_learned_nothing(scenes) -> None:
    run = RunFactory(kind="initialise_encoder", dataset=scenes, plan={"dataset": "scenes"})
    ScoreSetFactory(dataset=scenes, kind="human", name="judged")

    note = baseline_note(comparison(scenes, scores="judged", model=f"run:{run.pk}"))

    assert note.startswith(
        f"The baseline model is run:{run.pk}, a small encoder with random weights: it has learned nothing. The other"
    )


def test_a_comparison_whose_plan_names_no_model_says_nothing(scenes) -> None:
    assert baseline_note(RunFactory(kind="compare_weightings", dataset=scenes, plan={})) == ""
