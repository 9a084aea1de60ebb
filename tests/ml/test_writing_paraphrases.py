"""A run that writes paraphrases at chosen tags, measures them, and adds them as generated pairs."""

from pathlib import Path

import numpy as np
import pytest

from curation.files.json_text import json_from
from curation.models import Pair, ScoreSet
from mlworkers.models import Run
from mlworkers.runs.storage import artifact_path
from mlworkers.science.paraphrasing.paraphraser import TaggedPair, Target, paraphraser_initialised
from mlworkers.science.paraphrasing.paraphraser_plan import ParaphraserPlan
from mlworkers.science.paraphrasing.paraphraser_training import paraphraser_trained
from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.pretrained.compute import choose_compute
from tests.factories import DatasetFactory, PairFactory, SentenceFactory
from tests.ml.tiny import tiny_cross_encoder
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db(transaction=True)
WHO, DOES = ("dog", "cat", "bird", "man"), ("runs", "sits", "sings")
TEXTS = [
    f"The {who} {does} on the grass with {number} balls."
    for who in WHO
    for number, does in enumerate(DOES, 1)
]
ASKED = "SIM95 BLEU40, SIM95 BLEU0_5"


@pytest.fixture(scope="module")
def paraphraser(tmp_path_factory) -> Path:
    folder, compute = tmp_path_factory.mktemp("paraphraser"), choose_compute("cpu")
    plan = ParaphraserPlan(
        dataset="news", selection=1, layers=1, width=32, vocabulary=300, context=64, batch_size=8, epochs=20
    )
    pairs = [
        TaggedPair(text, text.replace(old, new), Target("SIM95", lexical))
        for text in TEXTS
        for lexical, old, new in (("BLEU40", "on the", "by some"), ("BLEU0_5", "The", "There a"))
    ]
    model = paraphraser_initialised([text for pair in pairs for text in pair[:2]], TagBounds(), plan, compute)
    paraphraser_trained(model, pairs, pairs, plan, rate=3e-3, folder=folder)
    return folder


@pytest.fixture(scope="module")
def labellers(tmp_path_factory) -> tuple[Path, Path]:
    return tuple(tiny_cross_encoder(tmp_path_factory.mktemp("labeller"), seed=seed) for seed in (11, 12))


@pytest.fixture
def dataset(db):
    dataset = DatasetFactory(slug="news", licence="CC0-1.0")
    for text in TEXTS:
        PairFactory(
            dataset=dataset, split="train", a=SentenceFactory(dataset=dataset, text=text), b__text=f"{text} x"
        )
    return dataset


def written(dataset, paraphraser, labellers, **settings: object) -> Run:
    values = {
        "dataset": dataset.slug, "model": str(paraphraser), "labeller": str(labellers[0]), "tags": ASKED,
        "sources": 4, "least_tokens": 5, "language": "", "device": "cpu", "shard_sources": 3, "beams": 2,
    }  # fmt: skip
    return run_execute(run_plan("write_paraphrases", dataset, values | settings))


def rows_of(run: Run) -> list[dict[str, object]]:
    path = artifact_path(run.artifacts.get(kind="paraphrases"))
    return [json_from(line) for line in path.read_text().splitlines()]


def test_paraphrases_become_generated_pairs_with_targets_and_both_labels(
    dataset, paraphraser, labellers
) -> None:
    run = written(dataset, paraphraser, labellers)

    assert run.state == "succeeded", run.message
    pairs = Pair.objects.filter(dataset=dataset, run_ref=run.pk)
    assert {pair.origin for pair in pairs} == {"generated"}
    assert pairs.count() == run.result["kept"]
    target = ScoreSet.objects.get(dataset=dataset, kind="target")
    assert set(target.scores.values_list("value", flat=True)) == {0.975}
    for label in ("similarity", "bleu"):
        found = ScoreSet.objects.get(run_ref=run.pk, parameters__label=label)
        assert found.scores.count() == run.result["kept"]
        assert found.parameters["tags"] == TagBounds().as_dict()
    kept = [row for row in rows_of(run) if not row["dropped"]]
    stored = {(pair.a.text, pair.b.text, pair.subset) for pair in pairs.select_related("a", "b")}
    assert {(row["source_text"], row["text"], " ".join(row["target"])) for row in kept} == stored


def test_every_row_that_was_written_is_in_the_file_with_its_reason(dataset, paraphraser, labellers) -> None:
    run = written(dataset, paraphraser, labellers)
    rows = rows_of(run)
    assert len(rows) == run.result["written"] == 4 * 2
    assert sum(not row["dropped"] for row in rows) == run.result["kept"]
    assert sum(run.result["dropped"].values()) == run.result["written"] - run.result["kept"]


def test_reranking_says_what_it_gained_by_another_labeller(dataset, paraphraser, labellers) -> None:
    run = written(dataset, paraphraser, labellers, rerank=True, candidates=4, measured_by=str(labellers[1]))

    assert run.state == "succeeded", run.message
    gained = run.result["gain_of_reranking"]
    assert gained == pytest.approx(run.result["hit_rate"] - run.result["without_reranking"]["hit_rate"])
    assert run.result["gain_of_reranking_low"] <= gained <= run.result["gain_of_reranking_high"]
    assert run.result["chance"] == 1 / 48
    assert run.result["measured_by_another_labeller"] is True
    assert run.result["labeller_sha256"] != run.result["measured_by_sha256"]


