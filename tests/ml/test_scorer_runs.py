"""Runs that compare scorers of pairs, measure speed, and train on sections; each on a tiny encoder."""

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from sentence_transformers.sentence_transformer.evaluation import TripletEvaluator

from curation.exchange.uploads import import_upload
from curation.models import Dataset
from curation.statistics.correlation import spearman
from mlworkers.kinds.encoders import scorers
from mlworkers.models import Evaluation, Run
from mlworkers.plans.kinds import kind_named, plan_from
from mlworkers.runs.storage import artifact_path
from mlworkers.science.contexts.corpus import Corpus
from mlworkers.science.contexts.sections import section_triplets
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.encoders.saving import seen_by
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from tests.factories import client_of
from tests.ml.contexts.small_corpus import numbered_story
from tests.ml.paraphrase_data import scored_scenes
from tests.ml.test_labeller_runs import SHORT, carried_out

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dataset(encoder_folder) -> Dataset:
    return scored_scenes()


@pytest.fixture
def models(dataset, encoder_folder) -> tuple[Run, Run]:
    """An encoder and a cross-encoder that learned the training pairs."""
    learning = {"scores": "gold", "epochs": 1, "batch_size": 8, "device": "cpu"}
    encoder = carried_out("train_encoder", dataset, model=str(encoder_folder), **learning)
    labeller = carried_out(
        "train_labeller", dataset, model=str(encoder_folder), **SHORT | {"seeds": 1, "dev_split": "dev"}
    )
    for run in (encoder, labeller):
        assert run.state == "succeeded", run.message
    return encoder, labeller


@pytest.mark.exhaustive
def test_scorers_of_all_ways_are_compared_on_pairs_that_none_of_them_learned(dataset, models) -> None:
    encoder, labeller = (f"run:{run.pk}" for run in models)
    ways = [
        encoder,
        *(f"{way}:{encoder}" for way in ("static", "cls", "mean", "bertscore")),
        f"two:{encoder}+{encoder}",
    ]

    run = carried_out(
        "compare_scorers", dataset, score_set="gold", scorers=", ".join([*ways, labeller]), device="cpu"
    )

    assert run.state == "succeeded", run.message
    assert [row["scorer"] for row in run.result["scorers"]] == [*ways, labeller]
    of_scorer = {row["scorer"]: row for row in run.result["scorers"]}
    seen = [seen_by(artifact_path(one.artifacts.get())) for one in models]
    pairs = [
        (score.pair.a.text, score.pair.b.text, score.value)
        for score in dataset.score_sets.get(name="gold")
        .scores.select_related("pair__a", "pair__b")
        .order_by("pair")
        if not any(text in known for known in seen for text in (score.pair.a.text, score.pair.b.text))
    ]
    assert run.result["pairs"] == len(pairs)
    assert run.result["left_out"] > 0
    first, second, people = (list(column) for column in zip(*pairs, strict=True))
    compute = choose_compute("cpu")
    cosines = pair_cosines(
        load_encoder(artifact_path(models[0].artifacts.get()), compute), first, second, compute
    )
    own = of_scorer[encoder]
    assert own["spearman"] == pytest.approx(spearman(cosines.values, np.array(people)), abs=1e-6)
    assert "difference" not in own
    crossed = of_scorer[labeller]
    assert crossed["difference"] == pytest.approx(
        crossed["spearman"] - own["spearman"], abs=0.05
    )  # of pseudo-values
    assert crossed["difference_low"] < crossed["difference"] < crossed["difference_high"]
    assert all(pace > 0 for pace in run.result["pairs_per_second"].values())
    assert Evaluation.objects.filter(run=run, model=encoder, metric="spearman").count() == 5


def test_the_distance_to_the_similarities_is_that_of_the_surrogate_s_loss(dataset, models) -> None:
    scored = carried_out("score_pairs", dataset, model=f"run:{models[0].pk}", device="cpu")
    name = dataset.score_sets.get(run_ref=scored.pk).name

    run = carried_out("compare_scorers", dataset, score_set=name, scorers=f"run:{models[0].pk}", device="cpu")

    assert run.state == "succeeded", run.message
    assert run.result["scorers"][0]["mean_squared_distance"] == pytest.approx(0, abs=1e-10)


def test_a_cross_encoder_has_no_pooling(dataset, models) -> None:
    run = carried_out(
        "compare_scorers", dataset, score_set="gold", scorers=f"cls:run:{models[1].pk}", device="cpu"
    )

    assert run.state == "failed"
    assert "is a cross-encoder, which has no vector of a sentence" in run.message


