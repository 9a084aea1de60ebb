"""Runs that train a model for contexts and score pairs by contexts, on a small corpus."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from curation.exchange.uploads import import_upload
from curation.models import Dataset, PairScore, ScoreSet
from mlworkers import tasks
from mlworkers.contexts.corpus import Corpus
from mlworkers.contexts.gaps import Form
from mlworkers.contexts.language_model import about_save
from mlworkers.contexts.scored_file import ablations_read, scored_read
from mlworkers.models import Run
from mlworkers.plans.kinds import kind_named, plan_from
from mlworkers.runs.storage import home_path
from tests.factories import DatasetFactory, PairFactory, RunFactory, SentenceFactory
from tests.ml.contexts.models import bart
from tests.ml.contexts.small_corpus import story

pytestmark = pytest.mark.django_db(transaction=True)
PAIRS = (
    ("Soon the dog was hungry.", "Soon the cat was hungry."),
    ("The fox ate it and slept.", "The goat ate it and slept."),
    ("There was food in the kitchen.", "At night the horse left the forest."),
    ("There was food in the river.", "there was food in the river"),
    ("Blue ideas sleep furiously.", "Green ideas sleep furiously."),
    ("word " * 200, "Soon the dog was hungry."),
)
SETTINGS = {
    "contexts": 6,
    "candidates": 3,
    "background": 4,
    "resamples": 100,
    "shard_pairs": 2,
    "part_tokens": 30,
    "device": "cpu",
}


@pytest.fixture
def dataset() -> Dataset:
    made = DatasetFactory(slug="stories", language="en")
    for texts in PAIRS:
        a, b = (
            made.sentences.filter(text=text.strip()).first()
            or SentenceFactory(dataset=made, text=text.strip())
            for text in texts
        )
        PairFactory(dataset=made, a=a, b=b)
    return made


@pytest.fixture
def corpus(dataset: Dataset) -> Run:
    rng = np.random.default_rng(5)
    files = [SimpleUploadedFile(f"t{number:02d}.txt", " ".join(story(rng)).encode()) for number in range(60)]
    batch = import_upload(dataset=dataset, files=files, by=None, kind="corpus")
    return carried_out("index_corpus", dataset, batch=batch.pk)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    made = bart(Form.GAP)
    made.model.save_pretrained(folder)
    made.tokenizer.save_pretrained(folder)
    about_save(folder, language="en", informs=False)
    return folder


def carried_out(kind: str, dataset: Dataset, **settings: object) -> Run:
    plan = asdict(plan_from(kind_named(kind), {"dataset": dataset.slug, **settings}))
    run = RunFactory(kind=kind, dataset=dataset, queue=kind_named(kind).queue, plan=plan)
    tasks.execute(run.pk)
    run.refresh_from_db()
    return run


def scored(dataset: Dataset, indexed: Run, folder: Path, **more: object) -> Run:
    values = {"corpus": indexed.pk, "model": str(folder), **SETTINGS, **more}
    return carried_out("score_contexts", dataset, **values)


def scores_of(run: Run, label: str) -> dict[tuple[str, str], PairScore]:
    found = ScoreSet.objects.get(run_ref=run.pk, parameters__label=label).scores
    return {
        (score.pair.a.text, score.pair.b.text): score for score in found.select_related("pair__a", "pair__b")
    }


def test_both_similarities_become_score_sets_with_contexts_and_intervals(dataset, corpus, model) -> None:
    run = scored(dataset, corpus, model)

    assert run.state == "succeeded", run.message
    for label in ("contexts-centred", "contexts-raw"):
        found = scores_of(run, label)
        hungry = found[PAIRS[0]]
        assert set(found) == set(PAIRS[:4])
        assert 3 <= hungry.contexts <= 12
        assert -1 <= hungry.interval_low <= hungry.value <= hungry.interval_high <= 1
        assert (found[PAIRS[3]].value, found[PAIRS[3]].interval_low) == (1.0, None)
    assert run.result["pairs_with_long_sentences"] == 1
    assert run.result["pairs_without_contexts"] == 1
    assert run.result["warnings"] == [
        "The model is no better than frequencies of tokens, so its scores carry no information."
    ]


def test_no_context_holds_a_sentence_of_its_pair_and_the_file_gives_the_published_scores(
    dataset, corpus, model
) -> None:
    run = scored(dataset, corpus, model)

    folder = home_path(run.artifacts.get(kind="context_scores").path)
    text = Corpus(home_path(corpus.artifacts.get(kind="corpus").path))
    centred = scores_of(run, "contexts-centred")
    for texts, score in centred.items():
        found = scored_read(folder, score.pair_id)
        assert found is not None
        assert len(found.places) == score.contexts
        for place in found.places:
            around = {side for part in text.context(place, 2, 2) for side in part} | {text.text(place)}
            assert not around & set(texts)
    pairs, without = ablations_read(folder)
    stored = dict(zip(pairs, without[""]["centred"], strict=True))
    assert stored == {score.pair_id: pytest.approx(score.value) for score in centred.values()}
    assert set(without) == {"", "λ3", "λ4", "λ3, λ4"}
    assert without["λ3, λ4"]["centred"] != without[""]["centred"]


@pytest.mark.parametrize("more", [{"choice": "random"}, {"diverse": False}])
def test_the_ablations_of_the_choice_of_contexts_are_settings(dataset, corpus, model, more) -> None:
    run = scored(dataset, corpus, model, **more)

    assert run.state == "succeeded", run.message
    plain = scores_of(scored(dataset, corpus, model), "contexts-centred")
    found = scores_of(run, "contexts-centred")
    assert {texts: score.value for texts, score in found.items()} != {
        texts: score.value for texts, score in plain.items()
    }
    if more == {"choice": "random"}:  # words in common with the corpus are not asked for
        assert PAIRS[4] in found


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"part_tokens": 8}, "No pair can be scored"),
        ({"corpus": 999}, "no corpus"),
        ({"model": "/nowhere/at/all"}, "nowhere"),
    ],
)
def test_bad_input_is_refused_in_one_sentence_and_nothing_is_published(
    dataset, corpus, model, changed, words
) -> None:
    dataset.pairs.filter(a__text=PAIRS[3][0]).delete()  # alike by definition, whatever the corpus

    run = scored(dataset, corpus, model, **changed)

    assert run.state == "failed"
    assert words in run.message
    assert not ScoreSet.objects.exists()


def test_a_corpus_in_another_language_is_refused(dataset, corpus, model) -> None:
    Dataset.objects.update(language="de")

    run = scored(dataset, corpus, model)

    assert run.state == "failed"
    assert "in the language de and the corpus in en" in run.message
    assert not dataset.snapshots.exists()


def test_a_model_is_trained_on_the_corpus_and_scores_pairs(dataset, corpus) -> None:
    small = {"layers": 1, "width": 32, "vocabulary": 400, "part_tokens": 30, "held_out": 0.1, "device": "cpu"}

    trained = carried_out(
        "train_context_model", dataset, corpus=corpus.pk, steps=120, learning_rate=0.01, **small
    )

    assert trained.state == "succeeded", trained.message
    assert trained.result["informs"]
    assert trained.result["directions"]["left"]["model"] < trained.result["directions"]["left"]["unigram"]
    run = carried_out("score_contexts", dataset, corpus=corpus.pk, model=f"run:{trained.pk}", **SETTINGS)
    assert run.state == "succeeded", run.message
    assert run.result["warnings"] == []
