"""Starting runs, cancelling them, starting them again."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from curation.foundation.errors import UserError
from curation.models import AuditEntry, ImportBatch
from mlworkers.models import Run
from mlworkers.runs.selectors import runs_to_invite
from mlworkers.runs.services import run_again, run_cancel, run_start
from tests.factories import DatasetFactory, RunFactory, ScoreSetFactory, client_of
from tests.integration.mlworkers.broker import InvitedRuns, broker_gone, folder_broken

pytestmark = pytest.mark.django_db


def export_start(dataset, by=None, **values) -> Run:
    launch = values.pop("launch", None)
    return run_start(kind="export_dataset", plan={"dataset": dataset.slug, **values}, by=by, launch=launch)


def test_a_run_keeps_its_whole_plan_defaults_too(dataset, curator) -> None:
    run = export_start(dataset, by=curator, format="jsonl")

    stored = Run.objects.get()
    assert stored.plan == {
        "dataset": dataset.slug,
        "format": "jsonl",
        "score_set": "",
        "generated_pairs": "all but rejected",
        "scored_only": False,
        "standard_errors": False,
        "plain": False,
        "spreadsheet": False,
    }
    assert (stored.pk, stored.dataset, stored.started_by, stored.state) == (
        run.pk,
        dataset,
        curator,
        "queued",
    )


def test_the_log_says_who_started_and_cancelled_a_run_once_each(dataset, curator, owner) -> None:
    launch = uuid4()
    run = export_start(dataset, by=curator, launch=launch)
    export_start(dataset, by=curator, launch=launch)  # the same form, sent twice
    run_cancel(run=run, by=owner)
    run_cancel(run=run, by=curator)  # it has ended

    entries = AuditEntry.objects.filter(dataset=dataset).order_by("pk")
    page = client_of(owner).get(f"/datasets/{dataset.slug}/log/?action=run_cancelled").content.decode()

    assert [(entry.action, entry.by, entry.subject, entry.details) for entry in entries] == [
        ("run_started", curator, "export_dataset", {"run": run.pk}),
        ("run_cancelled", owner, "export_dataset", {"run": run.pk}),
    ]
    assert f'href="/runs/{run.pk}/">export_dataset</a>' in page


def test_a_run_that_is_refused_or_changes_nothing_is_not_in_the_log(dataset, curator) -> None:
    with pytest.raises(UserError):
        export_start(dataset, by=curator, format="none such")
    relate = {"model": "packaged:all-MiniLM-L6-v2", "first": "A dog.", "second": "A cat."}
    run_cancel(run=RunFactory(kind="relate_sentences", dataset=dataset, plan=relate), by=curator)

    assert not AuditEntry.objects.exists()


def test_a_worker_is_invited_once_the_run_is_committed(
    dataset, queue: InvitedRuns, django_capture_on_commit_callbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run = export_start(dataset)
        before = queue.read()

    assert before == []
    assert queue.read() == [run.pk]


def test_where_the_broker_is_gone_the_run_waits_and_says_so(
    dataset, django_capture_on_commit_callbacks
) -> None:
    with broker_gone(), django_capture_on_commit_callbacks(execute=True):
        run = export_start(dataset)

    run.refresh_from_db()
    assert run.state == "queued"
    assert "The message broker cannot be reached" in run.message
    assert list(runs_to_invite(timezone.now(), ["default"])) == [run]  # as soon as the broker is back


@pytest.mark.exhaustive
@pytest.mark.redis
def test_a_broker_that_hangs_does_not_hang_whoever_starts_a_run(
    dataset, django_capture_on_commit_callbacks
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it takes connections and never answers
        broker = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        begin = time.monotonic()
        with broker_gone(broker), django_capture_on_commit_callbacks(execute=True):
            run = export_start(dataset)

    run.refresh_from_db()
    assert (run.state, "The message broker cannot be reached" in run.message) == ("queued", True)
    assert time.monotonic() - begin < 30


def test_a_broker_s_folder_that_cannot_be_written_keeps_no_run_from_being_queued(
    dataset, tmp_path, django_capture_on_commit_callbacks
) -> None:
    with folder_broken(tmp_path), django_capture_on_commit_callbacks(execute=True):
        run = export_start(dataset)

    run.refresh_from_db()
    assert (run.state, "The message broker cannot be reached" in run.message) == ("queued", True)


def test_a_form_sent_twice_starts_one_run(dataset, curator) -> None:
    launch = uuid4()

    first = export_start(dataset, by=curator, launch=launch)
    second = export_start(dataset, by=curator, launch=launch)

    assert first == second
    assert Run.objects.count() == 1


def test_another_person_s_launch_starts_a_run_of_one_s_own(dataset, curator, owner) -> None:
    launch = uuid4()

    theirs = export_start(dataset, by=owner, launch=launch)
    mine = export_start(dataset, by=curator, launch=launch)

    assert mine != theirs
    assert (theirs.started_by, mine.started_by) == (owner, curator)


@pytest.mark.django_db(transaction=True)
def test_a_form_sent_many_times_at_once_starts_one_run(dataset, curator) -> None:
    launch, together = uuid4(), Barrier(6)

    def send(_number: int) -> int:
        try:
            together.wait()
            return export_start(dataset, by=curator, launch=launch).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as senders:
        started = set(senders.map(send, range(6)))

    assert started == {Run.objects.get().pk}


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ({"dataset": "nowhere"}, "There is no dataset called “nowhere”; check its short name."),
        (
            {"dataset": "scenes", "format": "xls"},
            "“Format” is “xls”; choose one of csv, tsv, jsonl and parquet.",
        ),
        (
            {"dataset": "scenes", "score_set": "gold"},
            "The dataset “scenes” has no score set “gold”; choose one that it has.",
        ),
        ({}, "“Dataset” is missing; “Export dataset” needs it. The dataset's short name."),
    ],
)
def test_a_plan_that_cannot_be_carried_out_starts_nothing(plan: dict[str, str], sentence: str) -> None:
    DatasetFactory(slug="scenes")
    ScoreSetFactory(name="gold")  # another dataset's

    with pytest.raises(UserError) as refused:
        run_start(kind="export_dataset", plan=plan, by=None)

    assert str(refused.value) == sentence
    assert not Run.objects.exists()


def test_another_dataset_s_upload_cannot_be_imported(dataset) -> None:
    other = ImportBatch.objects.create(dataset=DatasetFactory(), file_name="secret.csv")

    with pytest.raises(UserError, match="has no uploaded file number"):
        run_start(kind="import_pairs", plan={"dataset": dataset.slug, "batch": other.pk}, by=None)


def test_one_run_at_a_time_imports_an_upload(dataset) -> None:
    batch = ImportBatch.objects.create(dataset=dataset, file_name="pairs.csv")
    plan = {"dataset": dataset.slug, "batch": batch.pk}
    first = run_start(kind="import_pairs", plan=plan, by=None)

    with pytest.raises(UserError, match=f"Run {first.pk} already imports this file"):
        run_start(kind="import_pairs", plan=plan, by=None)


def test_a_cancelled_run_says_who_cancelled_it(curator) -> None:
    run = RunFactory()

    run_cancel(run=run, by=curator)

    run.refresh_from_db()
    assert (run.state, run.message) == ("cancelled", "Cancelled by curator.")


def test_starting_again_makes_a_new_run_with_the_old_plan(dataset, staff) -> None:
    failed = RunFactory(dataset=dataset, state="failed", plan={"dataset": dataset.slug, "format": "tsv"})

    run = run_again(run=failed, by=staff)

    assert (run.pk != failed.pk, run.state, run.plan["format"], run.started_by) == (
        True,
        "queued",
        "tsv",
        staff,
    )
