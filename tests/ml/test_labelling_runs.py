"""A run that labels pairs by similarity and BLEU, on tiny models."""

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForSequenceClassification

from curation.files.progress import silent
from curation.models import ScoreSet
from mlworkers.kinds.encoders import scoring_pairs
from mlworkers.models import Run
from mlworkers.science.encoders.crossing import cross_scores
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.paraphrasing.lexical import bleu_scores, bleu_signature
from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.cross_encoder import load_cross_encoder
from tests.factories import PairFactory, RunFactory, ScoreSetFactory, SentenceFactory
from tests.ml.encoder_data import dataset_with_pairs
from tests.ml.tiny import tiny_cross_encoder
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db(transaction=True)
SHOUTED = ("The dog's on the grass!", "the dogs on the grass")


@pytest.fixture
def dataset(db):
    dataset = dataset_with_pairs(generated=6, tested=5)
    pair_add(dataset, *SHOUTED)
    return dataset


@pytest.fixture(scope="module")
def cross_folder(tmp_path_factory) -> Path:
    return tiny_cross_encoder(tmp_path_factory.mktemp("cross"))


def pair_add(dataset, first: str, second: str) -> None:
    a, b = (SentenceFactory(dataset=dataset, text=text) for text in (first, second))
    PairFactory(dataset=dataset, a=a, b=b)


def carried_out(dataset, model: object, **settings: object) -> Run:
    values = {"dataset": dataset.slug, "model": str(model), "device": "cpu", **settings}
    return run_execute(run_plan("label_paraphrases", dataset, values))


def label_set(run: Run, label: str) -> ScoreSet:
    return ScoreSet.objects.get(run_ref=run.pk, parameters__label=label)


def stored(run: Run, label: str) -> dict[tuple[str, str], float]:
    scores = label_set(run, label).scores.select_related("pair__a", "pair__b")
    return {(score.pair.a.text, score.pair.b.text): score.value for score in scores}


def test_both_labels_become_score_sets_that_say_how_they_were_made(dataset, encoder_folder) -> None:
    run = carried_out(dataset, encoder_folder)

    assert run.state == "succeeded", run.message
    for label in ("similarity", "bleu"):
        found = label_set(run, label)
        assert (found.kind, found.low, found.high) == ("model", 0.0, 100.0)
        assert len(found.parameters["model_sha256"]) == 64
        assert found.parameters["bleu_signature"] == bleu_signature()
        assert found.parameters["tags"] == TagBounds().as_dict()
        assert found.scores.count() == dataset.pairs.count()
    assert run.result["score_sets"] == [f"run {run.pk}: similarity", f"run {run.pk}: BLEU"]


def test_only_the_pairs_that_a_run_wrote_as_paraphrases_are_labelled(dataset, encoder_folder) -> None:
    generating = RunFactory(kind="generate_pairs", dataset=dataset, state="succeeded")
    written = dataset.pairs.filter(origin="generated").order_by("pk")
    written.update(run_ref=generating.pk)
    targets = ScoreSetFactory(dataset=dataset, name="asked", kind="target", run_ref=generating.pk)
    for number, pair in enumerate(written):
        targets.scores.create(pair=pair, value=(0.0, 0.5, 1.0)[number % 3])

    run = carried_out(dataset, encoder_folder, written_by=generating.pk)

    assert run.state == "succeeded", run.message
    found = set(label_set(run, "bleu").scores.values_list("pair", flat=True))
    assert found == set(targets.scores.filter(value=1).values_list("pair", flat=True))
    assert len(found) == run.result["work"] == 2


def test_symbols_and_case_change_no_label(dataset, encoder, encoder_folder) -> None:
    run = carried_out(dataset, encoder_folder)

    cleaned = ["The dogs on the grass"], ["the dogs on the grass"]
    assert stored(run, "bleu")[SHOUTED] == bleu_scores(*cleaned, report=silent)[0] == 100
    cosine = pair_cosines(encoder, *cleaned, choose_compute("cpu")).values[0]
    assert stored(run, "similarity")[SHOUTED] == pytest.approx(100 * max(cosine, 0), abs=1e-4)


