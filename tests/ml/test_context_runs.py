"""Runs that train a model for contexts and score pairs by contexts, on a small corpus."""

from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from curation.exchange.uploads import import_upload
from curation.models import Dataset, PairScore, ScoreSet
from curation.pairs.judged_by import SIMULATED
from mlworkers.models import Run
from mlworkers.runs.storage import home_path
from mlworkers.science.contexts.bigram_index import BigramIndex
from mlworkers.science.contexts.corpus import Corpus
from mlworkers.science.contexts.discriminative import Fit, load_discriminative
from mlworkers.science.contexts.gaps import Form
from mlworkers.science.contexts.language_model import about_save
from mlworkers.science.contexts.scored_file import ablations_read, scored_read
from mlworkers.science.contexts.selection import Leaks, Window, places_of_chunks, without_leaks
from mlworkers.science.pretrained.compute import choose_compute
from tests.factories import DatasetFactory, PairFactory, ScoreSetFactory, SentenceFactory
from tests.ml.contexts.models import bart, gpt2
from tests.ml.contexts.small_corpus import HEROES, story
from tests.runs import run_execute, run_plan

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
    return run_execute(run_plan(kind, dataset, {"dataset": dataset.slug, **settings}))


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
    assert run.result["pairs"] + 2 == len(PAIRS)
    assert (
        "The model is no better than frequencies of tokens, so its scores carry no information."
        in run.result["warnings"]
    )


def test_fewer_contexts_than_asked_for_are_said_in_one_sentence_and_the_pair_is_scored(
    dataset, corpus, model
) -> None:
    run = scored(dataset, corpus, model, contexts=500)

    assert run.state == "succeeded", run.message
    assert run.result["pairs_with_fewer_contexts"] == run.result["pairs"] > 1
    said = f"{run.result['pairs']} pairs have fewer contexts than asked for; they are scored by those that there are."
    assert said in run.result["warnings"]


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
    assert set(without) == {"", "λ3", "λ4", "λ3, λ4"}  # no discriminative model, so λ1 counts nothing
    assert without["λ3, λ4"]["centred"] != without[""]["centred"]


@pytest.mark.exhaustive
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


def test_a_model_of_another_language_than_the_corpus_is_refused(dataset, corpus, model, tmp_path) -> None:
    other = copytree(model, tmp_path / "model")
    about_save(other, language="de", informs=True)

    run = scored(dataset, corpus, other)

    assert run.state == "failed"
    assert "The corpus is in the language en, and the model learned from text in de" in run.message
    assert not ScoreSet.objects.exists()
    assert not dataset.snapshots.exists()


def test_a_model_without_a_mask_token_ends_the_run_in_one_sentence_and_nothing_is_published(
    dataset, corpus, tmp_path
) -> None:
    made = bart(Form.GAP)
    made.tokenizer.mask_token = None
    made.model.save_pretrained(tmp_path)
    made.tokenizer.save_pretrained(tmp_path)

    run = scored(dataset, corpus, tmp_path)

    assert run.state == "failed"
    assert "has no mask token, so it cannot be asked" in run.message
    assert run.message.count(". ") == 0
    assert not ScoreSet.objects.exists()


@pytest.mark.exhaustive
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
    assert not any("no information" in warning for warning in run.result["warnings"])


@pytest.fixture
def discriminator(dataset, corpus) -> Run:
    small = {"hidden": 16, "embedding": 16, "vocabulary": 400, "held_out": 0.2, "device": "cpu"}
    return carried_out(
        "train_discriminative_model",
        dataset,
        corpus=corpus.pk,
        steps=80,
        learning_rate=0.01,
        batch=16,
        **small,
    )


@pytest.mark.exhaustive
def test_a_discriminative_model_ranks_places_and_gives_a_term(dataset, corpus, model, discriminator) -> None:
    assert discriminator.state == "succeeded", discriminator.message
    assert discriminator.result["right_sentence"]["value"] > 0.5
    files = home_path(discriminator.artifacts.get(kind="discriminative_model").path)
    assert (files / "model.safetensors").is_file()

    run = scored(dataset, corpus, model, discriminator=f"run:{discriminator.pk}", ranked=40)

    assert run.state == "succeeded", run.message
    folder = home_path(run.artifacts.get(kind="context_scores").path)
    plain = scored(dataset, corpus, model)
    places = []
    for each in (run, plain):
        score = scores_of(each, "contexts-centred")[PAIRS[0]]
        found = scored_read(home_path(each.artifacts.get(kind="context_scores").path), score.pair_id)
        assert found is not None
        places.append(found)
    assert np.isfinite(places[0].first).all()
    assert (places[0].first[:, 0] < 0).all()  # a log-probability
    assert np.isnan(places[1].first[:, 0]).all()
    assert places[0].places != places[1].places
    assert set(ablations_read(folder)[1]) == {"", "λ1", "λ3", "λ4", "λ3, λ4"}
    assert run.result["discriminator"] == f"run:{discriminator.pk}"


