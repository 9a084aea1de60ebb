"""A full disk is one sentence, whichever library finds out and wherever in a run it happens."""

import re
import resource
import sqlite3
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from django.db import OperationalError, connection
from django.utils import timezone
from pyarrow import parquet
from safetensors.numpy import save_file

from curation.files.drafts import FileError
from curation.files.writing import disk_is_full, folder_replacing, replacing
from curation.foundation.heartbeats import LOST_MAX
from mlworkers import tasks
from mlworkers.kinds.exchange import pairs
from mlworkers.models import Run
from mlworkers.runs import attempts, disk
from mlworkers.runs.jobs import NewArtifact, Outcome
from mlworkers.runs.lifecycle import run_claim
from mlworkers.runs.storage import run_folder
from mlworkers.science.encoders.arrays import array_write
from tests.factories import RunFactory
from tests.runs import run_execute

MANY = np.random.default_rng(1).random(1 << 18)  # 2 MiB that no compression makes small
FULL = "The disk is full, so the run stopped. Free some space and start the run again."


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """To numpy this is what a full disk is: less was written than it asked for, and it is not told why."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def as_numbers(path: Path) -> None:
    np.save(path, MANY, allow_pickle=False)


def as_tensors(path: Path) -> None:
    save_file({"weights": MANY}, path)


def as_parquet(path: Path) -> None:
    parquet.write_table(pa.table({"scores": MANY}), path)


def as_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive, archive.open("scores", "w") as file:
        file.write(MANY.tobytes())


def as_text(path: Path) -> None:
    as_text_of(path, MANY.nbytes)


def as_text_of(path: Path, size: int) -> None:
    path.write_text("x" * size)


WRITERS = [as_numbers, as_tensors, as_parquet, as_zip, as_text]


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_a_real_full_disk_is_known_whichever_library_writes(
    small_disk, write: Callable[[Path], None]
) -> None:
    refused = pytest.raises(FileError, match=r"^The disk is full, so model was not written")

    with refused, folder_replacing(small_disk / "model") as folder:
        write(folder / "weights.npy")

    assert list(small_disk.iterdir()) == []


def test_numbers_that_a_real_full_disk_cannot_hold_are_one_sentence(small_disk) -> None:
    with pytest.raises(FileError, match=r"^The disk is full, so cosines\.npy was not written"):
        array_write(small_disk / "cosines.npy", MANY)

    assert list(small_disk.iterdir()) == []


def test_numbers_that_are_cut_short_are_a_full_disk(tmp_path) -> None:
    with (
        files_of_at_most(4096),
        pytest.raises(FileError, match=r"^The disk is full, so p_d\.npy was not written"),
    ):
        array_write(tmp_path / "p_d.npy", MANY)

    assert list(tmp_path.iterdir()) == []


def test_cosines_that_are_cut_short_are_a_full_disk(tmp_path) -> None:
    with files_of_at_most(4096), pytest.raises(OSError, match="requested and") as found:
        np.save(tmp_path / "cosines.npy", MANY)

    assert disk_is_full(found.value)


def test_a_database_whose_disk_is_full_is_known() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("PRAGMA max_page_count = 2")
        with pytest.raises(sqlite3.OperationalError) as found:
            database.execute("CREATE TABLE scores AS SELECT randomblob(100000)")

    assert disk_is_full(found.value)


def test_an_error_behind_which_a_full_disk_lies_is_one(tmp_path) -> None:
    def hidden() -> None:
        try:
            raise OSError(28, "No space left on device")
        except OSError:
            raise ValueError("Can't close the ZIP file while there is an open writing handle on it.")  # noqa: B904

    with pytest.raises(ValueError, match="ZIP") as found:
        hidden()

    assert disk_is_full(found.value)


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), ValueError("3 rows are missing")])
def test_another_error_is_no_full_disk(tmp_path, error: Exception) -> None:
    with pytest.raises(type(error), match=re.escape(str(error))), replacing(tmp_path / "scores"):
        raise error


@pytest.fixture
def run_that(monkeypatch, db) -> Callable[[Callable[[Path], None]], Run]:
    """Carries out a run that writes so as often as it is tried, and returns it."""

    def carried_out(write: Callable[[Path], None]) -> Run:
        def does(plan, job) -> Outcome:
            write(job.folder / "made.npy")
            return Outcome("made", {}, [NewArtifact("numbers", job.folder / "made.npy")])

        monkeypatch.setattr(pairs, "export_dataset", does)
        run = RunFactory()
        for _attempt in range(LOST_MAX - 1):
            run_execute(run)
            assert (run.state, run.message) == ("queued", str(disk.FULL))
        return run_execute(run)

    return carried_out


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_a_run_on_a_real_full_disk_says_so_and_leaves_nothing(small_disk, settings, run_that, write) -> None:
    settings.SEMBLANCE_HOME = small_disk

    run = run_that(write)

    assert (run.state, run.message) == ("failed", FULL)
    assert [path.name for path in run_folder(run.pk).iterdir()] == ["log.txt"]


def test_a_run_whose_numbers_are_cut_short_says_that_the_disk_is_full(run_that) -> None:
    def short(path: Path) -> None:
        with files_of_at_most(4096):
            as_numbers(path)

    assert run_that(short).message == FULL


def test_a_run_whose_library_hides_the_full_disk_behind_an_error_of_its_own_says_so_too(run_that) -> None:
    def hidden(path: Path) -> None:
        raise ValueError("the archive could not be closed") from OSError(28, "No space left on device")

    assert run_that(hidden).message == FULL


def test_a_run_that_met_a_full_disk_goes_on_when_there_is_room(small_disk, settings, monkeypatch, db) -> None:
    """It keeps its checkpoints meanwhile, and no worker begins it."""
    settings.SEMBLANCE_HOME = small_disk
    filler = small_disk / "somebody's file"

    def does(plan, job) -> Outcome:
        done = job.kept / "checkpoint"
        if not done.exists():
            done.write_text("half of it")
            filler.write_bytes(b"x" * 950_000)
            as_numbers(job.folder / "made.npy")
        as_text_of(job.folder / "made.txt", 1000)
        return Outcome("made", {}, [NewArtifact("text", job.folder / "made.txt")])

    monkeypatch.setattr(pairs, "export_dataset", does)
    run = RunFactory()

    stood = []
    for _attempt in range(4):
        run_execute(run)
        stood.append((run.state, run.attempt, run.message))
    filler.unlink()
    run_execute(run)

    assert stood == [("queued", 1, str(disk.FULL))] * 4
    assert (run.state, run.attempt, run.artifacts.get().name) == ("succeeded", 2, "made.txt")


def test_a_worker_begins_no_run_on_a_read_only_disk(small_disk, settings, db) -> None:
    settings.SEMBLANCE_HOME = small_disk
    run = RunFactory()
    remount(small_disk, "ro")

    run_execute(run)
    stood = run.state, run.message
    remount(small_disk, "rw")
    run_execute(run)

    assert stood == ("queued", str(disk.READ_ONLY))
    assert (run.state, run.attempt) == ("succeeded", 1)


def remount(place: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(place)], check=True)


class FullDatabase:
    """A database whose disk is full for so many writes of a run's end."""

    def __init__(self, times: int) -> None:
        self.times = times

    def __call__(self, execute, sql, params, many, context):
        if sql.startswith("UPDATE") and "failed" in params and self.times:
            self.times -= 1
            raise OperationalError("database or disk is full")
        return execute(sql, params, many, context)


@pytest.mark.django_db(transaction=True)
def test_the_end_of_a_run_is_written_again_where_the_database_s_disk_was_full(monkeypatch) -> None:
    def does(plan, job) -> Outcome:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pairs, "export_dataset", does)
    monkeypatch.setattr(attempts, "PAUSES", (0.0, 0.0))
    run = RunFactory(lost=LOST_MAX - 1)
    claim = run_claim(run_id=run.pk, worker="first", at=timezone.now())

    with connection.execute_wrapper(FullDatabase(times=2)):
        tasks.work(claim)

    run.refresh_from_db()
    assert (run.state, run.message) == ("failed", FULL)
