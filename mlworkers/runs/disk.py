"""What runs hold on the disk, and how what nobody needs is removed.

A run that ends tidies up after itself (`attempts`, `invitations.kept_forget`). What is left over comes from killed
workers and deleted datasets: shards, checkpoints and attempts of runs that have ended, files that no row names, and
folders of runs that no longer exist. Nothing uses them: a run that is started again has its own folder.
"""

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext_lazy

from curation.files.writing import disk_is_full, disk_is_read_only
from curation.foundation.shared_files import StoredObject, shared_forget, shared_objects
from mlworkers.models import Artifact, Run
from mlworkers.runs.storage import CURVE, LOG, run_folder, runs_folder

# So little room no run is begun with: at most this, and no more than a part of a small disk.
ROOM_LEAST = 64 * 1024**2
ROOM_LEAST_PART = 0.1
FULL = gettext_lazy("The disk is full. Free some space; the run then continues by itself.")
READ_ONLY = gettext_lazy("The disk is read-only. Make it writable; the run then continues by itself.")

# A worker whose run was cancelled or deleted may write until its next report.
QUIET_FOR = timedelta(hours=1)
RUNNING = (Run.State.QUEUED, Run.State.RUNNING)


@dataclass(frozen=True)
class Holding:
    """What the folder of a run holds, in bytes.

    run: None where its row was deleted.
    files: of its artifacts.
    rest: of everything else but the log and the curve of a run that is still there.
    reclaimable: of the rest, what can go now; a file that is also an artifact under another name frees nothing.
    """

    number: int
    run: Run | None
    files: int
    rest: int
    reclaimable: int

    @property
    def total(self) -> int:
        return self.files + self.rest


@dataclass(frozen=True)
class DiskUse:
    """The runs that hold something, largest first, and the volume that SEMBLANCE_HOME is on, in bytes."""

    holdings: Sequence[Holding]
    free: int
    volume: int

    @property
    def files(self) -> int:
        return sum(one.files for one in self.holdings)

    @property
    def rest(self) -> int:
        return sum(one.rest for one in self.holdings)

    @property
    def reclaimable(self) -> int:
        return sum(one.reclaimable for one in self.holdings)

    @property
    def leftovers(self) -> list[Holding]:
        return [one for one in self.holdings if one.reclaimable]


@dataclass(frozen=True)
class _File:
    path: str
    size: int
    inode: tuple[int, int]
    changed: float


def disk_refuses() -> str:
    """Why no run can be begun on the disk of SEMBLANCE_HOME now, in a sentence; "" where one can.

    A run on a full disk comes to nothing, and takes the last room from those who judge.
    """
    try:
        disk = os.statvfs(settings.SEMBLANCE_HOME)
    except OSError:  # the run itself finds out what is wrong with the folder
        return ""
    if disk.f_flag & os.ST_RDONLY:
        return str(READ_ONLY)
    needed = min(ROOM_LEAST, ROOM_LEAST_PART * disk.f_blocks * disk.f_frsize)
    return str(FULL) if disk.f_bavail * disk.f_frsize < needed else ""


def disk_awaited(error: BaseException) -> str:
    """What a run that ended with this error waits for, in a sentence; "" where the disk is not to blame."""
    if disk_is_full(error):
        return str(FULL)
    return str(READ_ONLY) if disk_is_read_only(error) else ""


def disk_use(*, at: datetime) -> DiskUse:
    """Looks at every file of every run once: 100,000 files take a second or two."""
    volume = shutil.disk_usage(settings.SEMBLANCE_HOME)
    holdings = [
        _holding(number, run, artifacts, at)
        for number, run, artifacts in _folders()
        if run_folder(number).is_dir()
    ]
    held = sorted((one for one in holdings if one.total), key=lambda one: -one.total)
    return DiskUse(held, volume.free, volume.total)


def beside_runs() -> list[tuple[str, int]]:
    """What else lies in SEMBLANCE_HOME and how many bytes it has, by name, such as `snapshots`; the largest first."""
    found: list[tuple[str, int]] = []
    for entry in os.scandir(settings.SEMBLANCE_HOME):
        path = Path(entry.path)
        if path == runs_folder():
            continue
        files = _files(path) if entry.is_dir(follow_symlinks=False) else _looked_at([entry.path])
        if size := sum({file.inode: file.size for file in files}.values()):
            found.append((entry.name, size))
    return sorted(found, key=lambda one: (-one[1], one[0]))


