"""A run that translates human sentences there and back, and adds what comes out as generated pairs."""

import importlib.util
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curation.models import Pair, ScoreSet, Sentence
from mlworkers import tasks
from mlworkers.kinds.paraphrases import translating as pipeline
from mlworkers.models import Run
from mlworkers.pipelines.work import work_of
from mlworkers.plans.kinds import kind_named, plan_from
from mlworkers.runs.storage import artifact_path
from tests.factories import DatasetFactory, PairFactory, RunFactory, SentenceFactory
from tests.ml.tiny_translator import TEXTS, tiny_fsmt, tiny_marian
from tests.runs import run_execute

pytestmark = pytest.mark.django_db(transaction=True)
GERMAN = "Der Hund läuft heute über die Wiese und bellt den Mann laut an."


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("translators")
    return tiny_fsmt(folder / "there"), tiny_marian(folder / "back", "de", "en", seed=6)


@pytest.fixture
def dataset(db):
    dataset = DatasetFactory(slug="news", licence="CC0-1.0")
    for text in TEXTS["en"]:
        a = SentenceFactory(dataset=dataset, text=text)
        PairFactory(dataset=dataset, split="train", a=a, b__text=f"{text} x")
    return dataset


def values(dataset, models, **settings: object) -> dict[str, object]:
    plan = {
        "dataset": dataset.slug, "forward": str(models[0]), "backward": str(models[1]), "sources": 5,
        "shard_sources": 2, "check_language": False, "device": "cpu",
    }  # fmt: skip
    return asdict(plan_from(kind_named("translate_round_trip"), plan | settings))


def carried_out(dataset, models, **settings: object) -> Run:
    plan = values(dataset, models, **settings)
    return run_execute(RunFactory(kind="translate_round_trip", dataset=dataset, queue="gpu", plan=plan))


def rows_of(run: Run) -> list[dict[str, object]]:
    return pq.read_table(artifact_path(run.artifacts.get())).to_pylist()


def pairs_of(run: Run) -> dict[str, Pair]:
    pairs = Pair.objects.filter(dataset=run.dataset, run_ref=run.pk).select_related("a", "b")
    return {pair.external_id: pair for pair in pairs}


@pytest.mark.parametrize("engine", ["transformers", "CTranslate2"])
def test_candidates_become_generated_pairs_with_their_settings(dataset, models, engine) -> None:
    run = carried_out(dataset, models, engine=engine)

    assert run.state == "succeeded", run.message
    assert run.result["written"] == 5 * 4
    assert run.result["engine"].startswith(engine)
    assert run.result["languages"] == ["en", "de"]
    rows, pairs = rows_of(run), pairs_of(run)
    assert len(pairs) == run.result["kept"] == sum(not row["dropped"] for row in rows)
    for row in rows:
        if row["pair"] is not None:
            pair = pairs[f"g{run.pk}-{row['pair']}"]
            assert (pair.a_id, pair.a.text) == (row["source"], row["source_text"])
            assert row["dropped"] or (pair.b.text, pair.subset) == (row["text"], row["setting"])
            assert (pair.origin, pair.split) == ("generated", "train")
    target = ScoreSet.objects.get(run_ref=run.pk, kind="target")
    assert set(target.scores.values_list("value", flat=True)) == {1.0}
    assert target.parameters["forward_settings"] == "20 3, 30 2"
    assert target.parameters["forward_sha256"] == run.result["forward_sha256"]


def test_the_figures_of_the_settings_add_up_to_those_of_the_run(dataset, models) -> None:
    run = carried_out(dataset, models)

    settings = run.result["settings"]
    assert [one["setting"] for one in settings][:2] == [
        "round trip k20 T3 back k20 T3", "round trip k20 T3 back k30 T2",
    ]  # fmt: skip
    for name in ("written", "kept", "cut_off"):
        assert sum(one[name] for one in settings) == run.result[name]
    assert sum((Counter(one["dropped"]) for one in settings), Counter()) == Counter(run.result["dropped"])


def test_the_baseline_is_one_subset_that_trainings_can_name(dataset, models) -> None:
    run = carried_out(dataset, models, search="beam search", best=2)

    assert run.state == "succeeded", run.message
    assert {pair.subset for pair in pairs_of(run).values()} == {"round trip"}
    assert run.result["written"] == 5 * 2
    assert (run.result["beams"], run.result["shortest"], run.result["longest"]) == (5, 0.75, 1.5)
    assert "forward_settings" not in run.result


@pytest.mark.exhaustive
def test_candidates_do_not_depend_on_how_the_run_is_divided(dataset, models) -> None:
    runs = [carried_out(dataset, models, engine="transformers", shard_sources=size) for size in (2, 5)]

    first, second = ([{**row, "dropped": ""} for row in rows_of(run)] for run in runs)
    assert first == second


@pytest.mark.exhaustive
@pytest.mark.parametrize("engine", ["transformers", "CTranslate2"])
def test_another_seed_draws_other_candidates(dataset, models, engine) -> None:
    texts = [
        {row["text"] for row in rows_of(carried_out(dataset, models, engine=engine, seed=seed, sources=4))}
        for seed in (1, 1, 2)
    ]

    assert texts[0] == texts[1]
    assert len(texts[0] & texts[2]) < len(texts[0]) / 2


