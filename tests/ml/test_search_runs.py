"""A search over settings, on a tiny model."""

import json
import shutil

import numpy as np
import pytest
from django.urls import reverse
from scipy.special import expit, logit
from scipy.stats import rankdata

from curation.models import PairScore, ScoreSet
from mlworkers.kinds.comparisons import searching
from mlworkers.models import Run
from mlworkers.pipelines import experiment
from mlworkers.runs.storage import home_path
from mlworkers.science.encoders.saving import learned_save
from tests.factories import PairFactory, ScoreSetFactory, SentenceFactory, UserFactory, client_of
from tests.ml.encoder_data import dataset_with_pairs, scene, split_set_here
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db(transaction=True)
SETS = {"scores": "run 7: target", "realism": "run 7: p_D", "test_score_set": "gold"}
SHORT = {
    "learning_rates": "0.001",
    "epochs": "1",
    "batch_sizes": "8",
    "dev_share": 0.25,
    "bootstrap": 100,
    "device": "cpu",
}


@pytest.fixture
def dataset(db):
    made = dataset_with_pairs()
    made.score_sets.filter(name="run 7: p_D").update(parameters={"temperature": 2.0})
    return made


@pytest.fixture
def dev(dataset) -> ScoreSet:
    """Scored pairs of the split dev."""
    scores = ScoreSetFactory(dataset=dataset, name="dev gold", low=0.0, high=5.0)
    for number in range(6):
        a, b = (
            SentenceFactory(dataset=dataset, text=f"{scene(number + n)} a man is {number}") for n in (0, 7)
        )
        pair = PairFactory(dataset=dataset, split="dev", a=a, b=b)
        PairScore.objects.create(score_set=scores, pair=pair, value=number)
    return scores


def searched(dataset, model, state: str = "succeeded", **settings) -> Run:
    values = {"dataset": dataset.slug, "model": str(model), **SETS, **SHORT, **settings}
    return run_execute(run_plan("search_settings", dataset, values), state)


def test_every_trial_is_stored_and_the_best_on_dev_pairs_is_chosen(dataset, encoder_folder, dev) -> None:
    run = searched(
        dataset, encoder_folder, temperatures="fitted,0.5", learning_rates="0.001,0.01", dev_scores="dev gold"
    )

    trials = run.result["trials"]
    figures = [trial["spearman"] for trial in trials]
    assert [(trial["temperature"], trial["learning_rate"]) for trial in trials] == [
        (0.0, 0.001), (0.0, 0.01), (0.5, 0.001), (0.5, 0.01)
    ]  # fmt: skip
    assert run.result["chosen_trial"] == 1 + int(np.argmax(figures))
    assert run.result["dev_spearman"] == max(figures)
    assert all(trial["low"] <= trial["spearman"] <= trial["high"] for trial in trials)
    assert (run.result["dev_pairs"], run.result["pairs"], run.result["chosen_by"]) == (
        6,
        12,
        "scenes, dev gold, dev",
    )


def test_the_test_scores_are_read_for_the_chosen_settings_alone(
    dataset, encoder_folder, dev, monkeypatch
) -> None:
    measured, measure = [], experiment.correlation_measured

    def watched(metric, cosines, human, **about):
        measured.append(len(human))
        return measure(metric, cosines, human, **about)

    monkeypatch.setattr(experiment, "correlation_measured", watched)

    run = searched(dataset, encoder_folder, temperatures="fitted,0.5,0.9", dev_scores="dev gold", seeds=2)

    assert measured == [6] * 6 + [12] * 2  # dev pairs of each trial and seed, then test pairs of each seed
    assert run.evaluations.filter(metric="spearman").count() == 2
    assert run.artifacts.filter(kind="encoder").count() == 2