def leftovers_reclaim(*, at: datetime) -> int:
    """Remove what is left over; the bytes that this freed. Two who do it at once remove it once.

    A run never comes back to life once it has ended, and its row is there before its folder: what may go now may go
    whatever starts in the meantime.
    """
    freed = 0
    for number, run, artifacts in _folders():
        holding = _holding(number, run, artifacts, at)
        if not holding.reclaimable:
            continue
        if run is None:
            shutil.rmtree(run_folder(number), ignore_errors=True)
        else:
            _rest_remove(number, artifacts)
        freed += holding.reclaimable
    return freed


def stored_leftovers(*, at: datetime) -> dict[int, int]:
    """What nobody needs of runs in the file storage, in bytes by the run's number; nothing without one."""
    found: dict[int, int] = {}
    for number, objects in _stored(at).items():
        found[number] = sum(one.size for one in objects)
    return found


def stored_reclaim(*, at: datetime) -> int:
    """Remove what is left over in the file storage; the bytes that this freed."""
    freed = 0
    for objects in _stored(at).values():
        shared_forget(objects)
        freed += sum(one.size for one in objects)
    return freed


def _stored(at: datetime) -> dict[int, list[StoredObject]]:
    """The objects of each run that no row names, of runs that have ended and are quiet, and of deleted ones."""
    by_run: dict[int, list[StoredObject]] = {}
    for one in (*shared_objects("files/runs"), *shared_objects("sums/runs")):
        number = one.name.split("/")[2]
        if number.isdigit():
            by_run.setdefault(int(number), []).append(one)
    if not by_run:
        return {}
    # After the objects were listed: the row of a run is there before its first file.
    alive = set(Run.objects.filter(pk__in=by_run, state__in=RUNNING).values_list("pk", flat=True))
    rows = Artifact.objects.filter(removed_at=None, run__in=by_run).values_list("path", flat=True)
    named = list(rows)
    left = {}
    for run, objects in by_run.items():
        if run in alive or max(one.changed for one in objects) >= at - QUIET_FOR:
            continue
        over = [one for one in objects if not _is_named(one.name.split("/", 1)[1], named)]
        if over:
            left[run] = over
    return left


def _folders() -> Iterator[tuple[int, Run | None, Sequence[str]]]:
    """The number of each folder, its run, and the paths of its artifacts."""
    with suppress(FileNotFoundError):
        numbers = sorted(int(one.name) for one in os.scandir(runs_folder()) if one.name.isdigit())
        # After the folders were listed: the row of a run is there before its folder.
        runs = {run.pk: run for run in Run.objects.only("kind", "state").order_by()}
        paths: dict[int, list[str]] = {}
        for number, path in Artifact.objects.filter(removed_at=None).values_list("run", "path"):
            paths.setdefault(number, []).append(f"{settings.SEMBLANCE_HOME}/{path}")
        for number in numbers:
            yield number, runs.get(number), paths.get(number, [])


def _holding(number: int, run: Run | None, artifacts: Sequence[str], at: datetime) -> Holding:
    named: dict[tuple[int, int], int] = {}
    others: dict[tuple[int, int], int] = {}
    latest, kept = 0.0, set() if run is None else _kept_always(number)
    for file in _files(run_folder(number)):
        latest = max(latest, file.changed)
        if _is_named(file.path, artifacts):
            named[file.inode] = file.size
        elif file.path not in kept:
            others[file.inode] = file.size
    rest = sum(size for inode, size in others.items() if inode not in named)
    quiet = latest < (at - QUIET_FOR).timestamp()
    over = quiet and (run is None or run.ended)
    return Holding(number, run, sum(named.values()), rest, rest if over else 0)


def _files(folder: Path) -> Iterator[_File]:
    """Every file below."""
    for place, _folders, names in os.walk(folder):
        # As texts, which takes a quarter of the time of paths.
        yield from _looked_at(f"{place}/{name}" for name in names)


def _looked_at(paths: Iterable[str]) -> Iterator[_File]:
    """What another process removes in the meantime is left out."""
    for path in paths:
        with suppress(FileNotFoundError):
            found = os.lstat(path)
            yield _File(path, found.st_size, (found.st_dev, found.st_ino), found.st_mtime)


def _is_named(path: str, artifacts: Sequence[str]) -> bool:
    return any(path == one or path.startswith(f"{one}/") for one in artifacts)


def _kept_always(number: int) -> set[str]:
    """The log and the curve of a run are small, and its page shows them."""
    return {f"{run_folder(number)}/{name}" for name in (LOG, CURVE)}


def _rest_remove(number: int, artifacts: Sequence[str]) -> None:
    kept = _kept_always(number)
    for file in list(_files(run_folder(number))):
        if not _is_named(file.path, artifacts) and file.path not in kept:
            Path(file.path).unlink(missing_ok=True)
    for place, _folders, _names in os.walk(run_folder(number), topdown=False):
        with suppress(OSError):  # it holds an artifact or the log
            os.rmdir(place)