def test_sources_of_one_word_and_too_long_ones_are_left_out_and_counted(dataset, models) -> None:
    # “Dogs.” has two tokens and one word.
    PairFactory(dataset=dataset, split="train", a__text="Dogs.", b__text="The dog runs " * 40)

    run = carried_out(dataset, models, sources=100, least_tokens=2, most_tokens=1000)

    assert run.state == "succeeded", run.message
    assert run.result["sources_left_out"] == {"does not fit the model": 2}


@pytest.mark.exhaustive
def test_sources_in_another_language_are_left_out_and_counted(dataset, models) -> None:
    PairFactory(dataset=dataset, split="train", a__text=GERMAN, b__text="The dog runs.")

    run = carried_out(dataset, models, check_language=True, sources=100)

    assert run.state == "succeeded", run.message
    left_out = run.result["sources_left_out"]
    assert left_out["in another language"] >= 1
    assert GERMAN not in {row["source_text"] for row in rows_of(run)}


def test_a_split_in_another_language_is_refused_in_one_sentence(models) -> None:
    dataset = DatasetFactory(slug="nachrichten")
    PairFactory(
        dataset=dataset, split="train", a__text=GERMAN, b__text=f"{GERMAN} Dann schläft er wieder ein."
    )

    run = carried_out(dataset, models, check_language=True)

    assert run.state == "failed"
    assert "has no human sentence in en that can be translated (in another language 2)" in run.message
    assert not Pair.objects.filter(run_ref=run.pk).exists()


def test_a_split_of_single_words_is_refused_in_one_sentence(models) -> None:
    dataset = DatasetFactory(slug="words")
    PairFactory(dataset=dataset, split="train", a__text="Dogs.", b__text="Cats.")

    run = carried_out(dataset, models, least_tokens=2)

    assert run.state == "failed"
    assert "has no human sentence in en that can be translated (does not fit the model 2)" in run.message
    assert not Pair.objects.filter(run_ref=run.pk).exists()


def test_models_that_close_no_circle_are_refused_before_anything_is_translated(dataset, models) -> None:
    run = carried_out(dataset, (models[0], models[0]))

    assert run.state == "failed"
    assert "The models do not close a circle: one translates en to de, the other en to de" in run.message


def test_held_out_sentences_are_neither_translated_nor_written(dataset, models) -> None:
    first = carried_out(dataset, models, sources=3)
    written = [row["text"] for row in rows_of(first) if not row["dropped"]]
    held = Sentence.objects.get(dataset=dataset, text=written[0])
    PairFactory(dataset=dataset, split="test", a=held, b__text="A whale sleeps.")

    again = carried_out(dataset, models, sources=3)

    row = next(row for row in rows_of(again) if row["text"] == written[0])
    assert row["dropped"] == "stands in held-out pairs"
    assert not Pair.objects.filter(run_ref=again.pk, b=held).exists()


@pytest.mark.exhaustive
def test_without_ctranslate2_its_engine_is_refused_and_auto_takes_transformers(
    dataset, models, monkeypatch
) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(
        pipeline.importlib.util, "find_spec", lambda name: None if name == "ctranslate2" else there(name)
    )

    refused = carried_out(dataset, models, engine="CTranslate2")
    usual = carried_out(dataset, models)

    assert refused.state == "failed"
    assert "CTranslate2 is not installed; install Semblance with the extra translation" in refused.message
    assert usual.state == "succeeded", usual.message
    assert usual.result["engine"] == "transformers"


def test_the_work_of_a_run_is_counted_before_it_starts(dataset, models) -> None:
    plan = plan_from(kind_named("translate_round_trip"), values(dataset, models))

    assert work_of(kind_named("translate_round_trip"), plan, dataset) == 5 * (2 + 4)


def test_the_candidates_of_a_source_are_in_one_split_of_a_selection(dataset, models) -> None:
    run = carried_out(dataset, models, sources=12)
    labels = {}
    for label in ("similarity", "bleu"):
        labels[label] = ScoreSet.objects.create(
            dataset=dataset, name=f"run 99: {label}", kind="model", low=0, high=100, run_ref=99,
            parameters={"label": label, "tags": {
                "sim_above": 0, "sim_width": 100, "bleu_first": 100, "bleu_width": 100, "bleu_most": 100,
            }},
        )  # fmt: skip
        for pair in pairs_of(run).values():
            labels[label].scores.create(pair=pair, value=50)
    plan = {
        "dataset": "news", "similarity": "run 99: similarity", "bleu": "run 99: bleu",
        "train_pairs": 10, "dev_pairs": 4, "test_pairs": 4,
    }  # fmt: skip
    kind = kind_named("select_paraphrases")
    selection = RunFactory(kind=kind.name, dataset=dataset, plan=asdict(plan_from(kind, plan)))

    tasks.execute(selection.pk)

    selection.refresh_from_db()
    assert selection.state == "succeeded", selection.message
    text = artifact_path(selection.artifacts.get(kind="tagged pairs")).read_text()
    splits: dict[str, set[str]] = {}
    for row in map(pipeline.json_from, text.splitlines()):
        splits.setdefault(row["source"], set()).add(row["split"])
    assert len(splits) > 3
    assert all(len(found) == 1 for found in splits.values())
