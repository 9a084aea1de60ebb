"""A run that publishes a model's score of every pair, on tiny models."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from curation.models import ScoreSet
from mlworkers import tasks
from mlworkers.kinds.encoders import scoring_pairs
from mlworkers.models import Run
from mlworkers.plans.kinds import kind_named, plan_from
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.pretrained.compute import choose_compute
from tests.factories import RunFactory
from tests.ml.encoder_data import dataset_with_pairs
from tests.ml.tiny import tiny_cross_encoder
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dataset(db):
    return dataset_with_pairs(generated=6, tested=5)


@pytest.fixture(scope="module")
def cross_folder(tmp_path_factory) -> Path:
    return tiny_cross_encoder(tmp_path_factory.mktemp("cross"))


def carried_out(dataset, model: object, **settings: object) -> Run:
    values = {"dataset": dataset.slug, "model": str(model), "device": "cpu", **settings}
    return run_execute(run_plan("score_pairs", dataset, values))


def stored(run: Run) -> dict[tuple[str, str], float]:
    scores = ScoreSet.objects.get(run_ref=run.pk, kind="model").scores.select_related("pair__a", "pair__b")
    return {(score.pair.a.text, score.pair.b.text): score.value for score in scores}


def test_an_encoder_s_cosines_become_a_score_set_of_kind_model(dataset, encoder, encoder_folder) -> None:
    run = carried_out(dataset, encoder_folder)

    assert run.state == "succeeded", run.message
    score_set = ScoreSet.objects.get(run_ref=run.pk, kind="model")
    assert (score_set.kind, score_set.low, score_set.high) == ("model", -1.0, 1.0)
    assert score_set.parameters["model_sha256"]
    found = stored(run)
    assert len(found) == dataset.pairs.count()
    first, second = zip(*found, strict=True)
    expected = pair_cosines(encoder, first, second, choose_compute("cpu")).values
    assert list(found.values()) == pytest.approx(expected.tolist(), abs=1e-6)


def test_a_cross_encoder_s_score_is_the_mean_of_both_orders(dataset, cross_folder) -> None:
    run = carried_out(dataset, cross_folder)

    assert run.state == "succeeded", run.message
    score_set = ScoreSet.objects.get(run_ref=run.pk, kind="model")
    assert (score_set.low, score_set.high) == (0.0, 1.0)
    tokenizer = AutoTokenizer.from_pretrained(cross_folder)
    model = AutoModelForSequenceClassification.from_pretrained(cross_folder).eval()

    def alone(a: str, b: str) -> float:
        with torch.inference_mode():
            return float(torch.sigmoid(model(**tokenizer(a, b, return_tensors="pt")).logits)[0, 0])

    for (a, b), value in stored(run).items():
        assert value == pytest.approx((alone(a, b) + alone(b, a)) / 2, abs=1e-5)


def test_shards_change_no_score(dataset, encoder_folder, monkeypatch) -> None:
    whole = stored(carried_out(dataset, encoder_folder))
    monkeypatch.setattr(scoring_pairs, "PAIRS_IN_SHARD", 3)

    in_parts = stored(carried_out(dataset, encoder_folder))

    assert in_parts.keys() == whole.keys()
    assert np.allclose(list(in_parts.values()), [whole[pair] for pair in in_parts], atol=1e-6)


def test_only_the_chosen_split_is_scored(dataset, encoder_folder) -> None:
    run = carried_out(dataset, encoder_folder, split="test")

    assert len(stored(run)) == 5


def test_a_split_without_pairs_is_refused(dataset, encoder_folder) -> None:
    run = carried_out(dataset, encoder_folder, split="dev")

    assert run.state == "failed"
    assert "no pair of the split “dev”" in run.message
    assert not ScoreSet.objects.filter(run_ref=run.pk).exists()


def test_pairs_that_the_encoder_was_trained_on_are_counted(dataset, encoder_folder) -> None:
    plan = plan_from(
        kind_named("train_encoder"),
        {
            "dataset": dataset.slug,
            "model": str(encoder_folder),
            "scores": "run 7: target",
            "weighting": "plain",
            "validation_share": 0.0,
            "epochs": 1,
            "batch_size": 8,
            "device": "cpu",
        },
    )
    training = RunFactory(kind="train_encoder", dataset=dataset, queue="gpu", plan=asdict(plan))
    tasks.execute(training.pk)

    run = carried_out(dataset, f"run:{training.pk}")

    assert run.state == "succeeded", run.message
    assert run.result["pairs_with_training_sentences"] == 6


def test_a_model_with_several_values_is_refused(dataset, tmp_path) -> None:
    run = carried_out(dataset, tiny_cross_encoder(tmp_path / "three", values=3))

    assert run.state == "failed"
    assert "gives 3 values for a pair" in run.message
