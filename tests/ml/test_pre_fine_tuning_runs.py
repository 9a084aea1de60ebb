"""Runs that pre-fine-tune models on inference, with paraphrases and without, and fine-tune them on tasks."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from curation.models import PairScore
from mlworkers.models import Run
from mlworkers.plans.kinds import kind_named, plan_from
from mlworkers.runs.storage import home_path
from mlworkers.science.encoders.pre_fine_tuning.tasks import TaskRows
from mlworkers.science.encoders.pre_fine_tuning.training import TaskLearner, classifier_trained
from mlworkers.science.encoders.saving import seen_by
from mlworkers.science.pretrained.compute import choose_compute
from tests.factories import DatasetFactory, PairFactory, ScoreSetFactory, SentenceFactory
from tests.ml.encoder_data import scene
from tests.ml.nli_data import nli_dataset
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db
SHORT = {
    "variants": "tagged,round trip", "seeds": 2, "epochs": 1, "pre_epochs": 1, "batch_size": 8,
    "learning_rate": 0.001, "bootstrap": 100, "device": "cpu", "tasks": "sts | gold",
}  # fmt: skip


@pytest.fixture
def dataset(db):
    """Inference pairs with paraphrases, and a dataset “sts” with gold scores and with subsets for classes."""
    sts = DatasetFactory(slug="sts")
    gold = ScoreSetFactory(dataset=sts, name="gold", low=0.0, high=5.0)
    for split, pairs in (("train", 16), ("dev", 8), ("test", 10)):
        for number in range(pairs):
            a, b = (
                SentenceFactory(dataset=sts, text=f"{split} {scene(number + shift)} with {shift} {number}")
                for shift in (0, 1 + number % 4)
            )
            pair = PairFactory(dataset=sts, split=split, a=a, b=b, subset=("no", "paraphrase")[number % 2])
            PairScore.objects.create(score_set=gold, pair=pair, value=number % 6)
    return nli_dataset()


def ran(dataset, model, state: str = "succeeded", **given) -> Run:
    values = {"dataset": dataset.slug, "model": str(model), **SHORT, **given}
    return run_execute(run_plan("compare_pre_fine_tuning", dataset, values), state)


def test_every_row_is_fine_tuned_with_every_seed_and_compared_with_the_one_without_paraphrases(
    dataset, encoder_folder
) -> None:
    run = ran(dataset, encoder_folder)

    [task] = run.result["tasks"]
    assert task["metrics"] == ["pearson", "spearman"]
    assert (task["training_rows"], task["dev_rows"], task["test_rows"], task["left_out"]) == (16, 8, 10, 0)
    names = ["no pre-fine-tuning", "original", "tagged", "round trip"]
    assert [row["row"] for row in task["rows"]] == names
    assert [row.get("examples") for row in run.result["rows"]] == [None, 36, 72, 72]
    figures = {row["row"]: row["figures"][0] for row in task["rows"]}
    assert len(figures["tagged"]["by_seed"]) == 2
    difference = figures["tagged"]["mean"] - figures["original"]["mean"]
    assert figures["tagged"]["difference"] == pytest.approx(difference)
    assert "difference" not in figures["original"]
    assert run.evaluations.count() == 4 * 2 * 2
    assert not run.artifacts.exists()


def test_a_training_knows_the_tokens_of_both_sentences_and_takes_the_steps_that_were_estimated(
    encoder_folder,
) -> None:
    plan = plan_from(kind_named("compare_pre_fine_tuning"), {"dataset": "nli", "model": "x", **SHORT})
    rows = TaskRows(("a dog", "the cat sat") * 5, ("a dog runs on the mat", "a dog") * 5, np.arange(10) / 9)

    classifier, trained = classifier_trained(
        encoder_folder, rows, plan, choose_compute("cpu"), classes=(), epochs=3, seed=1
    )

    tokenizer = AutoTokenizer.from_pretrained(encoder_folder)
    both = tokenizer(list(rows.first), list(rows.second or ()))["input_ids"]
    assert TaskLearner(classifier, rows, classes=0).lengths == [len(one) for one in both]
    assert trained.steps == plan.steps(10, epochs=3) == 6


@pytest.mark.exhaustive
def test_the_tags_are_chosen_by_dev_rows_and_the_median_seed_is_named(dataset, encoder_folder) -> None:
    run = ran(dataset, encoder_folder, seeds=3)

    [task] = run.result["tasks"]
    rows = {row["row"]: row for row in task["rows"]}
    best = max(("tagged", "round trip"), key=lambda name: rows[name]["dev"])
    assert task["chosen"] == best
    row = rows[best]
    place = run.result["seeds"].index(row["median_seed"])
    assert row["figures"][0]["median"] == row["figures"][0]["by_seed"][place]


@pytest.mark.exhaustive
def test_subsets_are_classes_and_mrpc_has_f1_and_accuracy(dataset, encoder_folder) -> None:
    run = ran(dataset, encoder_folder, tasks="sts | subset | MRPC; sts | subset", seeds=1)

    first, second = run.result["tasks"]
    assert (first["metrics"], first["classes"]) == (["f1", "accuracy"], 2)
    assert second["metrics"] == ["accuracy"]
    assert run.evaluations.filter(suite="MRPC (sts, subset)", metric="f1").count() == 4


def test_fine_tuning_is_skipped_where_the_task_is_the_inference_itself(dataset, encoder_folder) -> None:
    for split in ("dev", "test"):
        for number, label in enumerate(("entailment", "neutral", "contradiction") * 2):
            texts = [f"{split} {scene(number + side)} {side}" for side in (7, 9)]
            a, b = (SentenceFactory(dataset=dataset, text=text) for text in texts)
            PairFactory(dataset=dataset, split=split, a=a, b=b, subset=label)

    run = ran(dataset, encoder_folder, tasks="nli | subset", pre_seeds=2)

    [task] = run.result["tasks"]
    assert (task["skipped"], task["training_rows"], task["classes"]) == (True, 0, 3)
    assert [row["row"] for row in task["rows"]] == ["original", "tagged", "round trip"]
    assert all(len(row["figures"][0]["by_seed"]) == 2 for row in task["rows"])


def test_kept_models_load_in_transformers_and_give_the_figures_again(dataset, encoder_folder) -> None:
    run = ran(dataset, encoder_folder, keep_models=True, seeds=1, max_length=32)

    kept = run.artifacts.order_by("pk")
    assert [one.kind for one in kept] == ["classifier"] * 4
    folder = home_path(kept[2].path)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    sts = DatasetFactory._meta.model.objects.get(slug="sts")
    rows = list(
        sts.pairs.filter(split="test").order_by("pk").values_list("a__text", "b__text", "scores__value")
    )
    first, second, gold = zip(*rows, strict=True)
    with torch.inference_mode():
        scores = model(**tokenizer(list(first), list(second), padding=True, return_tensors="pt")).logits[:, 0]
    [task] = run.result["tasks"]
    assert np.corrcoef(scores, gold)[0, 1] == pytest.approx(task["rows"][2]["figures"][0]["mean"], abs=1e-5)
    assert first[0] not in seen_by(folder)
    assert "a dog runs on the mat with ball 0" in seen_by(folder)
    assert kept[2].evaluations.count() == 2


@pytest.mark.exhaustive
def test_no_tested_sentence_is_learned_before_or_in_fine_tuning(dataset, encoder_folder) -> None:
    sts = DatasetFactory._meta.model.objects.get(slug="sts")
    tested, gold = sts.pairs.filter(split="test").first(), sts.score_sets.get()
    shared = PairFactory(dataset=sts, split="train", a=tested.a, b__text="a woman is on a mat", subset="no")
    PairScore.objects.create(score_set=gold, pair=shared, value=3)
    near = SentenceFactory(dataset=dataset, text=f"{tested.b.text}.")
    PairFactory(dataset=dataset, split="train", a=near, b__text="a woman sits", subset="neutral")

    run = ran(dataset, encoder_folder, seeds=1)

    [task] = run.result["tasks"]
    assert (task["training_rows"], task["left_out"], run.result["held_out_left_out"]) == (16, 1, 1)


def test_without_test_rows_the_dev_rows_are_the_test_and_dev_rows_are_drawn(dataset, encoder_folder) -> None:
    run = ran(dataset, encoder_folder, seeds=1, test_split="none", dev_share=0.3)

    [task] = run.result["tasks"]
    assert task["test_rows"] == 8
    assert task["training_rows"] + task["dev_rows"] == 16
    assert any("its dev rows are the test" in sentence for sentence in run.result["warnings"])


def test_files_hold_sentences_with_classes_as_cola_has_them(
    dataset, encoder_folder, settings, tmp_path
) -> None:
    settings.SUITES_FOLDER = tmp_path
    (tmp_path / "cola").mkdir()
    for part, many in (("train", 30), ("dev", 8)):
        lines = [f"x\t{number % 2}\t\tthe {part} {scene(number)} {number}" for number in range(many)]
        (tmp_path / "cola" / f"{part}.tsv").write_text("\n".join(lines))
    (tmp_path / "cola" / "test.tsv").write_text("index\tsentence\n0\tthe dog runs")

    run = ran(dataset, encoder_folder, tasks="cola", seeds=1, dev_share=0.2)

    [task] = run.result["tasks"]
    assert (task["metrics"], task["test_rows"], task["dev_rows"]) == (["matthews"], 8, 6)
    assert [one["file"] for one in run.result["files"]] == ["train.tsv", "dev.tsv", "test.tsv"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"tasks": "sts | nothing"}, "The snapshot has no score set “nothing”"),
        ({"tasks": "cola"}, "cola has no train rows with labels; put a file train.tsv"),
        ({"tasks": "nowhere | gold"}, "There is no dataset called “nowhere”"),
        ({"tasks": "sts | subset", "test_split": "x", "dev_split": "y"}, "rows whose sentences no other part has"),
        ({"tasks": "nli | subset"}, "nli, subset has 0 dev rows"),
        ({"variants": "SIM95 BLEU20"}, "No pair is a paraphrase of “SIM95 BLEU20”"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_said_in_one_sentence(dataset, encoder_folder, given, sentence) -> None:
    run = ran(dataset, encoder_folder, state="failed", **given)

    assert sentence in run.message
    assert not run.artifacts.exists()
