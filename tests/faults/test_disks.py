"""A full or read-only disk: one sentence, nothing half done, and all goes on by itself when there is room again."""

import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from mlworkers.runs.disk import FULL, READ_ONLY
from tests.faults.disks import SmallDisk
from tests.faults.imports import RUN, dataset_with_upload, ended, import_begun, imported
from tests.faults.servers import PATIENCE
from tests.faults.site import ROOT, STALE, Site

pytestmark = [pytest.mark.postgres_server, pytest.mark.redis_server]
ROWS = 20_000
# A worker begins a run where a tenth of a small disk is free, and a file of so many rows does not fit into the rest.
LEFT = 2_600_000
KEPT = "SELECT count(*) FROM {}"


@pytest.fixture(autouse=True)
def needs_a_disk(disk_of_files) -> None:
    if not disk_of_files.mounted:
        pytest.skip("needs a small disk, which only root may mount")


@pytest.fixture(scope="module")
def many(site_of_all) -> str:
    """A dataset whose pairs are larger than what is left of the disk."""
    site_of_all.start_what_is_missing()
    site_of_all.wait()
    run = import_begun(site_of_all, "many", rows=ROWS, words=12)
    assert ended(site_of_all, run)[0] == "succeeded"
    return "many"


def files_of(site: Site, folder: str) -> list[str]:
    return sorted(
        str(path.relative_to(site.home)) for path in (site.home / folder).rglob("*") if path.is_file()
    )


def backup(site: Site, path: Path) -> tuple[int, str]:
    """What the command ended with, and what it said of what went wrong."""
    command = [sys.executable, str(ROOT / "manage.py"), "backup", str(path)]
    done = subprocess.run(
        command, env=site.environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    return done.returncode, done.stderr.strip()


def waiting(site: Site, run: int, sentence: object) -> None:
    site.eventually(RUN.format(run), lambda found: found[0][0] == "queued" and found[0][3] == str(sentence))


def test_a_run_that_fills_the_disk_waits_for_room_and_ends(
    site: Site, disk_of_files: SmallDisk, many: str
) -> None:
    with disk_of_files.full(leaving=LEFT):
        run = site.run_start("export_dataset", dataset=many)
        waiting(site, run, FULL)
        disk_of_files.fill()
        waiting(site, run, FULL)
        left = files_of(site, f"runs/{run}")
        judged, _answer = site.ask(f"campaigns/{site.other_campaign}/claim/", {})
    state, attempt, _lost, message = ended(site, run)

    assert judged == 200
    assert left == [f"runs/{run}/log.txt"]
    assert (state, message) == ("succeeded", f"{ROWS:,} pairs written")
    assert attempt in {2, 3}
    [path] = (site.home / f"runs/{run}").glob("*/many.csv")
    assert len(path.read_text().splitlines()) == ROWS + 1


def test_an_upload_and_a_snapshot_that_have_no_room_leave_nothing(
    site: Site, disk_of_files: SmallDisk, many: str
) -> None:
    before = files_of(site, "imports"), files_of(site, "snapshots")
    rows = [site.row(KEPT.format(table)) for table in ("curation_importbatch", "curation_snapshot")]
    with disk_of_files.full():
        uploaded, of_upload = site.ask(f"datasets/{many}/imports/?filename=pairs.csv", data=b"a,b\n" * 9)
        made, of_snapshot = site.ask(f"datasets/{many}/snapshots/", {})
        after = files_of(site, "imports"), files_of(site, "snapshots")
    again, _answer = site.ask(f"datasets/{many}/snapshots/", {})

    assert 400 <= uploaded < 500, of_upload
    assert 400 <= made < 500, of_snapshot
    assert "full" in str(of_upload), of_upload
    assert "full" in str(of_snapshot), of_snapshot
    assert after == before
    assert rows == [
        site.row(KEPT.format("curation_importbatch")),
        (site.row(KEPT.format("curation_snapshot"))[0] - 1,),
    ]
    assert again == 201


def test_a_backup_that_has_no_room_leaves_nothing(
    site: Site, disk_of_files: SmallDisk, many: str, tmp_path
) -> None:
    small = SmallDisk(tmp_path / "backups", 1)
    try:
        path = small.place / "backup.zip"
        ended_with, said = backup(site, path)
        left = list(small.place.iterdir())
    finally:
        small.remove()
    again, _said = backup(site, tmp_path / "backup.zip")

    assert ended_with == 2, said
    assert said.endswith("The disk is full, so backup.zip was not written; free some space and try again.")
    assert len(said.splitlines()) == 1
    assert left == []
    assert again == 0
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        assert archive.testzip() is None


def test_an_import_on_a_full_disk_waits_for_room_and_ends(site: Site, disk_of_files: SmallDisk) -> None:
    batch = dataset_with_upload(site, "patient", rows=ROWS)
    with disk_of_files.full():
        run = site.run_start("import_pairs", dataset="patient", batch=batch)
        waiting(site, run, FULL)
    state, attempt, _lost, message = ended(site, run)

    assert (state, attempt) == ("succeeded", 1), message
    assert imported(site, "patient") == (ROWS, ROWS)


def test_an_import_whose_database_has_no_room_goes_on_when_it_has(
    site: Site, disk_of_rows: SmallDisk
) -> None:
    run = import_begun(site, "crowded", rows=ROWS)
    with disk_of_rows.full():
        time.sleep(STALE)  # nobody can ask meanwhile: a new connection needs room too
    state, attempt, _lost, message = ended(site, run)

    assert (state, attempt > 1) == ("succeeded", True), message
    assert imported(site, "crowded") == (ROWS, ROWS)


def test_a_read_only_disk_keeps_runs_waiting_and_nobody_from_judging(
    site: Site, disk_of_files: SmallDisk, tmp_path
) -> None:
    with disk_of_files.read_only():
        run = site.run_start("export_dataset", dataset="scenes")
        waiting(site, run, READ_ONLY)
        judged, _answer = site.ask(f"campaigns/{site.other_campaign}/claim/", {})
        site.kill("web")
        site.start("web")
        site.wait()
        ended_with, said = backup(site, site.home / "backup.zip")
    state, attempt, _lost, message = ended(site, run)

    assert judged == 200
    assert ended_with == 2, said
    assert said.endswith(
        "The disk is read-only, so backup.zip was not written; make it writable and try again."
    )
    assert len(said.splitlines()) == 1
    assert (state, attempt) == ("succeeded", 1), message
