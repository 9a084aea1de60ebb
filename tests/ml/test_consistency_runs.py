"""A scoring of label consistency from rows to rows, on a tiny encoder."""

from dataclasses import asdict

import numpy as np
import pytest

from curation.exchange.dataset_card import dataset_card
from curation.exchange.exporting import pairs_export
from curation.models import PairScore, ScoreSet
from curation.pairs.judged_by import SIMULATED
from mlworkers import tasks
from mlworkers.models import Run
from mlworkers.plans.kinds import kind_named, plan_from
from mlworkers.science.realism.discrimination import auc
from tests.factories import (
    DatasetFactory,
    GeneratedPairFactory,
    PairFactory,
    RunFactory,
    ScoreSetFactory,
    SentenceFactory,
)
from tests.ml.tiny import WORDS
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db(transaction=True)
PAIRS = 60
TARGETS = (0.0, 1.0)


def sentences(rng, similar: bool, mark: str) -> tuple[str, str]:
    """Two sentences that differ in their last word, or in all."""
    words = rng.permutation(WORDS)
    first, second = words[:6], words[:6] if similar else words[6:12]
    return f"{' '.join(first)} {mark}a", f"{' '.join(second)} {mark}b"


def dataset_of(*, planted: int, slug: str = "planted"):
    """Generated pairs, of which the first `planted` have the wrong target, and as many pairs that people scored."""
    rng = np.random.default_rng(2)
    dataset = DatasetFactory(slug=slug)
    reference = ScoreSetFactory(dataset=dataset, name="reference", low=0.0, high=5.0)
    for number in range(PAIRS):
        similar = number % 2 == 1
        a, b = sentences(rng, similar, f"g{number}")
        GeneratedPairFactory(
            dataset=dataset,
            a=SentenceFactory(dataset=dataset, text=a),
            b=SentenceFactory(dataset=dataset, text=b, origin="machine"),
            intended=TARGETS[similar != (number < planted)],
        )
        a, b = sentences(rng, similar, f"h{number}")
        pair = PairFactory(
            dataset=dataset,
            split="train" if number < PAIRS - 10 else "test",
            a=SentenceFactory(dataset=dataset, text=a),
            b=SentenceFactory(dataset=dataset, text=b),
        )
        PairScore.objects.create(score_set=reference, pair=pair, value=4.5 if similar else 0.5)
    return dataset


def carried_out(dataset, model, **settings) -> Run:
    values = {
        "dataset": dataset.slug,
        "scores": "run 7: target",
        "model": str(model),
        "device": "cpu",
        "folds": 3,
        **settings,
    }
    return run_execute(run_plan("score_consistency", dataset, values))


def published(run: Run) -> ScoreSet:
    assert run.state == "succeeded", run.message
    return ScoreSet.objects.get(run_ref=run.pk, kind="consistency")


@pytest.mark.parametrize("human_scores", ["", "reference"])
def test_pairs_with_a_wrong_target_get_the_lowest_p_y(encoder_folder, human_scores: str) -> None:
    dataset = dataset_of(planted=6)

    score_set = published(carried_out(dataset, encoder_folder, human_scores=human_scores))

    assert (score_set.kind, score_set.low, score_set.high) == ("consistency", 0.0, 1.0)
    by_pair = list(score_set.scores.order_by("pair").values_list("value", flat=True))
    assert len(by_pair) == PAIRS
    assert auc(by_pair, np.arange(PAIRS) >= 6) > 0.95


def test_the_score_set_says_what_its_classifiers_learned_from(encoder_folder) -> None:
    dataset = dataset_of(planted=0)

    run = carried_out(dataset, encoder_folder, human_scores="reference")

    about = published(run).parameters
    assert about["circular"] is False
    assert about["trained_on"] == [
        {"dataset": "planted", "scores": "reference", "split": "train", "pairs": PAIRS - 10}
    ]
    assert about["planted_auc_low"] <= about["planted_auc"] <= about["planted_auc_high"]
    assert run.result["planted_auc"] == about["planted_auc"]