@pytest.mark.parametrize("options", [{"beams": 3}, {"rerank": True, "candidates": 4}])
def test_the_best_of_a_search_are_kept_in_their_order(dataset, paraphraser, labellers, options) -> None:
    one, three = (written(dataset, paraphraser, labellers, best=best, **options) for best in (1, 3))

    assert three.state == "succeeded", three.message
    rows = {}
    for row in rows_of(three):
        rows.setdefault((row["source"], *row["target"]), []).append(row["text"])
    assert {key: texts[0] for key, texts in rows.items()} == {
        (row["source"], *row["target"]): row["text"] for row in rows_of(one)
    }
    assert all(len(set(texts)) == len(texts) for texts in rows.values())
    assert max(map(len, rows.values())) == 3
    stored = Pair.objects.filter(run_ref=three.pk).order_by("pk").select_related("a", "b")
    kept = [(row["source_text"], row["text"]) for row in rows_of(three) if not row["dropped"]]
    assert [(pair.a.text, pair.b.text) for pair in stored] == kept


@pytest.mark.exhaustive
def test_reranking_among_drawn_candidates_still_compares_with_the_likeliest_of_the_beam(
    dataset, paraphraser, labellers
) -> None:
    plain = written(dataset, paraphraser, labellers, add_pairs=False)
    found = {
        search: written(
            dataset,
            paraphraser,
            labellers,
            add_pairs=False,
            rerank=True,
            candidates=6,
            search=search,
            temperature=2,
        )
        for search in ("sampling", "beam search")
    }

    drawn = found["sampling"]
    assert drawn.state == "succeeded", drawn.message
    assert drawn.result["without_reranking"]["mean_bleu"] == pytest.approx(plain.result["mean_bleu"])
    texts = {search: [row["text"] for row in rows_of(run)] for search, run in found.items()}
    assert texts["sampling"] != texts["beam search"]


def test_the_profile_counts_every_row_as_requested_and_as_measured(dataset, paraphraser, labellers) -> None:
    run = written(dataset, paraphraser, labellers, rerank=True, candidates=4)

    profile, rows = run.result["profile"], rows_of(run)
    assert profile["requested"] == [["SIM95", "BLEU40", 4], ["SIM95", "BLEU0_5", 4]]
    assert sum(count for *_place, count in profile["measured"]) == len(rows)
    assert sum(count for *_place, count in profile["likeliest"]) == len(rows)
    whole, *tags = profile["rows"]
    assert whole["error_of_bleu"] == pytest.approx(
        np.mean([abs(row["bleu"] - (42.5 if row["target"][1] == "BLEU40" else 5)) for row in rows])
    )
    assert [(one["similarity_tag"], one["bleu_tag"], one["paraphrases"]) for one in tags] == [
        ("SIM95", "BLEU40", 4), ("SIM95", "BLEU0_5", 4),
    ]  # fmt: skip


def test_a_run_may_measure_and_add_nothing(dataset, paraphraser, labellers) -> None:
    run = written(dataset, paraphraser, labellers, add_pairs=False)

    assert run.state == "succeeded", run.message
    assert len(rows_of(run)) == 8
    assert not Pair.objects.filter(run_ref=run.pk).exists()
    assert not ScoreSet.objects.filter(run_ref=run.pk).exists()


@pytest.mark.exhaustive
def test_short_sentences_and_other_languages_are_left_out_and_counted(
    dataset, paraphraser, labellers
) -> None:
    for text in ("Too short.", "Der Hund läuft heute über die Wiese und bellt den Mann laut an."):
        PairFactory(
            dataset=dataset,
            split="train",
            a=SentenceFactory(dataset=dataset, text=text),
            b__text=f"{text} z",
        )

    run = written(dataset, paraphraser, labellers, sources=100, language="en", least_tokens=5)

    assert run.state == "succeeded", run.message
    left_out = run.result["sources_left_out"]
    assert left_out["too short"] == 2  # the source and its partner
    assert left_out["in another language"] >= 1
    assert not {row["source_text"] for row in rows_of(run)} & {"Too short."}


def test_a_split_in_another_language_or_of_single_words_is_refused_in_one_sentence(
    paraphraser, labellers
) -> None:
    dataset = DatasetFactory(slug="nachrichten")
    german = "Der Hund läuft heute über die Wiese und bellt den Mann laut an."
    PairFactory(dataset=dataset, split="train", a__text=german, b__text="Hund")

    run = written(dataset, paraphraser, labellers, language="en", least_tokens=2)

    assert run.state == "failed"
    assert (
        "has no human sentence that can be paraphrased (in another language 1, too short 1); name another split"
        in run.message
    )
    assert not Pair.objects.filter(run_ref=run.pk).exists()


def test_tags_that_the_paraphraser_does_not_know_are_refused(dataset, paraphraser, labellers) -> None:
    run = written(dataset, paraphraser, labellers, tags="SIM97 BLEU20")

    assert run.state == "failed"
    assert "There is no pair of tags “SIM97 BLEU20”; the 48 pairs are SIM70 BLEU0_5" in run.message


def test_a_run_that_can_keep_nothing_adds_nothing_and_says_why(dataset, paraphraser, labellers) -> None:
    for text in TEXTS:  # every sentence of the paraphraser's own words is held out
        for old, new in (("on the", "by some"), ("The", "There a")):
            held = text.replace(old, new)
            PairFactory(dataset=dataset, split="test", a__text=held, b__text=f"{held} q")
    run = written(dataset, paraphraser, labellers, keep_misses=False, tags="SIM70 BLEU10")

    assert run.state == "failed"
    assert "No paraphrase could be kept (" in run.message
    assert not Pair.objects.filter(run_ref=run.pk).exists()
    assert not ScoreSet.objects.filter(run_ref=run.pk).exists()
