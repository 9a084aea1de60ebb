"""From text alone to a surrogate: pairs are harvested, scored by contexts, and learned by both kinds of model."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from curation.exchange.uploads import import_upload
from curation.models import Dataset, Pair, ScoreSet, Sentence
from curation.pairs.text import near_copy_key
from mlworkers.models import Run
from mlworkers.runs.storage import artifact_path
from mlworkers.science.contexts.gaps import Form
from mlworkers.science.contexts.language_model import about_save
from mlworkers.science.encoders.saving import seen_by
from tests.factories import DatasetFactory, PairFactory, SentenceFactory
from tests.ml.contexts.models import bart
from tests.ml.contexts.small_corpus import numbered_story
from tests.ml.test_context_runs import SETTINGS, carried_out

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dataset() -> Dataset:
    made = DatasetFactory(slug="stories", language="en")
    own = SentenceFactory(dataset=made, text="Soon the dog was hungry 3.")
    PairFactory(dataset=made, a=own, b=SentenceFactory(dataset=made, text="A whale sings."))
    return made


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, made = tmp_path_factory.mktemp("model"), bart(Form.GAP)
    made.model.save_pretrained(folder)
    made.tokenizer.save_pretrained(folder)
    about_save(folder, language="en", informs=False)
    return folder


@pytest.fixture
def corpus(dataset: Dataset) -> Run:
    rng = np.random.default_rng(5)
    files = [
        SimpleUploadedFile(f"t{number:02d}.txt", " ".join(numbered_story(rng, number)).encode())
        for number in range(40)
    ]
    batch = import_upload(dataset=dataset, files=files, by=None, kind="corpus")
    return carried_out("index_corpus", dataset, batch=batch.pk)


def harvested(dataset: Dataset, corpus: Run, **more: object) -> Run:
    shares = {"dev_share": 0.25, "test_share": 0.25, "shortest": 4}
    return carried_out("harvest_pairs", dataset, corpus=corpus.pk, **{"pairs": 24, **shares, **more})


def test_pairs_of_the_corpus_become_pairs_of_people_with_splits(dataset, corpus) -> None:
    run = harvested(dataset, corpus)

    assert run.state == "succeeded", run.message
    pairs = dataset.pairs.filter(run_ref=run.pk).select_related("a", "b")
    assert Counter(pair.split for pair in pairs) == {
        "harvested-train": 12, "harvested-dev": 6, "harvested-test": 6
    }  # fmt: skip
    assert {pair.origin for pair in pairs} == {Pair.Origin.SAMPLED}
    assert {sentence.origin for pair in pairs for sentence in (pair.a, pair.b)} == {Sentence.Origin.HUMAN}
    keys = [near_copy_key(sentence.text) for pair in pairs for sentence in (pair.a, pair.b)]
    assert len(keys) == len(set(keys)) == 48
    assert near_copy_key("Soon the dog was hungry 3.") not in keys
    assert dataset.audit_entries.filter(pairs=24).exists()


def test_a_second_harvest_adds_other_sentences_and_says_what_is_missing(dataset, corpus) -> None:
    harvested(dataset, corpus)

    again = harvested(dataset, corpus, pairs=500)

    assert again.state == "succeeded", again.message
    assert again.result["missing"] > 0
    assert "fewer than asked for" in again.message
    keys = [near_copy_key(text) for text in dataset.sentences.values_list("text", flat=True)]
    assert len(set(keys)) == len(keys)


def test_a_corpus_without_fitting_sentences_is_refused_in_one_sentence(dataset, corpus) -> None:
    run = harvested(dataset, corpus, shortest=20)

    assert run.state == "failed"
    assert "No two sentences of the corpus can be put together" in run.message
    assert dataset.pairs.count() == 1


@pytest.mark.exhaustive
def test_an_encoder_and_a_cross_encoder_learn_from_the_harvested_pairs(
    dataset,
    corpus,
    model,
    encoder_folder,
) -> None:
    harvested(dataset, corpus)
    splits = "harvested-train, harvested-dev"
    asked = {**SETTINGS, "part_tokens": 40, "split": splits, "most_pairs": 0, "choice": "random"}
    scored = carried_out("score_contexts", dataset, corpus=corpus.pk, model=str(model), **asked)
    assert scored.state == "succeeded", scored.message
    assert scored.result["pairs"] >= 15
    centred = ScoreSet.objects.get(run_ref=scored.pk, parameters__label="contexts-centred")
    assert set(centred.scores.values_list("pair__split", flat=True)) == set(splits.split(", "))
    learning = {
        "scores": centred.name,
        "split": "harvested-train",
        "batch_size": 4,
        "device": "cpu",
        "epochs": 1,
    }

    encoder = carried_out("train_encoder", dataset, model=str(encoder_folder), **learning)
    labeller = carried_out(
        "train_labeller", dataset, model=str(encoder_folder), dev_split="harvested-dev", seeds=1, **learning
    )

    assert encoder.state == "succeeded", encoder.message
    assert labeller.state == "succeeded", labeller.message
    assert labeller.result["labels_from"] == ""
    for run, kind in ((encoder, "encoder"), (labeller, "labeller")):
        learned = seen_by(artifact_path(run.artifacts.get(kind=kind)))
        for pair in dataset.pairs.filter(split="harvested-test").select_related("a", "b"):
            assert pair.a.text not in learned
            assert pair.b.text not in learned
