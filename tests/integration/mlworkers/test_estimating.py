"""What a run will ask for, said before it starts: amount of work, time by earlier runs, room on the disk."""

from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils.timezone import now

from curation.models import PairScore
from mlworkers.kinds.encoders import training
from mlworkers.models import Run, WorkerHeartbeat
from mlworkers.pipelines import paces
from mlworkers.pipelines.estimating import RunWork, run_estimate
from mlworkers.pipelines.work import pipeline_measured, work_of
from mlworkers.plans.kinds import KINDS, plan_from
from mlworkers.runs.jobs import Outcome
from tests.factories import (
    ArtifactFactory,
    DatasetFactory,
    PairFactory,
    RunFactory,
    ScoreSetFactory,
    client_of,
)
from tests.runs import run_execute

pytestmark = pytest.mark.django_db
MODEL = "packaged:all-MiniLM-L6-v2"


@pytest.fixture(autouse=True)
def weights(monkeypatch) -> dict[str, int]:
    """Bytes of the weights of models; others are not on this machine."""
    sizes = {MODEL: 90_000_000, "run:1": 90_000_100, "org/large": 1_300_000_000}
    monkeypatch.setattr(paces, "weights_size", lambda name: sizes.get(name, 0))
    monkeypatch.setattr(paces.shutil, "disk_usage", lambda _path: SimpleNamespace(free=10**9, total=10**10))
    return sizes


@pytest.fixture
def dataset(dataset):
    """Four scored training pairs and two of test."""
    scores = ScoreSetFactory(dataset=dataset, name="gold", kind="reference")
    for split in ("train",) * 4 + ("test",) * 2:
        PairScore.objects.create(score_set=scores, pair=PairFactory(dataset=dataset, split=split), value=0.5)
    return dataset


def values_of(dataset, kind: str, **given: Any) -> dict[str, Any]:
    needed = {
        "train_encoder": {"model": MODEL, "scores": "gold"},
        "compare_weightings": {
            "model": MODEL,
            "scores": "gold",
            "test_score_set": "gold",
            "weightings": "plain,random",
            "controls": False,
        },
        "evaluate_encoder": {"model": MODEL, "score_set": "gold"},
        "score_pairs": {"model": MODEL},
        "label_paraphrases": {"model": MODEL},
        "cross_validate_encoder": {
            "model": MODEL,
            "score_set": "gold",
            "protocols": "random,components",
            "folds": 2,
        },
        "analyse_relatedness": {"score_set": "gold"},
        "bootstrap_generator": {"score_set": "gold", "steps": 100},
        "train_context_model": {"corpus": 1, "steps": 100},
        "train_discriminative_model": {"corpus": 1, "steps": 100},
        "score_contexts": {"corpus": 1, "model": MODEL},
    }
    return {"dataset": dataset.slug, **needed.get(kind, {}), **given}


def estimate(dataset, kind: str, **given: Any) -> RunWork:
    return run_estimate(KINDS[kind], plan_from(KINDS[kind], values_of(dataset, kind, **given)), dataset)


def finished(
    dataset, kind: str, *, work: int = 12, seconds: int = 60, device: str = "cpu", **about: Any
) -> Run:
    given = about.pop("plan", {})
    plan = plan_from(KINDS[kind], values_of(dataset, kind, **given))
    ended = now()
    facts = {"state": "succeeded", "attempt": 1, "queue": "gpu", **about}
    return RunFactory(
        kind=kind,
        dataset=dataset,
        plan={name: getattr(value, "value", value) for name, value in vars(plan).items()},
        result={"work": work, "device": device},
        started_at=ended - timedelta(seconds=seconds),
        finished_at=ended,
        **facts,
    )