def test_the_worst_errors_are_those_of_the_chosen_encoders_on_the_test_pairs(
    dataset,
    encoder_folder,
) -> None:
    run = searched(dataset, encoder_folder, temperatures="fitted", seeds=2)

    kept = run.result["furthest"]
    gold = dict(PairScore.objects.filter(score_set__name="gold").values_list("pair_id", "value"))
    people, encoders = [row[1] for row in kept], [row[2] for row in kept]
    by_hand = (rankdata(encoders) - rankdata(people)) / len(kept)
    assert len(kept) == run.result["pairs"]
    assert people == pytest.approx([gold[row[0]] for row in kept])
    assert [row[3] for row in kept] == pytest.approx(by_hand.tolist())
    assert [abs(row[3]) for row in kept] == sorted((abs(row[3]) for row in kept), reverse=True)
    shown = client_of(UserFactory(is_staff=True)).get(reverse("mlworkers:run_detail", args=[run.pk]))
    assert [one.pair.pk for one in shown.context["furthest"].pairs] == [row[0] for row in kept]
    assert "The encoder's score is the mean over the seeds." in shown.content.decode()


def test_without_dev_scores_a_part_of_the_training_pairs_chooses(dataset, encoder_folder) -> None:
    run = searched(dataset, encoder_folder, temperatures="fitted")

    assert run.result["chosen_by"].startswith("synthetic: generated pairs")
    assert run.result["dev_pairs"] >= 3
    assert run.result["training_pairs"] + run.result["dev_pairs"] <= 24


def test_a_trial_that_fails_says_why_and_the_others_go_on(dataset, encoder_folder, monkeypatch) -> None:
    train = searching.encoder_train

    def fails_at_half(base, rows, plan, **about):
        if plan.temperature == 0.5:
            raise ValueError(
                "The loss is not a number any more at step 1 of 3; choose a lower learning rate."
            )
        return train(base, rows, plan, **about)

    monkeypatch.setattr(searching, "encoder_train", fails_at_half)

    run = searched(dataset, encoder_folder, temperatures="0.5,fitted")

    failed, whole = run.result["trials"]
    assert (failed["spearman"], failed["failed"][:26]) == (None, "The loss is not a number a")
    assert (run.result["failed"], run.result["chosen_trial"]) == (1, 2)
    assert whole["spearman"] is not None


def test_where_every_trial_fails_the_run_fails_with_the_first_reason(
    dataset, encoder_folder, monkeypatch
) -> None:
    def fails(*args, **about):
        raise ValueError("The loss is not a number any more.")

    monkeypatch.setattr(searching, "encoder_train", fails)

    run = searched(dataset, encoder_folder, state="failed", temperatures="fitted")

    assert run.message == (
        "No trial has a dev figure. The first failed with: The loss is not a number any more."
    )


def test_a_search_draws_as_many_trials_as_it_is_asked_for(dataset, encoder_folder) -> None:
    run = searched(dataset, encoder_folder, trials=2)

    assert (run.result["tried"], run.result["combinations"], len(run.result["trials"])) == (2, 5, 2)


def test_the_chosen_settings_make_the_encoder_that_training_with_them_makes(dataset, encoder_folder) -> None:
    run = searched(dataset, encoder_folder, temperatures="0.5")
    again = searched(dataset, encoder_folder, temperatures="0.5", snapshot=1)

    first, second = (each.artifacts.get() for each in (run, again))
    assert first.card["plan"]["temperature"] == 0.5
    weights = [(home_path(one.path) / "model.safetensors").read_bytes() for one in (first, second)]
    assert weights[0] == weights[1]


def test_weights_are_p_d_at_the_temperature_of_the_trial(dataset, encoder_folder, monkeypatch) -> None:
    seen, train = {}, searching.encoder_train

    def watched(base, rows, plan, **about):
        seen[plan.temperature] = rows.realism
        return train(base, rows, plan, **about)

    monkeypatch.setattr(searching, "encoder_train", watched)

    searched(dataset, encoder_folder, temperatures="fitted,0.5")

    # Published with the temperature 2, so that the logit of p_D is multiplied by 2 / 0.5.
    assert seen[0.5] == pytest.approx(expit(logit(seen[0.0]) * 4))


def test_p_d_of_an_unknown_temperature_cannot_be_brought_to_another(dataset, encoder_folder) -> None:
    dataset.score_sets.filter(name="run 7: p_D").update(parameters={})

    run = searched(dataset, encoder_folder, state="failed", temperatures="fitted,0.5")

    assert run.message.startswith("The score set “run 7: p_D” does not say with which temperature")
    searched(dataset, encoder_folder, temperatures="fitted")


