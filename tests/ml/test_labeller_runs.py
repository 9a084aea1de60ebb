"""A run that trains labellers of several seeds, on tiny models, and what labels with the best of them."""

import numpy as np
import pytest

from curation.files.progress import silent
from curation.models import ScoreSet
from curation.pairs.judged_by import SIMULATED
from curation.statistics.correlation import spearman
from mlworkers.models import Run
from mlworkers.runs.storage import artifact_path
from mlworkers.science.encoders.crossing import cross_scores
from mlworkers.science.encoders.saving import seen_by
from mlworkers.science.paraphrasing.labeller import load_labeller
from mlworkers.science.paraphrasing.labeller_plan import LabellerPlan
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.cross_encoder import load_cross_encoder
from tests.factories import PairFactory
from tests.ml.paraphrase_data import scored_scenes
from tests.ml.tiny import tiny_cross_encoder
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db(transaction=True)
SHORT = {"scores": "gold", "seeds": 2, "epochs": 2, "batch_size": 8, "learning_rate": 0.003, "device": "cpu"}


def carried_out(kind: str, dataset, **settings: object) -> Run:
    return run_execute(run_plan(kind, dataset, {"dataset": dataset.slug, **settings}))


def test_the_labeller_that_agrees_best_with_people_on_dev_pairs_is_kept(encoder_folder) -> None:
    dataset = scored_scenes()

    run = carried_out("train_labeller", dataset, model=str(encoder_folder), dev_split="dev", **SHORT)

    assert run.state == "succeeded", run.message
    spearmans = {one["seed"]: one["dev_spearman"] for one in run.result["labellers"]}
    assert set(spearmans) == {42, 43}
    assert spearmans[run.result["seed"]] == max(spearmans.values())
    model = load_cross_encoder(artifact_path(run.artifacts.get(kind="labeller")), choose_compute("cpu"))
    dev = dataset.pairs.filter(split="dev").order_by("pk")
    scores = cross_scores(model, *zip(*dev.values_list("a__text", "b__text"), strict=True), report=silent)
    people = dev.values_list("scores__value", flat=True)
    assert run.result["dev_spearman"] == pytest.approx(spearman(scores, np.array(people)), abs=1e-6)
    assert run.result["dev_spearman"] == pytest.approx(max(spearmans.values()), abs=1e-6)


def test_pairs_with_a_sentence_of_a_dev_pair_are_not_trained_on(encoder_folder) -> None:
    dataset = scored_scenes()
    dev = dataset.pairs.filter(split="dev").first()
    before = carried_out("train_labeller", dataset, model=str(encoder_folder), **SHORT | {"seeds": 1})
    shared = PairFactory(dataset=dataset, split="train", a=dev.a, b__text="A whale sleeps")
    dataset.score_sets.get(name="gold").scores.create(pair=shared, value=2)

    run = carried_out("train_labeller", dataset, model=str(encoder_folder), **SHORT | {"seeds": 1})

    assert run.result["training_pairs"] == before.result["training_pairs"]
    assert run.result["left_out"] == before.result["left_out"] + 1
    assert "A whale sleeps" not in seen_by(artifact_path(run.artifacts.get(kind="labeller")))


def test_labels_by_a_labeller_of_the_sts_benchmark_say_so(encoder_folder) -> None:
    dataset = scored_scenes(source="stsb, main-news")
    labeller = carried_out("train_labeller", dataset, model=str(encoder_folder), **SHORT | {"seeds": 1})

    labelled = carried_out("label_paraphrases", dataset, model=f"run:{labeller.pk}", device="cpu")

    assert labelled.state == "succeeded", labelled.message
    assert labeller.result["labels_from"] == "STS-B"
    sets = ScoreSet.objects.filter(run_ref=labelled.pk)
    assert {one.parameters["labels_from"] for one in sets} == {"STS-B"}


def test_a_labeller_that_learned_from_simulated_annotators_has_their_mark(encoder_folder) -> None:
    dataset = scored_scenes()
    dataset.score_sets.update(kind="human", parameters={"annotators": 3, "simulated_annotators": 3})

    run = carried_out("train_labeller", dataset, model=str(encoder_folder), **SHORT | {"seeds": 1})

    assert run.judges == SIMULATED
    assert run.artifacts.get(kind="labeller").card["judged_by"] == SIMULATED


def test_a_base_model_with_several_outputs_is_refused_in_one_sentence(tmp_path) -> None:
    dataset, base = scored_scenes(), tiny_cross_encoder(tmp_path, values=3)

    run = carried_out("train_labeller", dataset, model=str(base), **SHORT)

    assert run.state == "failed"
    assert "gives 3 values for a pair; train an encoder, or a cross-encoder that gives one" in run.message
    assert not dataset.snapshots.exists()


def test_batches_hold_pairs_of_like_length_so_that_little_is_padding() -> None:
    plan = LabellerPlan(dataset="scenes", model="any", scores="gold", batch_size=16, epochs=2)
    lengths = np.random.default_rng(1).permutation(np.repeat([10, 20, 60, 100], 80))

    schedule = plan.schedule(lengths.tolist(), seed=3)

    assert schedule.steps == plan.steps(len(lengths)) == 40
    for epoch in range(2):
        batches = [schedule.batch(epoch * 20 + step) for step in range(20)]
        assert sorted(np.concatenate(batches).tolist()) == list(range(320))
        assert sum(len(batch) * lengths[batch].max() for batch in batches) < 1.2 * lengths.sum()
        assert schedule.is_evaluated(20 * (epoch + 1))


def test_a_new_head_follows_from_the_seed(encoder_folder) -> None:
    plan = LabellerPlan(dataset="scenes", model="any", scores="gold")
    same, again, other = (
        load_labeller(encoder_folder, plan, choose_compute("cpu"), seed=seed).similarities(
            ["a dog"], ["the cat"]
        )
        for seed in (1, 1, 2)
    )

    assert same == again
    assert same != other
