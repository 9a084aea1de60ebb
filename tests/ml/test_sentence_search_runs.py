"""Indexing a dataset's sentences and searching in the index, by the tiny encoder: what is found, and refused."""

import shutil

import numpy as np
import pytest

from curation.models import Sentence
from mlworkers.kinds.encoders import indexing_sentences
from mlworkers.kinds.encoders.sentence_search import sentences_found
from mlworkers.models import Run
from mlworkers.runs.storage import artifact_path
from mlworkers.science.encoders.encoding import encode
from mlworkers.science.pretrained.compute import choose_compute
from tests.factories import PairFactory, RunFactory, SentenceFactory
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db
WHO, DOES, WHERE = ("dog", "cat", "bird", "child"), ("runs", "sits", "sings"), ("tree", "wall", "river")
TEXTS = [f"The old {who} {does} by the {where} now." for who in WHO for does in DOES for where in WHERE]


@pytest.fixture
def sentences(dataset) -> list[Sentence]:
    """Two stand in each pair; one stands in a rejected pair alone."""
    made = [SentenceFactory(dataset=dataset, text=text) for text in TEXTS]
    for a, b in zip(made[::2], made[1::2], strict=True):
        PairFactory(dataset=dataset, a=a, b=b)
    PairFactory(
        dataset=dataset, a=made[0], b=SentenceFactory(dataset=dataset, text="Gone."), status="rejected"
    )
    return made


def carried_out(of, kind: str, **plan: object) -> Run:
    return run_execute(run_plan(kind, of, plan))


def indexed(dataset, model, **plan: object) -> Run:
    return carried_out(
        dataset, "index_sentences", dataset=dataset.slug, model=str(model), device="cpu", **plan
    )


def searched(dataset, index: Run, sentence: str, most: int = 10) -> Run:
    return carried_out(dataset, "search_sentences", sentence=sentence, index=index.pk, most=most)


def test_a_search_finds_the_sentences_of_active_pairs_by_the_cosine_of_the_encoder(
    dataset, sentences, encoder, encoder_folder
) -> None:
    index = indexed(dataset, encoder_folder, shard_sentences=7)
    run = searched(dataset, index, "A dog was running.", most=5)

    vectors = encode(encoder, [*TEXTS, "A dog was running."], choose_compute("cpu")).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors[:-1] @ vectors[-1]
    order = np.argsort(-cosines, kind="stable")[:5]
    found = sentences_found(run)
    assert index.message == "36 sentences indexed as vectors of 32 numbers", index.message
    assert [one.sentence.text for one in found] == [TEXTS[place] for place in order]
    np.testing.assert_allclose([one.cosine for one in found], cosines[order], atol=1e-5)
    assert [len(one.pairs) for one in found] == [1] * 5


def test_shards_of_any_size_give_the_same_index(dataset, sentences, encoder_folder) -> None:
    one, other = (indexed(dataset, encoder_folder, shard_sentences=number) for number in (1000, 9))

    vectors = [np.load(artifact_path(run.artifacts.get()) / "vectors.npy") for run in (one, other)]

    np.testing.assert_allclose(*vectors, atol=1e-6)


def test_a_sentence_that_vanished_while_the_run_was_at_work_stops_it(
    dataset, sentences, encoder_folder, monkeypatch
) -> None:
    monkeypatch.setattr(indexing_sentences, "_numbers", lambda dataset: [sentences[0].pk, 999_999])

    run = indexed(dataset, encoder_folder)

    assert run.state == "failed"
    assert "have changed since the run began" in run.message


def test_a_dataset_without_sentences_is_refused(dataset, encoder_folder) -> None:
    run = indexed(dataset, encoder_folder)

    assert (run.state, "has no sentence yet" in run.message) == ("failed", True), run.message


def test_an_encoder_that_is_no_longer_that_of_the_index_finds_nothing(
    dataset, sentences, encoder_folder, tmp_path
) -> None:
    own = tmp_path / "own"
    shutil.copytree(encoder_folder, own)
    index = indexed(dataset, own)
    (own / "README.md").write_text("Another one.")

    run = searched(dataset, index, "A dog.")

    assert run.state == "failed"
    assert "has changed since the index was made" in run.message


def test_a_run_without_an_index_of_the_dataset_finds_nothing(dataset, sentences, encoder_folder) -> None:
    other = RunFactory(kind="index_sentences", state="succeeded")

    run = searched(dataset, other, "A dog.")

    assert (run.state, "made no index of the sentences of this dataset" in run.message) == ("failed", True)
