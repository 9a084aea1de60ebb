"""Files that machines share, on one disk and through a store: a real server, which is also taken away and damaged."""

import os
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as site_settings
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils.timezone import now

from curation.exchange import uploads
from curation.exchange.exporting import snapshot_create, snapshot_file
from curation.exchange.importing import ImportOptions
from curation.files.writing import replacing, sha256_of
from curation.foundation.shared_files import (
    DamagedError,
    StorageAway,
    StorageError,
    shared_names,
    shared_objects,
    shared_path,
    shared_put,
    shared_remove,
)
from curation.models import ImportBatch, Pair
from mlworkers import tasks
from mlworkers.models import Artifact
from mlworkers.runs.jobs import NewArtifact, Outcome
from mlworkers.runs.removing import run_files_remove
from mlworkers.runs.storage import artifact_path, content_of
from semblance.doctor import State, findings
from tests.factories import PairFactory, RunFactory, client_of
from tests.integration.mlworkers.sharing import carried_out
from tests.shared_store import StoreServer, store_settings

pytestmark = pytest.mark.django_db
ROWS = b"a,b,score\nA dog runs.,A dog.,4\nA cat.,A cat sits.,2\nA.,,1\n"
ROOT = Path(__file__).resolve().parents[3]


def uploaded(dataset) -> ImportBatch:
    return uploads.import_upload(dataset=dataset, files=[SimpleUploadedFile("news.csv", ROWS)], by=None)


def made(plan: object, job) -> Outcome:
    """A pipeline that makes a file, and a folder with a folder in it."""
    with replacing(job.folder / "rows.csv") as file:
        file.write(b"a,b\n")
    folder = job.folder / "encoder"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(os.urandom(3_000_000))
    (folder / "1_Pooling" / "config.json").write_text("{}")
    return Outcome(
        "made", {}, [NewArtifact("pairs", job.folder / "rows.csv"), NewArtifact("encoder", folder)]
    )


@pytest.fixture
def finished(monkeypatch) -> list[Artifact]:
    monkeypatch.setattr(tasks, "pipeline_of", lambda kind: made)
    return list(carried_out().artifacts.order_by("kind"))


def test_an_upload_is_checked_and_imported_elsewhere_and_its_rejected_rows_are_read_here(
    machines, dataset
) -> None:
    batch = uploaded(dataset)
    with machines.another():
        uploads.import_check(batch=batch, options=ImportOptions())
    first = uploads.import_errors_path(batch)
    checked = first.read_text() if first else ""
    with machines.another() as elsewhere:
        uploads.import_apply(batch=batch)
        left = [path for path in elsewhere.rglob("*.csv") if not path.name.endswith(".errors.csv")]

    rejected = uploads.import_errors_path(ImportBatch.objects.get())
    assert Pair.objects.count() == 2
    assert "4,sentence b is empty" in checked
    assert rejected is not None
    assert rejected.read_text() == checked
    assert left == []
    assert [name for name in shared_names("imports") if not name.endswith(".csv")] == []


def test_a_page_of_an_import_is_read_and_an_import_stands_while_the_store_is_away(
    machines, dataset, owner, monkeypatch
) -> None:
    def away(*_names: object) -> None:
        raise StorageAway("The file storage does not answer.")

    batch = uploaded(dataset)
    uploads.import_check(batch=batch, options=ImportOptions())
    monkeypatch.setattr(uploads, "shared_put", away)
    monkeypatch.setattr(uploads, "shared_refreshed", away)
    uploads.import_apply(batch=batch)
    client = client_of(owner)

    page = client.get(reverse("curation:import_batch", args=[dataset.slug, batch.pk]))

    assert Pair.objects.count() == 2
    assert page.status_code == 200
    assert reverse("curation:import_errors", args=[dataset.slug, batch.pk]) in page.text


