"""What a run publishes enters with its end, or not at all."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.utils.timezone import now

from curation.exchange.generated import GeneratedRow, generated_pairs_add
from curation.foundation.errors import UserError
from curation.models import Dataset, Pair, ScoreSet, Sentence
from mlworkers import tasks
from mlworkers.kinds.exchange import pairs
from mlworkers.models import Artifact, Evaluation, Run
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.lifecycle import run_cancel
from mlworkers.runs.storage import run_folder
from tests.factories import DatasetFactory, PairFactory, RunFactory, SentenceFactory
from tests.runs import run_execute

pytestmark = pytest.mark.django_db(transaction=True)  # the heartbeat has a connection of its own


@pytest.fixture
def dataset(transactional_db) -> Dataset:
    dataset = DatasetFactory()
    PairFactory(dataset=dataset)
    return dataset


def nothing(*_about: object) -> None:
    pass


def publishing(
    monkeypatch,
    *,
    before_the_end: Callable[[Job], object] = nothing,
    after: Callable[[Job], object] = nothing,
) -> None:
    """Register a pipeline that makes a file and publishes a pair. after: what happens once the pair is written."""

    def does(_plan, job: Job) -> Outcome:
        (job.folder / "rows.jsonl").write_text("{}")
        source = SentenceFactory(dataset=job.dataset).pk

        def publish() -> dict[str, object]:
            rows = [GeneratedRow(source, "A hound runs.", 0.9)]
            about = {"split": "train", "method": "DINO", "parameters": {}}
            added = generated_pairs_add(dataset=job.dataset, run_ref=job.run_id, rows=rows, **about)
            after(job)
            return {"pairs": added.pairs}

        made = NewArtifact("generated rows", job.folder / "rows.jsonl")
        measured = Evaluation(model="m", suite="s", metric="spearman", n=1)
        before_the_end(job)
        return Outcome("written", {"kept": 1}, [made], [(measured, made.path)], publish=publish)

    monkeypatch.setattr(pairs, "export_dataset", does)


def carried_out(dataset: Dataset) -> Run:
    return run_execute(RunFactory(dataset=dataset))


def left_by(run: Run) -> list[str]:
    """The rows and files of a run, but for its log."""
    rows = [
        *Pair.objects.filter(run_ref=run.pk),
        *Sentence.objects.filter(run_ref=run.pk),
        *ScoreSet.objects.filter(run_ref=run.pk),
        *Artifact.objects.filter(run=run),
        *Evaluation.objects.filter(run=run),
    ]
    files = [path.name for path in run_folder(run.pk).rglob("*") if path.is_file()]
    return [str(row) for row in rows] + [name for name in files if name != "log.txt"]


def cancelled(job: Job) -> None:
    run_cancel(run_id=job.run_id, at=now(), message="Cancelled by Ada.")


def taken_over(job: Job) -> None:
    """By another worker, while this one was paused."""
    Run.objects.filter(pk=job.run_id).update(attempt=job.attempt + 1, worker="another")


def test_rows_and_their_figures_enter_with_the_end_of_the_run(dataset, monkeypatch) -> None:
    publishing(monkeypatch)

    run = carried_out(dataset)

    assert (run.state, run.result) == ("succeeded", {"kept": 1, "pairs": 1})
    assert len(left_by(run)) == 6


@pytest.mark.parametrize(
    ("happens", "state"), [(cancelled, "cancelled"), (taken_over, "running")], ids=["cancel", "takeover"]
)
def test_what_ends_a_run_right_before_it_finishes_leaves_nothing_of_it(
    dataset, monkeypatch, happens, state
) -> None:
    publishing(monkeypatch, before_the_end=happens)

    run = carried_out(dataset)

    assert (run.state, run.result) == (state, {})
    assert left_by(run) == []


@pytest.mark.parametrize("error", [UserError("The dataset was archived; restore it."), KeyError("bug")])
def test_rows_that_cannot_be_published_fail_the_run_and_leave_nothing(dataset, monkeypatch, error) -> None:
    def fails(_job: Job) -> None:
        raise error

    publishing(monkeypatch, after=fails)

    run = carried_out(dataset)

    said = str(error) if isinstance(error, UserError) else "An unexpected error stopped the run"
    assert run.state == "failed"
    assert run.message.startswith(said)
    assert left_by(run) == []


def test_a_successor_publishes_what_a_worker_that_left_while_publishing_did_not(dataset, monkeypatch) -> None:
    def leaves(job: Job) -> None:
        if job.attempt == 1:
            raise SystemExit

    publishing(monkeypatch, after=leaves)
    run = RunFactory(dataset=dataset)
    with pytest.raises(SystemExit):
        tasks.execute(run.pk)
    assert not Pair.objects.filter(run_ref=run.pk).exists()

    run_execute(run)

    assert (run.state, run.attempt) == ("succeeded", 2)
    assert Pair.objects.filter(run_ref=run.pk).count() == 1


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.parametrize("happens", [cancelled, taken_over], ids=["cancel", "takeover"])
def test_while_rows_are_published_a_run_can_still_be_ended_at_once(dataset, monkeypatch, happens) -> None:
    def from_elsewhere(job: Job) -> None:
        def change() -> None:
            happens(job)
            connection.close()

        with ThreadPoolExecutor() as others:
            others.submit(change).result(timeout=5)

    publishing(monkeypatch, after=from_elsewhere)

    run = carried_out(dataset)

    assert run.state != "succeeded"
    assert left_by(run) == []
