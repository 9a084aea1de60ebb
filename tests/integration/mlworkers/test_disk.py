"""What runs hold on the disk, what of it is removed, and what never is."""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.urls import reverse
from django.utils.timezone import now

from curation.foundation.errors import UserError
from mlworkers.models import Artifact, Run
from mlworkers.runs.disk import beside_runs, disk_use, leftovers_reclaim
from mlworkers.runs.removing import removal_of, run_files_remove
from mlworkers.runs.services import run_start
from mlworkers.runs.storage import attempt_folder, home_path, kept_folder, run_folder
from tests.factories import ArtifactFactory, RunFactory, ScoreSetFactory, client_of

pytestmark = pytest.mark.django_db
LONG_AGO = now() - timedelta(hours=2)


def written(path: Path, size: int = 100, at=LONG_AGO) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def with_leftovers(**about) -> Run:
    """A run with a shard, an attempt's file and a log."""
    run = RunFactory(**about)
    written(kept_folder(run.pk) / "shards" / "writing" / "00000", 300)
    written(attempt_folder(run.pk, 1) / "half.jsonl", 200)
    written(run_folder(run.pk) / "log.txt", 10)
    return run


def encoder(dataset, **about) -> Artifact:
    """With its files."""
    artifact = ArtifactFactory(run__dataset=dataset, run__plan={}, size=400, **about)
    written(home_path(artifact.path) / "model.safetensors", 400)
    return artifact


def names_in(run: Run) -> list[str]:
    return sorted(path.name for path in run_folder(run.pk).rglob("*") if path.is_file())


@pytest.mark.parametrize("state", ["failed", "cancelled", "succeeded"])
def test_leftovers_of_a_run_that_has_ended_go_and_its_log_and_files_stay(dataset, state) -> None:
    run = with_leftovers(dataset=dataset, state=state)
    kept = written(attempt_folder(run.pk, 1) / "rows.csv", 50)
    ArtifactFactory(run=run, kind="pairs", path=f"runs/{run.pk}/1/rows.csv", size=50)
    (holding,) = disk_use(at=now()).holdings

    freed = leftovers_reclaim(at=now())

    assert (holding.files, holding.rest, holding.reclaimable) == (50, 500, 500)
    assert freed == 500
    assert names_in(run) == ["log.txt", "rows.csv"]
    assert kept.stat().st_size == 50
    assert leftovers_reclaim(at=now()) == 0


@pytest.mark.parametrize("state", ["queued", "running"])
def test_nothing_of_a_run_that_is_alive_is_removed(dataset, state) -> None:
    run = with_leftovers(dataset=dataset, state=state)

    assert leftovers_reclaim(at=now()) == 0

    assert names_in(run) == ["00000", "half.jsonl", "log.txt"]
    assert disk_use(at=now()).holdings[0].rest == 500


def test_what_was_written_within_the_hour_stays_for_its_worker_may_not_know_yet(dataset) -> None:
    run = with_leftovers(dataset=dataset, state="cancelled")
    written(kept_folder(run.pk) / "shards" / "writing" / "00001", 300, at=now())

    assert leftovers_reclaim(at=now()) == 0
    assert leftovers_reclaim(at=now() + timedelta(minutes=61)) == 800


def test_the_folder_of_a_run_that_was_deleted_goes_with_its_log(dataset) -> None:
    run = with_leftovers(dataset=dataset, state="succeeded")
    folder = run_folder(run.pk)
    run.delete()

    assert disk_use(at=now()).holdings[0].run is None
    assert leftovers_reclaim(at=now()) > 500

    assert not folder.exists()


def test_a_shard_that_is_a_file_under_another_name_frees_nothing(dataset) -> None:
    artifact = encoder(dataset)
    shard = kept_folder(artifact.run_id) / "shards" / "encoders" / "model.safetensors"
    shard.parent.mkdir(parents=True)
    os.link(home_path(artifact.path) / "model.safetensors", shard)

    (holding,) = disk_use(at=now()).holdings

    assert (holding.files, holding.rest) == (400, 0)


