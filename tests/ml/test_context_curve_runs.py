"""A run that measures the curves of contexts, and its page."""

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from curation.exchange.uploads import import_upload
from curation.models import Dataset, PairScore
from curation.pairs.judged_by import SIMULATED
from mlworkers.models import Run
from tests.factories import DatasetFactory, PairFactory, ScoreSetFactory, SentenceFactory, client_of
from tests.ml.contexts.small_corpus import HEROES, PLACES, story
from tests.ml.test_context_runs import carried_out

pytestmark = pytest.mark.django_db(transaction=True)
SMALL = {"steps": 30, "layers": 1, "width": 32, "vocabulary": 300, "part_tokens": 30, "background": 3}
SMALL |= {"score_set": "people", "split": "test", "bootstrap": 100, "device": "cpu", "sizes": "100, 0"}
SMALL |= {"contexts": "3, 5", "surrogate_pairs": "8, 16", "epochs": 1, "batch_size": 4}


@pytest.fixture
def dataset() -> Dataset:
    """Test pairs that people scored, and pairs of other sentences with similarities."""
    made = DatasetFactory(slug="stories", language="en")
    people = ScoreSetFactory(dataset=made, name="people", kind="reference", low=0, high=5)
    centred = ScoreSetFactory(dataset=made, name="centred", kind="model", low=-1, high=1)
    for number, (hero, place) in enumerate(zip(HEROES * 4, PLACES * 4, strict=True)):
        split, scores = ("test", people) if number % 4 == 0 else ("harvested-train", centred)
        a, b = (
            SentenceFactory(dataset=made, text=text)
            for text in (f"Soon the {hero} was hungry {number}.", f"There was food in the {place} {number}.")
        )
        pair = PairFactory(dataset=made, a=a, b=b, split=split)
        PairScore.objects.create(score_set=scores, pair=pair, value=(number % 7) / 7)
    return made


@pytest.fixture
def corpus(dataset: Dataset) -> Run:
    rng = np.random.default_rng(5)
    files = [SimpleUploadedFile(f"t{number:02d}.txt", " ".join(story(rng)).encode()) for number in range(40)]
    batch = import_upload(dataset=dataset, files=files, by=None, kind="corpus")
    return carried_out("index_corpus", dataset, batch=batch.pk)


@pytest.mark.exhaustive
def test_all_three_curves_have_points_and_a_page(client, admin, dataset, corpus, encoder_folder) -> None:
    learned = {"learned": "centred", "model": str(encoder_folder)}
    simulated = {"annotators": 3, "simulated_annotators": 3}
    dataset.score_sets.filter(name="people").update(kind="human", parameters=simulated)

    run = carried_out("measure_context_curves", dataset, corpus=corpus.pk, **SMALL, **learned)

    assert run.state == "succeeded", run.message
    assert run.judges == SIMULATED
    sentences = corpus.result["sentences"]
    assert [(one["x"], one["pairs"]) for one in run.result["corpus_sizes"]] == [(100, 6), (sentences, 6)]
    assert {one["informs"] for one in run.result["corpus_sizes"]} <= {True, False}
    assert [one["x"] for one in run.result["context_counts"]] == [3, 5]
    assert [one["x"] for one in run.result["surrogate_sizes"]] == [8, 16]
    last = (run.result["corpus_sizes"][-1]["spearman"], run.result["context_counts"][-1]["spearman"])
    assert last[0] == last[1]  # the same pairs, corpus, model and contexts
    for name in ("corpus_sizes", "context_counts", "surrogate_sizes"):
        for point in run.result[name]:
            assert point["low"] <= point["spearman"] <= point["high"]
    client.force_login(admin)
    page = client.get(reverse("mlworkers:context_curves", args=[run.pk]))
    assert page.text.count("<svg") == 3
    table = client.get(reverse("mlworkers:context_curves_csv", args=[run.pk]))
    assert len(table.text.strip().splitlines()) == 1 + 6


@pytest.mark.exhaustive
def test_more_pairs_than_there_are_to_learn_from_are_refused_in_one_sentence(
    dataset, corpus, encoder_folder
) -> None:
    learned = {"learned": "centred", "model": str(encoder_folder), **SMALL, "surrogate_pairs": "500"}

    run = carried_out("measure_context_curves", dataset, corpus=corpus.pk, **learned)

    assert run.state == "failed"
    assert "has 18 pairs of the split “harvested-train” to learn from, and 500 are asked for" in run.message


def test_a_run_without_a_result_has_a_page_that_says_so(admin, dataset, corpus) -> None:
    run = carried_out("measure_context_curves", dataset, corpus=corpus.pk, **{**SMALL, "split": "nowhere"})

    assert run.state == "failed"
    assert "Open the run" in client_of(admin).get(reverse("mlworkers:context_curves", args=[run.pk])).text