def test_rejected_rows_of_a_second_check_elsewhere_take_the_place_of_the_first(machines, dataset) -> None:
    batch = uploaded(dataset)
    uploads.import_check(batch=batch, options=ImportOptions())
    before = uploads.import_errors_path(batch)
    assert before is not None
    assert "sentence b is empty" in before.read_text()

    with machines.another():
        uploads.import_check(batch=batch, options=ImportOptions(scale=(0, 3)))

    after = uploads.import_errors_path(batch)
    assert after is not None
    assert "\n2,the score 4 is outside" in after.read_text()


def test_several_files_of_one_upload_arrive_together(machines, dataset) -> None:
    files = [SimpleUploadedFile("a.csv", b"x\n"), SimpleUploadedFile("b.csv", b"y\n")]
    batch = uploads.import_upload(dataset=dataset, files=files, by=None, kind="judgements")

    with machines.another():
        assert [path.read_bytes() for path in uploads.import_files(batch)] == [b"x\n", b"y\n"]


def test_a_discarded_upload_is_nowhere(machines, dataset) -> None:
    batch = uploaded(dataset)
    uploads.import_discard(batch=batch)

    with machines.another():
        assert not uploads.import_path(batch).exists()


def test_a_snapshot_is_read_elsewhere(machines, dataset) -> None:
    PairFactory(dataset=dataset)
    snapshot = snapshot_create(dataset=dataset)

    with machines.another() as elsewhere:
        path = snapshot_file(snapshot)
        assert path.is_relative_to(elsewhere)
        assert sha256_of(path) == snapshot.sha256


def test_files_of_a_run_are_read_elsewhere_bit_for_bit(machines, finished) -> None:
    with machines.another() as elsewhere:
        for artifact in finished:
            path = artifact_path(artifact)
            assert path.is_relative_to(elsewhere.resolve())
            assert content_of(path) == (artifact.sha256, artifact.size)