def test_a_run_s_files_can_be_removed_and_its_row_keeps_what_it_found(
    dataset, staff, django_capture_on_commit_callbacks
) -> None:
    artifact = encoder(dataset)

    with django_capture_on_commit_callbacks(execute=True):
        freed = run_files_remove(run=artifact.run, by=staff, at=now())

    artifact.refresh_from_db()
    assert freed == 400
    assert artifact.removed_at is not None
    assert names_in(artifact.run) == ["log.txt"]
    with pytest.raises(UserError, match=r"The run has no files\."):
        run_files_remove(run=artifact.run, by=staff, at=now())


def evaluation_plan(dataset, model: str) -> dict[str, str]:
    return {"dataset": dataset.slug, "model": model, "score_set": "gold"}


@pytest.mark.parametrize("state", ["queued", "running", "succeeded"])
@pytest.mark.parametrize("name", ["run:{0}", "run:{0}/encoder", "{1}"])
def test_a_model_that_another_run_names_is_not_removed(dataset, staff, state, name) -> None:
    artifact = encoder(dataset)
    plan = evaluation_plan(dataset, name.format(artifact.run_id, home_path(artifact.path)))
    other = RunFactory(kind="evaluate_encoder", dataset=dataset, plan=plan, state=state)

    with pytest.raises(UserError, match=f"because run {other.pk} names them"):
        run_files_remove(run=artifact.run, by=staff, at=now())

    assert names_in(artifact.run) == ["model.safetensors"]


def test_runs_that_failed_or_name_another_run_keep_no_model(dataset, staff) -> None:
    artifact = encoder(dataset)
    about = {"kind": "evaluate_encoder", "dataset": dataset}
    RunFactory(**about, plan=evaluation_plan(dataset, f"run:{artifact.run_id}"), state="failed")
    RunFactory(**about, plan=evaluation_plan(dataset, f"run:{artifact.run_id}0"), state="succeeded")

    assert run_files_remove(run=artifact.run, by=staff, at=now()) == 400


def test_a_model_whose_files_were_removed_cannot_be_named_any_more(dataset, staff) -> None:
    artifact = encoder(dataset)
    ScoreSetFactory(dataset=dataset, name="gold")
    run_files_remove(run=artifact.run, by=staff, at=now())

    with pytest.raises(UserError, match="start the run again to create them"):
        run_start(kind="evaluate_encoder", plan=evaluation_plan(dataset, f"run:{artifact.run_id}"), by=None)


def test_files_stay_where_the_rows_are_not_committed(dataset, staff) -> None:
    artifact = encoder(dataset)

    with suppress(RuntimeError), transaction.atomic():
        run_files_remove(run=artifact.run, by=staff, at=now())
        raise RuntimeError

    artifact.refresh_from_db()
    assert artifact.removed_at is None
    assert names_in(artifact.run) == ["model.safetensors"]


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_of_a_start_and_a_removal_at_once_one_sees_the_other(transactional_db, dataset, staff) -> None:
    artifact = encoder(dataset)
    ScoreSetFactory(dataset=dataset, name="gold")
    plan = evaluation_plan(dataset, f"run:{artifact.run_id}")

    def start() -> bool:
        return _done(lambda: run_start(kind="evaluate_encoder", plan=plan, by=None))

    def remove() -> bool:
        return _done(lambda: run_files_remove(run=artifact.run, by=staff, at=now()))

    with ThreadPoolExecutor() as both:
        started, removed = (both.submit(each) for each in (start, remove))

    assert started.result() != removed.result()
    assert home_path(artifact.path).exists() == started.result()


def _done(does) -> bool:
    try:
        does()
    except UserError:
        return False
    finally:
        connections.close_all()
    return True