def test_bleu_takes_the_first_sentence_as_the_reference(dataset, encoder_folder) -> None:
    pair_add(dataset, "a b c d", "a b c")

    run = carried_out(dataset, encoder_folder)

    assert stored(run, "bleu")["a b c d", "a b c"] == pytest.approx(71.6531, abs=1e-3)


def test_a_cross_encoder_labels_in_both_orders(dataset, cross_folder) -> None:
    run = carried_out(dataset, cross_folder)

    assert run.state == "succeeded", run.message
    model = load_cross_encoder(cross_folder, choose_compute("cpu"))
    first, second = ["The dogs on the grass"], ["the dogs on the grass"]
    expected = cross_scores(model, first, second, report=silent)[0]
    assert expected == pytest.approx(cross_scores(model, second, first, report=silent)[0])
    assert stored(run, "similarity")[SHOUTED] == pytest.approx(100 * expected, abs=1e-4)


def test_a_pair_with_nothing_to_compare_gets_no_label_and_is_counted(dataset, encoder_folder) -> None:
    pair_add(dataset, "?!", "A dog runs.")

    run = carried_out(dataset, encoder_folder)

    assert run.result["pairs_without_text"] == 1
    assert run.result["pairs"] == dataset.pairs.count() - 1
    for label in ("similarity", "bleu"):
        assert ("?!", "A dog runs.") not in stored(run, label)


def test_a_dataset_of_symbols_alone_is_refused(db, encoder_folder) -> None:
    dataset = dataset_with_pairs(generated=0, tested=0)
    dataset.pairs.all().delete()
    pair_add(dataset, "?!", "...")

    run = carried_out(dataset, encoder_folder)

    assert run.state == "failed"
    assert "nothing can be compared" in run.message
    assert not ScoreSet.objects.filter(run_ref=run.pk).exists()


def test_a_labeller_with_several_outputs_is_refused_and_nothing_is_labelled(dataset, tmp_path) -> None:
    run = carried_out(dataset, tiny_cross_encoder(tmp_path, values=3))

    assert run.state == "failed"
    assert "gives 3 values for a pair; scoring needs a model that gives one." in run.message
    assert not ScoreSet.objects.filter(run_ref=run.pk).exists()


def test_labels_that_are_no_number_are_refused_and_nothing_is_labelled(dataset, tmp_path) -> None:
    folder = tiny_cross_encoder(tmp_path)
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    model.classifier.weight.data.fill_(torch.nan)
    model.save_pretrained(folder)

    run = carried_out(dataset, folder)

    assert run.state == "failed"
    assert "a score that is not a number; its weights are damaged." in run.message
    assert not ScoreSet.objects.filter(run_ref=run.pk).exists()


def test_shards_change_no_label(dataset, encoder_folder, monkeypatch) -> None:
    whole = carried_out(dataset, encoder_folder)
    monkeypatch.setattr(scoring_pairs, "PAIRS_IN_SHARD", 3)

    in_parts = carried_out(dataset, encoder_folder)

    assert stored(in_parts, "bleu") == stored(whole, "bleu")
    assert stored(in_parts, "similarity") == pytest.approx(stored(whole, "similarity"), abs=1e-4)


def test_the_run_counts_the_pairs_in_the_cells_that_its_settings_name(dataset, encoder_folder) -> None:
    everything = {"sim_above": 0, "sim_width": 50, "bleu_first": 50, "bleu_width": 50, "bleu_most": 100}

    run = carried_out(dataset, encoder_folder, **everything)

    assert run.result["pairs_in_cells"] == run.result["pairs"]
    assert "in one of the 4 cells" in run.message
    assert label_set(run, "bleu").parameters["tags"] == everything