def test_the_speed_of_every_registered_encoder_is_on_its_page(admin, dataset, models) -> None:
    few = {"sentences": 16, "batch_size": 4, "rounds": 1, "device": "cpu"}

    run = carried_out("measure_speed", dataset, **few)

    assert run.state == "succeeded", run.message
    [speed] = run.result["timed_encoders"]
    assert speed["timed_encoder"] == f"run:{models[0].pk}"
    assert speed["times_as_fast"] == pytest.approx(
        speed["batches_of_like_length"] / speed["batches_in_order"]
    )
    shown = client_of(admin).get(reverse("mlworkers:model_detail", args=[models[0].artifacts.get().pk]))
    assert [one.part for one in shown.context["speeds"]] == ["batches of like length", "batches in order"]
    assert "batches of like length" in shown.text
    assert not shown.context["evaluations"]  # speed is no agreement with people


def test_of_very_many_encoders_the_older_ones_are_named_and_not_timed(dataset, monkeypatch) -> None:
    monkeypatch.setattr(scorers, "MOST_SCORERS", 1)
    small = {"layers": 1, "width": 32, "vocabulary": 300}
    older, newer = (carried_out("initialise_encoder", dataset, seed=seed, **small) for seed in (1, 2))

    run = carried_out("measure_speed", dataset, sentences=16, batch_size=4, rounds=1, device="cpu")

    assert run.state == "succeeded", run.message
    assert [one["timed_encoder"] for one in run.result["timed_encoders"]] == [f"run:{newer.pk}"]
    assert run.result["warnings"] == [f"1 older encoder was not timed; name it: run:{older.pk}."]


def test_a_dataset_with_fewer_sentences_than_a_batch_has_no_speed(dataset, models) -> None:
    run = carried_out("measure_speed", dataset, batch_size=4096)

    assert run.state == "failed"
    assert "fewer than one batch; choose a smaller batch size" in run.message


@pytest.fixture
def corpus(dataset: Dataset) -> Run:
    """Books of three chapters, each of some stories that name it."""
    rng = np.random.default_rng(5)
    files = []
    for book in range(6):
        chapters = [
            f"Chapter {number}.\n\n"
            + " ".join(text for _again in range(3) for text in numbered_story(rng, 10 * book + number))
            for number in range(3)
        ]
        files.append(SimpleUploadedFile(f"b{book}.txt", "\n\n".join(chapters).encode()))
    batch = import_upload(dataset=dataset, files=files, by=None, kind="corpus")
    return carried_out("index_corpus", dataset, batch=batch.pk)


SECTIONS = {
    "triplets": 160,
    "test_triplets": 60,
    "batch_size": 8,
    "learning_rate": 0.003,
    "epochs": 3,
    "resamples": 100,
    "test_share": 0.5,
}


def test_an_encoder_learns_chapters_and_is_measured_on_books_that_it_never_saw(
    dataset, corpus, encoder_folder
) -> None:
    values = {**SECTIONS, "corpus": corpus.pk, "model": str(encoder_folder), "device": "cpu"}

    run = carried_out("train_on_sections", dataset, **values)

    assert run.state == "succeeded", run.message
    assert run.result["documents_with_headings"] == 6
    encoder = artifact_path(run.artifacts.get(kind="encoder"))
    plan = plan_from(kind_named("train_on_sections"), run.plan)
    triplets = section_triplets(Corpus(artifact_path(corpus.artifacts.get())), plan)
    anchors, positives, negatives = (list(column) for column in zip(*triplets.test, strict=True))
    for name, folder in (("before", encoder_folder), ("after", encoder)):
        judge = TripletEvaluator(anchors, positives, negatives, main_similarity_function="cosine", name="t")
        expected = judge(load_encoder(folder, choose_compute("cpu")))["t_cosine_accuracy"]
        assert run.result[f"accuracy_{name}"] == pytest.approx(expected, abs=1 / len(anchors) + 1e-9)
    assert run.result["gain"] == pytest.approx(run.result["accuracy_after"] - run.result["accuracy_before"])
    assert run.result["gain_low"] <= run.result["gain"] <= run.result["gain_high"]
    learned = seen_by(encoder)
    assert not any(text in learned for row in triplets.test for text in row)


def test_a_corpus_with_too_few_sections_is_refused_in_one_sentence(dataset, corpus, encoder_folder) -> None:
    values = {**SECTIONS, "corpus": corpus.pk, "model": str(encoder_folder), "device": "cpu"}

    run = carried_out("train_on_sections", dataset, **values, headings="volume", section_sentences=1000)

    assert run.state == "failed"
    assert "two documents with two sections each, or one with four, are needed" in run.message