def test_p_y_that_follows_from_scores_of_simulated_annotators_has_their_mark(encoder_folder) -> None:
    dataset = dataset_of(planted=0)
    simulated = {"annotators": 3, "simulated_annotators": 3}
    dataset.score_sets.filter(name="reference").update(kind="human", parameters=simulated)

    run = carried_out(dataset, encoder_folder, human_scores="reference")

    assert run.judges == SIMULATED


def test_p_y_from_the_targets_themselves_is_marked_as_circular_everywhere(encoder_folder, tmp_path) -> None:
    dataset = dataset_of(planted=0)

    run = carried_out(dataset, encoder_folder)

    score_set = published(run)
    assert score_set.parameters["circular"] is True
    assert score_set.parameters["trained_on"][0]["scores"] == "run 7: target"
    assert "circular" in score_set.method
    assert "circular" in run.message
    assert run.result["circular"] is True
    outcome = pairs_export(dataset=dataset, path=tmp_path / "pairs.csv", format="csv")
    assert "circular" in dataset_card(dataset, outcome)


def test_human_scores_of_another_dataset_can_be_learned_from(encoder_folder) -> None:
    dataset, other = dataset_of(planted=6), dataset_of(planted=0, slug="other")
    dataset.score_sets.get(name="reference").delete()

    run = carried_out(dataset, encoder_folder, human_scores="reference", human_dataset="other")

    score_set = published(run)
    assert score_set.parameters["trained_on"][0]["dataset"] == other.slug
    assert score_set.parameters["human_snapshot"] == 1
    assert score_set.scores.count() == PAIRS


def test_pairs_with_sentences_of_another_split_are_not_learned_from(encoder_folder) -> None:
    dataset = dataset_of(planted=0)
    test_pair = dataset.pairs.filter(split="test").first()
    copy = SentenceFactory(dataset=dataset, text=f"{test_pair.a.text}!".upper())
    leaking = PairFactory(dataset=dataset, split="train", a=copy)
    PairScore.objects.create(score_set=dataset.score_sets.get(name="reference"), pair=leaking, value=1.0)

    run = carried_out(dataset, encoder_folder, human_scores="reference")

    assert run.result["held_out_left_out"] == 1
    assert run.result["learned_pairs"] == PAIRS - 10


def test_a_model_that_was_trained_on_the_sentences_is_refused(encoder_folder) -> None:
    dataset = dataset_of(planted=0)
    plan = plan_from(
        kind_named("train_encoder"),
        {
            "dataset": dataset.slug,
            "model": str(encoder_folder),
            "scores": "run 7: target",
            "epochs": 1,
            "batch_size": 32,
            "device": "cpu",
        },
    )
    training = RunFactory(kind="train_encoder", dataset=dataset, queue="gpu", plan=asdict(plan))
    tasks.execute(training.pk)

    run = carried_out(dataset, f"run:{training.pk}")

    assert run.state == "failed"
    assert f"was trained on {2 * PAIRS} of the sentences" in run.message
    assert not ScoreSet.objects.filter(run_ref=run.pk, kind="consistency").exists()


def test_too_few_human_scores_of_a_label_are_refused(encoder_folder) -> None:
    dataset = dataset_of(planted=0)
    dataset.score_sets.get(name="reference").scores.filter(value=4.5).delete()

    run = carried_out(dataset, encoder_folder, human_scores="reference")

    assert run.state == "failed"
    assert "Label 2 of 2 has 0 pairs to learn from" in run.message


def test_a_dataset_without_a_score_set_of_it_is_refused_before_the_run() -> None:
    with pytest.raises(ValueError, match="leave both empty"):
        plan_from(
            kind_named("score_consistency"),
            {"dataset": "planted", "scores": "run 7: target", "human_dataset": "other"},
        )