@pytest.mark.parametrize(
    ("kind", "given", "work"),
    [
        ("train_encoder", {"epochs": 3}, 4 * 3),
        ("compare_weightings", {"epochs": 2, "seeds": 3}, 4 * 2 * 2 * 3),
        ("evaluate_encoder", {}, 2),
        ("score_pairs", {}, 6),
        ("label_paraphrases", {}, 6),
        (
            "cross_validate_encoder",
            {"epochs": "1,2", "methods": "dice,fine-tuned"},
            6 * (4 * (1 + 2 + 2) + 1),
        ),
        (
            "cross_validate_encoder",
            {"epochs": "2", "methods": "dice,fine-tuned", "seeds": 3},
            6 * (4 * 2 * 3 + 1),
        ),
        ("cross_validate_encoder", {"methods": "dice,mean"}, 6 * 2),
        ("analyse_relatedness", {"split": "train"}, 4),
        ("score_pairs", {"split": "test"}, 2),
        ("bootstrap_generator", {}, 100),
        ("train_context_model", {}, 100),
        ("train_discriminative_model", {}, 100),
        ("score_contexts", {}, 6),
        ("score_contexts", {"most_pairs": 4}, 4),
        ("score_contexts", {"split": "test", "most_pairs": 0}, 2),
    ],
)
def test_the_amount_of_work_is_counted_from_the_database(dataset, kind, given, work) -> None:
    assert work_of(KINDS[kind], plan_from(KINDS[kind], values_of(dataset, kind, **given)), dataset) == work


def test_every_kind_that_offers_an_estimate_can_count_its_work() -> None:
    previews = {kind.preview for kind in KINDS.values()}

    assert all(bool(kind.work) == kind.estimated for kind in KINDS.values() if kind.name not in previews)
    assert all("%(work)s" in str(kind.amount) for kind in KINDS.values() if kind.amount)


def test_time_follows_from_an_earlier_run_in_proportion_to_the_work(dataset) -> None:
    run = finished(dataset, "train_encoder", work=12, seconds=60)

    lines = estimate(dataset, "train_encoder", epochs=6).lines

    assert lines[0] == "24 training pairs, each counted once for every epoch."
    assert lines[1] == f"About 2 min, by run {run.pk}, which took 1 min for 0.5 times this work."


@pytest.mark.parametrize(
    "about",
    [
        {"attempt": 2},
        {"state": "failed"},
        {"plan": {"batch_size": 16}},
        {"plan": {"model": "org/large"}},
        {"device": "NVIDIA H100"},
        {"work": 0},
    ],
)
def test_a_run_that_was_another_kind_of_work_says_nothing_of_the_time(dataset, about) -> None:
    WorkerHeartbeat.objects.create(name="gpu@host/1", queues=["gpu"], device="cpu", seen_at=now())
    finished(dataset, "train_encoder", **about)

    assert "The time cannot be estimated yet" in estimate(dataset, "train_encoder").lines[1]


def test_a_model_of_the_same_size_is_as_fast(dataset) -> None:
    finished(dataset, "evaluate_encoder", work=2)

    line = estimate(dataset, "evaluate_encoder", model="run:1").lines[1]

    assert line.endswith("this work with another model of the same size.")


def test_a_preview_times_the_generation(dataset) -> None:
    given = {"model": "org/gpt", "sources": 4, "samples": 1}
    plan = {"dataset": dataset.slug, **given}
    values = asdict(plan_from(KINDS["generate_pairs"], plan))
    RunFactory(
        kind="preview_generation",
        dataset=dataset,
        state="succeeded",
        attempt=1,
        plan=values,
        result={"rows_of_the_run": 12, "most_seconds": 30.0},
    )

    lines = estimate(dataset, "generate_pairs", **given).lines

    assert any(line.startswith("About 30 s, by the preview of run") for line in lines)


def test_a_comparison_that_does_not_fit_on_the_disk_is_warned_of(dataset) -> None:
    small, large = (estimate(dataset, "compare_weightings", seeds=seeds) for seeds in (2, 5))

    assert small.fits
    assert "files of about 343.3\xa0MB and needs about 257.5\xa0MB more while it runs" in small.lines[-1]
    assert not large.fits
    assert "this is too little" in large.lines[-1]