def test_removing_that_was_killed_halfway_is_finished_as_leftovers(dataset, staff) -> None:
    artifact = encoder(dataset)
    Artifact.objects.filter(pk=artifact.pk).update(removed_at=LONG_AGO)

    assert leftovers_reclaim(at=now()) == 400


def test_the_command_says_what_would_go_and_then_removes_it(
    dataset, capsys, django_capture_on_commit_callbacks
) -> None:
    run = with_leftovers(dataset=dataset, state="failed")
    artifact = encoder(dataset)
    asked = ["reclaim", "--run", str(artifact.run_id)]

    call_command(*asked, "--dry-run")
    before = (capsys.readouterr().out.splitlines(), names_in(run), names_in(artifact.run))
    with django_capture_on_commit_callbacks(execute=True):
        call_command(*asked, "--json")

    assert before[0][-1] == "900 bytes would be freed.".replace(" ", "\xa0", 1)
    assert before[1:] == (["00000", "half.jsonl", "log.txt"], ["model.safetensors"])
    assert '"bytes": 900' in capsys.readouterr().out.splitlines()[-1]
    assert (names_in(run), names_in(artifact.run)) == (["log.txt"], ["log.txt"])


@pytest.mark.parametrize("person", ["curator", "owner"])
def test_only_staff_remove_files_and_see_the_disk(client, request, dataset, person) -> None:
    artifact = encoder(dataset)
    client.force_login(request.getfixturevalue(person))
    addresses = [reverse("mlworkers:disk"), reverse("mlworkers:run_files", args=[artifact.run_id])]

    answers = [client.get(address).status_code for address in addresses]
    answers += [
        client.post(reverse("mlworkers:disk_reclaim")).status_code,
        client.post(addresses[1]).status_code,
    ]

    assert answers == [403, 403, 403, 403]
    assert names_in(artifact.run) == ["model.safetensors"]


def test_the_pages_say_what_goes_before_they_remove_it(
    client, staff, dataset, django_capture_on_commit_callbacks
) -> None:
    with_leftovers(dataset=dataset, state="failed")
    artifact = encoder(dataset)
    client.force_login(staff)

    disk = client.get(reverse("mlworkers:disk")).text
    asked = client.get(reverse("mlworkers:run_files", args=[artifact.run_id])).text
    client.post(reverse("mlworkers:disk_reclaim"))
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(reverse("mlworkers:run_files", args=[artifact.run_id]))
    done = client.get(answer.headers["Location"]).text

    assert "Remove leftovers (500\xa0bytes)" in disk
    assert "which frees 400\xa0bytes" in asked
    assert "400\xa0bytes freed." in done
    assert removal_of(artifact.run).artifacts == []
    assert "removed" in client.get(reverse("mlworkers:run_detail", args=[artifact.run_id])).text
    assert (
        "The files of this model were removed"
        in client.get(reverse("mlworkers:model_detail", args=[artifact.pk])).text
    )


def test_the_page_names_what_lies_beside_the_runs(staff, settings, tmp_path) -> None:
    settings.SEMBLANCE_HOME = tmp_path
    written(tmp_path / "snapshots" / "news" / "1" / "pairs.csv", 3000)
    written(tmp_path / "runs" / "7" / "log.txt", 70)
    written(tmp_path / "note.txt", 5000)
    (tmp_path / "imports").mkdir()
    (tmp_path / "elsewhere").symlink_to(tmp_path / "snapshots")

    page = client_of(staff).get(reverse("mlworkers:disk")).text

    link = len(str(tmp_path / "snapshots"))
    assert beside_runs() == [("note.txt", 5000), ("snapshots", 3000), ("elsewhere", link)]
    assert page.index("<code>note.txt</code>") < page.index("4.9\xa0KB") < page.index("2.9\xa0KB")


def test_the_list_of_runs_shows_the_size_of_their_files(staff, dataset) -> None:
    encoder(dataset)

    assert "400\xa0bytes" in client_of(staff).get(reverse("mlworkers:run_list")).text