def test_files_of_a_run_that_somebody_removes_are_gone_everywhere(
    machines, finished, admin, django_capture_on_commit_callbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run_files_remove(run=finished[0].run, by=admin, at=now())

    with machines.another():
        for artifact in Artifact.objects.all():
            with pytest.raises(FileNotFoundError):
                artifact_path(artifact)
    assert shared_objects("files/runs") == shared_objects("sums/runs") == []


def test_a_page_lists_the_files_of_a_model_and_a_download_has_them(machines, finished, admin, client) -> None:
    client.force_login(admin)
    encoder = finished[0]
    with machines.another() as elsewhere:
        page = client.get(reverse("mlworkers:model_detail", args=[encoder.pk]))
        fetched = [path for path in elsewhere.rglob("model.safetensors") if machines.shared]
        answer = client.get(reverse("mlworkers:artifact_download", args=[finished[1].run_id, finished[1].pk]))
        body = b"".join(answer.streaming_content)

    assert "1_Pooling/config.json" in page.content.decode()
    assert fetched == []
    assert body == b"a,b\n"


# What goes wrong


def entry(name: str = "runs/7/1/rows.csv", content: bytes = b"a,b\n" * 1000) -> str:
    path = site_settings.SEMBLANCE_HOME / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    shared_put(path)
    path.unlink()
    return name


def overwritten(name: str, content: bytes) -> None:
    """As a disk of the store may do."""
    bucket = storages["shared"].bucket
    bucket.Object(f"lab/files/{name}").put(Body=content)


@pytest.mark.parametrize("content", [b"a,b\n" * 500, b"c,d\n" * 1000, b""])
def test_what_is_cut_off_or_was_changed_in_the_store_is_not_taken(stored, home, content) -> None:
    name = entry()
    overwritten(name, content)

    with pytest.raises(
        DamagedError, match=r"files/runs/7/1/rows\.csv in the file storage is not what was put there"
    ):
        shared_path(name)

    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_a_folder_of_which_a_file_is_missing_in_the_store_is_not_taken(stored, home) -> None:
    folder = home / "runs" / "7" / "1" / "encoder"
    folder.mkdir(parents=True)
    (folder / "a").write_text("a")
    (folder / "b").write_text("b")
    shared_put(folder)
    shutil.rmtree(home / "runs")
    storages["shared"].bucket.Object("lab/files/runs/7/1/encoder/b").delete()

    with pytest.raises(DamagedError, match="has lost files/runs/7/1/encoder/b"):
        shared_path("runs/7/1/encoder")

    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_a_list_that_does_not_agree_with_the_row_is_not_believed(stored) -> None:
    name = entry()

    with pytest.raises(DamagedError, match="its SHA-256 begins with"):
        shared_path(name, "0" * 64)


def test_a_list_that_is_damaged_is_not_believed(stored) -> None:
    name = entry()
    storages["shared"].bucket.Object(f"lab/sums/{name}").put(Body=b"<html>")

    with pytest.raises(DamagedError, match=r"The list of the files of runs/7/1/rows\.csv"):
        shared_path(name)


def test_what_was_put_by_half_is_not_there(stored, home) -> None:
    name = entry()
    storages["shared"].delete(f"sums/{name}")

    assert not shared_path(name).exists()


def test_a_store_that_removes_no_full_folder_loses_it_all_the_same(stored, monkeypatch) -> None:
    """As stores do that keep each object in a file of that name."""
    for name in ("runs/7/kept/a/weights", "runs/7/kept/b"):
        entry(name)
    store = storages["shared"]
    remove = store.delete

    def empty_remove(name: str) -> None:
        assert list(store.objects(name)) == []
        remove(name)

    monkeypatch.setattr(store, "delete", empty_remove)
    shared_remove("runs/7/kept")

    assert shared_names("runs/7") == []
    assert shared_objects("files/runs/7") == []


def test_only_what_is_below_a_folder_is_removed_with_it(stored) -> None:
    for name in ("runs/7/kept/a", "runs/7/kept/b/c", "runs/7/1/rows.csv", "runs/71/kept/a"):
        entry(name)

    shared_remove("runs/7/kept")

    assert sorted(shared_names("runs")) == ["runs/7/1/rows.csv", "runs/71/kept/a"]


@pytest.fixture
def away(stored, settings, monkeypatch) -> str:
    """The store's server does not answer any more."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    settings.STORAGES = {**settings.STORAGES}
    return "The file storage s3://semblance-"


def test_an_upload_while_the_store_is_away_leaves_nothing(away, dataset, home) -> None:
    with pytest.raises(StorageAway, match=r"cannot be reached \(EndpointConnectionError\)\. Try again"):
        uploaded(dataset)

    assert not ImportBatch.objects.exists()
    assert list((home / "imports").iterdir()) == []


def test_a_page_whose_file_cannot_be_fetched_says_so(stored, dataset, owner, monkeypatch, settings) -> None:
    PairFactory(dataset=dataset)
    snapshot_create(dataset=dataset)
    shutil.rmtree(settings.SEMBLANCE_HOME / "snapshots")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    settings.STORAGES = {**settings.STORAGES}

    answer = client_of(owner).get(reverse("curation:snapshot_file", args=[dataset.slug, 1]))

    assert answer.status_code == 503
    assert "cannot be reached" in answer.content.decode()


def test_a_key_that_is_missing_is_named(stored, settings, monkeypatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    settings.STORAGES = {**settings.STORAGES}

    with pytest.raises(StorageError, match="There is no key for the file storage"):
        entry()


def test_a_key_that_is_refused_is_named(stored: StoreServer) -> None:
    stored.refuse()
    try:
        with pytest.raises(
            StorageError, match=r"refused the key \(.+\)\. Check AWS_ACCESS_KEY_ID"
        ) as refused:
            entry()
    finally:
        stored.accept()

    assert not isinstance(refused.value, StorageAway)


def test_a_bucket_that_is_missing_is_named(stored, settings) -> None:
    settings.STORAGES = store_settings("s3://there-is-none")

    with pytest.raises(StorageError, match="The file storage s3://there-is-none does not exist"):
        entry()


def test_a_bucket_that_is_missing_is_made_once(stored, settings, monkeypatch, capsys) -> None:
    settings.STORAGES = store_settings("s3://made-by-a-command/lab")

    call_command("make_bucket")
    call_command("make_bucket")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    settings.STORAGES = store_settings("s3://made-in-another-region")
    call_command("make_bucket")

    assert capsys.readouterr().out.splitlines() == [
        "The bucket of s3://made-by-a-command/lab was made.",
        "The bucket of s3://made-by-a-command/lab is there already.",
        "The bucket of s3://made-in-another-region was made.",
    ]
    assert "made-in-another-region can be written and read" in said("storage", State.GOOD)


def test_without_a_store_no_bucket_is_made() -> None:
    with pytest.raises(CommandError, match="STORAGE_URL is not set"):
        call_command("make_bucket")


# The settings, the commands


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "url", ["/srv/files", "http://bucket", "s3://", "s3://UPPER", "s3://key:secret@bucket", "s3://bucket?x=1"]
)
def test_an_address_that_is_no_bucket_stops_the_start(url) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env={**os.environ, "STORAGE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode != 0
    assert "STORAGE_URL is not a bucket of an S3-compatible store" in done.stderr
    assert "secret" not in done.stderr


@pytest.mark.exhaustive
@pytest.mark.exhaustive
def test_without_the_setting_no_library_of_a_store_is_loaded() -> None:
    code = (
        "import django, sys; django.setup(); from django.urls import get_resolver; get_resolver().reverse_dict; "
        "import semblance.celery, mlworkers.tasks; print({'boto3', 'botocore', 'storages'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "semblance.settings"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == "set()\n", done.stderr


def test_without_the_extra_the_start_says_what_to_install() -> None:
    code = (
        "import importlib.util, sys; found = importlib.util.find_spec; "
        "importlib.util.find_spec = lambda name, *more: None if name == 'boto3' else found(name, *more); "
        "import django; django.setup()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "semblance.settings", "STORAGE_URL": "s3://bucket"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "install Semblance with the extra s3" in done.stderr


def said(name: str, state: State) -> str:
    return " ".join(one.sentence for one in findings() if (one.name, one.state) == (name, state))


def test_the_doctor_says_that_the_store_works(stored) -> None:
    assert "/lab can be written and read" in said("storage", State.GOOD)
    assert shared_objects("files/trials") == []


def test_the_doctor_says_that_the_store_is_away(away) -> None:
    assert "cannot be reached" in said("storage", State.PROBLEM)


def test_the_doctor_finds_files_in_the_store_that_are_not_here(stored, finished, home) -> None:
    shutil.rmtree(home / "runs")
    before = said("files", State.GOOD)
    shared_remove(finished[0].path)

    assert "All 2 files" in before
    assert f"for example {finished[0].path}" in said("files", State.PROBLEM)


def test_reclaim_removes_what_ended_runs_left_in_the_store(stored, finished, monkeypatch, capsys) -> None:
    run = finished[0].run
    entry(f"runs/{run.pk}/kept/shards/00000")
    entry("runs/9999/1/rows.csv")
    alive = RunFactory(state="running")
    entry(f"runs/{alive.pk}/kept/shards/00000")
    files = shared_names(f"runs/{run.pk}/{run.attempt}")

    call_command("reclaim")
    soon = shared_names("runs")
    later = now() + timedelta(hours=2)
    monkeypatch.setattr("mlworkers.management.commands.reclaim.database_now", lambda: later)
    call_command("reclaim")

    assert len(soon) == 5
    assert sorted(shared_names("runs")) == sorted([*files, f"runs/{alive.pk}/kept/shards/00000"])


def test_an_upload_that_no_row_names_goes_from_the_store_after_an_hour(stored, dataset) -> None:
    batch = uploaded(dataset)
    entry("imports/0123/lost.csv")

    uploads.imports_tidy(now=now)
    soon = [one.name for one in shared_objects("files/imports")]
    uploads.imports_tidy(now=lambda: now() + timedelta(hours=2))

    assert "files/imports/0123/lost.csv" in soon
    assert [one.name for one in shared_objects("files/imports")] == [f"files/{batch.path}"]
