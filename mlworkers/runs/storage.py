"""Where a run keeps its files: SEMBLANCE_HOME/runs/<id>/. Stored paths are relative to SEMBLANCE_HOME."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import QuerySet

from curation.files.json_text import json_from
from curation.files.sums import content_sum, sums_of
from curation.files.writing import replacing
from curation.foundation.shared_files import local_remove, shared_path, shared_remove, shared_store
from mlworkers.models import Artifact, RunLine

LOG, CURVE = "log.txt", "curve.jsonl"  # in the folder of a run
LOG_MAX_BYTES = 1024**2
TAIL_MAX_BYTES = 16 * 1024
LOG_MAX_LINES = 10_000  # where they are rows
LINES_BETWEEN_LOOKS = 500


def runs_folder() -> Path:
    return Path(settings.SEMBLANCE_HOME) / "runs"


def run_folder(run_id: int) -> Path:
    return runs_folder() / str(run_id)


def attempt_folder(run_id: int, attempt: int) -> Path:
    """Each attempt has its own: a worker that was paused cannot put a late file over its successor's."""
    return run_folder(run_id) / str(attempt)


def kept_folder(run_id: int) -> Path:
    """What all attempts of a run share: shards and checkpoints."""
    return run_folder(run_id) / "kept"


def attempts_remove(run_id: int, *, up_to: int) -> None:
    """Remove what attempts wrote that came to nothing."""
    for attempt in range(1, up_to + 1):
        shutil.rmtree(attempt_folder(run_id, attempt), ignore_errors=True)


@contextmanager
def assistant_folder(run_id: int) -> Iterator[Path]:
    """What a worker that assists writes for itself; nobody else reads it, and it goes when the worker leaves."""
    folder = kept_folder(run_id) / "assistants" / uuid4().hex
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def runs_with_kept() -> list[int]:
    """The runs whose attempts share something on the disk."""
    folders = runs_folder().glob("*/kept")
    return [int(folder.parent.name) for folder in folders if folder.parent.name.isdigit()]


def home_relative(path: Path) -> str:
    return path.relative_to(settings.SEMBLANCE_HOME).as_posix()


def home_path(relative: str) -> Path:
    """The file behind a stored path. Raises ValueError where `..` or a link leads out of SEMBLANCE_HOME."""
    home = Path(settings.SEMBLANCE_HOME).resolve()
    path = (home / relative).resolve()
    if not path.is_relative_to(home):
        raise ValueError(f"{relative} lies outside SEMBLANCE_HOME.")
    return path


def artifact_place(artifact: Artifact) -> Path:
    """Where its file or folder lies on this machine, if it is here. Raises ValueError outside its run's folder."""
    path = home_path(artifact.path)
    folder = run_folder(artifact.run_id).resolve()
    if path == folder or not path.is_relative_to(folder):
        raise ValueError(f"{artifact.path} lies outside the folder of run {artifact.run_id}.")
    return path


def artifact_path(artifact: Artifact) -> Path:
    """Its file or folder, fetched from the file storage where it is not on this machine.

    Raises ValueError outside its run's folder, FileNotFoundError where it is gone, StorageError.
    """
    path = artifact_place(artifact)
    if not path.exists() and artifact.removed_at is None:
        shared_path(artifact.path, artifact.sha256)
    if not path.exists():
        raise FileNotFoundError(artifact.path)
    return path


def artifact_remove(artifact: Artifact) -> None:
    """Remove its files here and from the file storage. Raises ValueError as `artifact_place`."""
    local_remove(artifact_place(artifact))
    shared_remove(artifact.path)


def content_of(path: Path) -> tuple[str, int]:
    """The SHA-256 and the size in bytes of a file, or of a folder: then of the list of its files' names and sums."""
    sums = sums_of(path)
    return content_sum(sums), sum(one.size for one in sums)


def _append(path: Path, line: str) -> None:
    """A full disk loses the line and not the run: what matters is also in the run's row."""
    with suppress(OSError, ValueError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


class _Lines:
    """The lines of a run's log, or of its curve, as rows: on several machines nobody can append to one file."""

    def __init__(self, run_id: int, *, curve: bool) -> None:
        self._about = {"run_id": run_id, "curve": curve}

    def add(self, text: str) -> None:
        """A database that cannot be written loses the line and not the run."""
        with suppress(DatabaseError, InterfaceError, ValueError):
            with transaction.atomic():
                line = RunLine.objects.create(**self._about, text=text.replace("\0", ""))
            if not line.curve and line.pk % LINES_BETWEEN_LOOKS == 0:
                older = self._rows().order_by("-pk").values_list("pk", flat=True)[LOG_MAX_LINES:].first()
                self._rows().filter(pk__lte=older or 0).delete()

    def last(self, lines: int) -> list[str]:
        return [*self._rows().order_by("-pk").values_list("text", flat=True)[:lines]][::-1]

    def all(self) -> list[str]:
        return [*self._rows().order_by("pk").values_list("text", flat=True)]

    def _rows(self) -> QuerySet[RunLine]:
        return RunLine.objects.filter(**self._about)


class Curve:
    """Figures along a run, for its page: one JSON object a line, each with its step.

    A run that resumes from a checkpoint writes some steps again; of a step, the last line is valid.
    """

    def __init__(self, run_id: int) -> None:
        self.path = run_folder(run_id) / CURVE
        self._rows = _Lines(run_id, curve=True) if shared_store() else None

    def write(self, step: int, **figures: float | str) -> None:
        line = json.dumps({"step": step, **figures})
        if self._rows is not None:
            self._rows.add(line)
        else:
            _append(self.path, line)

    def read(self) -> list[dict[str, Any]]:
        """Every line, in the order written; what was cut off by a kill is left out."""
        try:
            lines = self._rows.all() if self._rows else self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        points = []
        for line in lines:
            with suppress(ValueError):
                points.append(json_from(line))
        return points


class RunLog:
    """Lines with their time in UTC, from every attempt. Past LOG_MAX_BYTES the oldest half is dropped."""

    def __init__(self, run_id: int) -> None:
        self.path = run_folder(run_id) / LOG
        self._rows = _Lines(run_id, curve=False) if shared_store() else None

    def write(self, text: str) -> None:
        stamp = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        line = f"{stamp} {text.rstrip()}"
        if self._rows is not None:
            self._rows.add(line)
            return
        _append(self.path, line)
        with suppress(OSError, ValueError):
            if self.path.stat().st_size > LOG_MAX_BYTES:
                kept = self.path.read_bytes()[-LOG_MAX_BYTES // 2 :].partition(b"\n")[2]
                with replacing(self.path) as file:
                    file.write("… earlier lines were left out\n".encode() + kept)

    def tail(self, lines: int = 40) -> str:
        """The last lines, or an empty text where nothing was logged."""
        if self._rows is not None:
            text = "\n".join(self._rows.last(lines))[-TAIL_MAX_BYTES:]
            return "\n".join(text.splitlines()[-lines:])
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, self.path.stat().st_size - TAIL_MAX_BYTES))
                return "\n".join(file.read().decode("utf-8", "replace").splitlines()[-lines:])
        except FileNotFoundError:
            return ""