MEMORY = "of memory for the weights, their gradients and the optimizer."


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        (
            "train_encoder",
            {},
            "The device needs at least 343.3\xa0MB ",
        ),  # 4 times the 90,000,000 bytes of the weights
        ("compare_weightings", {"seeds": 2}, "The device needs at least 343.3\xa0MB "),
        ("bootstrap_generator", {}, "The device needs at least "),
        ("train_encoder", {"model": "org/not-here"}, ""),
        ("evaluate_encoder", {}, ""),
    ],
)
def test_the_least_memory_is_said_where_the_weights_that_are_trained_are_known(
    dataset, kind, given, said
) -> None:
    lines = [line for line in estimate(dataset, kind, **given).lines if MEMORY in line]

    assert len(lines) == bool(said)
    assert all(line.startswith(said) for line in lines)


def test_files_of_other_kinds_are_as_large_as_those_of_an_earlier_run(dataset) -> None:
    run = finished(dataset, "score_pairs", work=3)
    ArtifactFactory(run=run, kind="scores", size=1024)

    assert "files of about 2.0\xa0KB" in estimate(dataset, "score_pairs").lines[-1]


def test_settings_that_leave_nothing_to_do_are_said_before_the_start(dataset) -> None:
    lines = estimate(dataset, "train_encoder", split="elsewhere").lines

    assert lines == ["With these settings there is nothing to do. Choose other scores, pairs or runs."]


def test_a_finished_run_says_how_much_it_did_and_on_what(dataset, monkeypatch) -> None:
    monkeypatch.setattr(training, "evaluate_encoder", lambda _plan, _job: Outcome("done", {"spearman": 0.5}))
    pipeline = pipeline_measured(KINDS["evaluate_encoder"])
    plan = plan_from(KINDS["evaluate_encoder"], values_of(dataset, "evaluate_encoder"))

    outcome = pipeline(plan, SimpleNamespace(dataset=dataset))

    assert outcome.result == {"spearman": 0.5, "work": 2, "device": "cpu"}


def test_a_kind_without_an_estimate_keeps_its_result(dataset) -> None:
    run = RunFactory(dataset=dataset)

    run_execute(run)

    assert "work" not in run.result


def test_pairs_of_another_dataset_are_counted_where_a_comparison_trains_on_it(dataset) -> None:
    other = DatasetFactory(slug="other")
    scores = ScoreSetFactory(dataset=other, name="theirs", kind="reference")
    PairScore.objects.create(score_set=scores, pair=PairFactory(dataset=other, split="train"), value=0.5)
    given = {"sources": "other | theirs", "seeds": 1, "epochs": 1}
    plan = plan_from(KINDS["compare_weightings"], values_of(dataset, "compare_weightings", **given))

    assert work_of(KINDS["compare_weightings"], plan, dataset) == (4 + 1) * 2


@pytest.mark.exhaustive
def test_the_form_and_the_command_say_the_same(admin, dataset, capsys, monkeypatch) -> None:
    finished(dataset, "train_encoder")
    sent = {**values_of(dataset, "train_encoder"), "estimate": 1}
    for setting in KINDS["train_encoder"].settings:
        sent.setdefault(
            setting.name,
            "" if setting.default is None else getattr(setting.default, "value", setting.default),
        )

    page = client_of(admin).post(reverse("mlworkers:run_start", args=["train_encoder"]), sent).text
    call_command("run", "train_encoder", f"dataset={dataset.slug}", f"model={MODEL}", "scores=gold")

    said = [
        line for line in capsys.readouterr().err.splitlines() if line.startswith(("12 ", "About ", "It will"))
    ]
    assert len(said) == 3
    assert [line for line in said if line not in page.replace("&nbsp;", "\xa0")] == []


def test_vectors_are_as_long_as_the_model_says(monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 384}')
    monkeypatch.setattr(paces, "model_folder", lambda *_source, **_folders: tmp_path)

    assert paces.hidden_size("run:3") == 384