def test_pairs_that_the_base_has_seen_have_no_part_in_the_headline(dataset, encoder_folder, tmp_path) -> None:
    base = tmp_path / "base"
    shutil.copytree(encoder_folder, base)
    test_pair = dataset.pairs.filter(split="test", scores__score_set__name="gold").order_by("pk")[0]
    learned_save(base, [test_pair.a.text])

    run = searched(dataset, base, temperatures="fitted", learning_rates="0.001")

    both = run.result["all_and_unseen"]
    assert both["all pairs"]["pairs"] == run.result["pairs"] + run.result["test_left_out"]
    assert run.result["test_left_out"] >= 1
    assert both["unseen pairs"]["spearman"] == run.result["test_spearman"]
    assert run.result["training_data"] == "1 sentence is known"


def shares_a_sentence(dataset, split: str, scores: ScoreSet) -> str:
    """A sentence of a training pair that a person wrote, which is also one of a scored pair of another split."""
    text = dataset.pairs.filter(split="train").order_by("pk")[0].a.text
    PairFactory(dataset=dataset, split="train", a=dataset.sentences.get(text=text), b__text="a boat sinks")
    pair = PairFactory(dataset=dataset, split=split, a__text=text.upper(), b__text="a tree stands")
    PairScore.objects.create(score_set=scores, pair=pair, value=3.0)
    return text


@pytest.mark.parametrize(("split", "pairs"), [("test", 13), ("dev", 7)])
def test_splits_that_were_drawn_and_leak_are_refused(dataset, encoder_folder, dev, split, pairs) -> None:
    scores = dev if split == "dev" else dataset.score_sets.get(name="gold")
    shares_a_sentence(dataset, split, scores)
    given = {"temperatures": "fitted", "dev_scores": "dev gold"}
    published = searched(dataset, encoder_folder, **given)
    split_set_here(dataset.pairs.latest("pk"))

    drawn = searched(dataset, encoder_folder, state="failed", **given)
    allowed = searched(dataset, encoder_folder, **given, leaks="allow")

    assert drawn.message.startswith(
        f"1 of the {pairs} pairs of the split “{split}” share a sentence with the split “train”. Draw the splits again"
    )
    counts = [(run.result["pairs"], run.result["dev_pairs"]) for run in (published, allowed)]
    assert counts == [(13, 6) if split == "test" else (12, 7)] * 2


def test_no_trial_is_trained_on_a_sentence_of_the_pairs_that_choose(
    dataset, encoder_folder, dev, monkeypatch
) -> None:
    text, trained, train = shares_a_sentence(dataset, "dev", dev), list[str](), searching.encoder_train

    def watched(base, rows, plan, **about):
        trained.extend(rows.sentences)
        return train(base, rows, plan, **about)

    monkeypatch.setattr(searching, "encoder_train", watched)

    run = searched(dataset, encoder_folder, temperatures="fitted", dev_scores="dev gold")

    assert (run.result["dev_pairs"], run.result["held_out_left_out"]) == (7, 1)
    assert trained
    assert text not in trained


def test_dev_pairs_that_the_base_has_seen_choose_nothing(dataset, encoder_folder, dev, tmp_path) -> None:
    base = tmp_path / "base"
    shutil.copytree(encoder_folder, base)
    learned_save(base, [dataset.pairs.filter(split="dev").order_by("pk")[0].a.text])

    run = searched(dataset, base, temperatures="fitted", dev_scores="dev gold")

    assert (run.result["dev_pairs"], run.result["dev_left_out"]) == (5, 1)


def test_test_pairs_that_were_seen_in_another_split_of_the_dataset_are_refused(
    dataset, encoder_folder, tmp_path
) -> None:
    base = tmp_path / "base"
    shutil.copytree(encoder_folder, base)
    test_pair = dataset.pairs.filter(split="test", scores__score_set__name="gold").order_by("pk")[0]
    learned_save(base, [test_pair.a.text])
    told = json.loads((base / "semblance.json").read_text())
    (base / "semblance.json").write_text(json.dumps({**told, "trained_on_splits": [["scenes", "train"]]}))

    refused = searched(dataset, base, state="failed", temperatures="fitted")
    allowed = searched(dataset, base, temperatures="fitted", leaks="allow")

    assert "hold a sentence that the encoder has seen; it was trained on the split “train”" in refused.message
    assert allowed.result["test_left_out"] >= 1