@pytest.mark.exhaustive
def test_places_are_ranked_by_the_discriminative_model_before_the_language_model_sees_them(
    dataset, corpus, model, discriminator
) -> None:
    """With one candidate for each context, what is chosen is the ranking itself."""
    run = scored(
        dataset,
        corpus,
        model,
        discriminator=f"run:{discriminator.pk}",
        ranked=30,
        candidates=1,
        diverse=False,
    )

    ranks = load_discriminative(
        home_path(discriminator.artifacts.get(kind="discriminative_model").path), choose_compute("cpu")
    )
    folder = home_path(corpus.artifacts.get(kind="corpus").path)
    text, index = Corpus(folder), BigramIndex(folder)
    found = scored_read(
        home_path(run.artifacts.get(kind="context_scores").path),
        scores_of(run, "contexts-raw")[PAIRS[0]].pair_id,
    )
    assert found is not None
    own = [place for place, second in zip(found.places, found.of_second, strict=True) if not second]
    chunks = index.retrieve(PAIRS[0][0], most=20_000).chunks
    every = without_leaks(
        text, places_of_chunks(text, index, chunks), Leaks(PAIRS[0]), Window(), most=30
    ).places.tolist()
    logs = ranks.log_probabilities(text, [Fit(PAIRS[0][0], place) for place in every])
    best = sorted(zip(-logs, every, strict=True))[: SETTINGS["contexts"]]
    assert sorted(own) == sorted(place for _log, place in best)


@pytest.mark.exhaustive
def test_weights_are_tuned_on_dev_pairs_alone(dataset, corpus, model) -> None:
    people = ScoreSetFactory(dataset=dataset, name="people", kind="human", low=0.0, high=5.0)
    people.parameters = {"annotators": 3, "simulated_annotators": 3}
    people.save()
    rng = np.random.default_rng(3)
    for number in range(14):
        hero, other = rng.choice(HEROES, size=2, replace=False)
        pair = PairFactory(
            dataset=dataset,
            split="dev",
            a=sentence_of(dataset, f"The {hero} ate {number}."),
            b=sentence_of(dataset, f"The {other} ate it {number}."),
        )
        PairScore.objects.create(score_set=people, pair=pair, value=float(number % 5))
    dataset.pairs.exclude(split="dev").update(split="test")
    shared = PairFactory(dataset=dataset, split="dev", a=dataset.pairs.filter(split="test").first().a)
    PairScore.objects.create(score_set=people, pair=shared, value=1.0)

    run = scored(dataset, corpus, model, split="test", dev_split="dev", dev_scores="people")

    assert run.state == "succeeded", run.message
    assert run.judges == SIMULATED
    tuned = run.result["weights_tuned"]
    assert tuned["pairs"] == 14  # not the one that shares a sentence with a scored pair
    assert (tuned["split"], tuned["scores"]) == ("dev", "people")
    assert tuned["spearman"] >= tuned["spearman_with_equal_weights"]
    assert sum(run.result["weights"].values()) == pytest.approx(1.0)
    assert run.result["weights"]["discriminative"] == 0
    assert set(scores_of(run, "contexts-centred")) == set(PAIRS[:4])
    untouched = scored(
        dataset, corpus, model, split="test", most_pairs=2, dev_split="dev", dev_scores="people"
    )
    assert untouched.state == "failed"  # two dev pairs are too few to choose weights by
    assert "10 with different scores are needed" in untouched.message


def sentence_of(dataset, text: str):
    return SentenceFactory(dataset=dataset, text=text)


def test_trajectories_need_no_corpus(dataset, tmp_path) -> None:
    made = gpt2()
    made.model.save_pretrained(tmp_path)
    made.tokenizer.save_pretrained(tmp_path)
    values = {**SETTINGS, "choice": "trajectories", "model": str(tmp_path), "trajectory_tokens": 6}

    run = carried_out("score_contexts", dataset, **values)

    assert run.state == "succeeded", run.message
    found = scores_of(run, "contexts-centred")
    assert PAIRS[4] in found  # whatever its words
    assert run.result["weights"] == {"discriminative": 0, "sentence": 0, "left": 0, "right": 1}
    stored = scored_read(home_path(run.artifacts.get(kind="context_scores").path), found[PAIRS[0]].pair_id)
    assert stored is not None
    assert len(stored.texts) == found[PAIRS[0]].contexts


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"background": 40}, "choose fewer of these"),
        ({"model": "the gap model"}, "choose a causal model"),
    ],
)
def test_trajectories_that_cannot_be_are_refused_in_one_sentence(
    dataset, model, tmp_path, changed, words
) -> None:
    made = gpt2()
    made.model.save_pretrained(tmp_path)
    made.tokenizer.save_pretrained(tmp_path)
    values = {**SETTINGS, "choice": "trajectories", "model": str(tmp_path), **changed}
    if values["model"] == "the gap model":
        values["model"] = str(model)

    run = carried_out("score_contexts", dataset, **values)

    assert run.state == "failed"
    assert words in run.message
    assert not ScoreSet.objects.exists()
