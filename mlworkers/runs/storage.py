"""Where a run keeps its files: SEMBLANCE_HOME/runs/<id>/. Stored paths are relative to SEMBLANCE_HOME."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings

from curation.files.json_text import json_from
from curation.files.writing import replacing, sha256_of
from mlworkers.models import Artifact

LOG, CURVE = "log.txt", "curve.jsonl"  # in the folder of a run
LOG_MAX_BYTES = 1024**2
TAIL_MAX_BYTES = 16 * 1024


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


def artifact_path(artifact: Artifact) -> Path:
    """Its file or folder. Raises ValueError outside its run's folder, FileNotFoundError where it is gone."""
    path = home_path(artifact.path)
    folder = run_folder(artifact.run_id).resolve()
    if path == folder or not path.is_relative_to(folder):
        raise ValueError(f"{artifact.path} lies outside the folder of run {artifact.run_id}.")
    if not path.exists():
        raise FileNotFoundError(artifact.path)
    return path


def content_of(path: Path) -> tuple[str, int]:
    """The SHA-256 and the size in bytes of a file, or of a folder: then of the list of its files' names and sums."""
    if path.is_file():
        return sha256_of(path), path.stat().st_size
    files = sorted(file for file in path.rglob("*") if file.is_file())
    lines = [f"{sha256_of(file)}  {file.relative_to(path).as_posix()}\n" for file in files]
    total = sum(file.stat().st_size for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest(), total


def _append(path: Path, line: str) -> None:
    """A full disk loses the line and not the run: what matters is also in the run's row."""
    with suppress(OSError, ValueError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


class Curve:
    """Figures along a run, for its page: one JSON object a line, each with its step.

    A run that resumes from a checkpoint writes some steps again; of a step, the last line is valid.
    """

    def __init__(self, run_id: int) -> None:
        self.path = run_folder(run_id) / CURVE

    def write(self, step: int, **figures: float | str) -> None:
        _append(self.path, json.dumps({"step": step, **figures}))

    def read(self) -> list[dict[str, Any]]:
        """Every line, in the order written; what was cut off by a kill is left out."""
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
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

    def write(self, text: str) -> None:
        stamp = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        _append(self.path, f"{stamp} {text.rstrip()}")
        with suppress(OSError, ValueError):
            if self.path.stat().st_size > LOG_MAX_BYTES:
                kept = self.path.read_bytes()[-LOG_MAX_BYTES // 2 :].partition(b"\n")[2]
                with replacing(self.path) as file:
                    file.write("… earlier lines were left out\n".encode() + kept)

    def tail(self, lines: int = 40) -> str:
        """The last lines, or an empty text where nothing was logged."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, self.path.stat().st_size - TAIL_MAX_BYTES))
                return "\n".join(file.read().decode("utf-8", "replace").splitlines()[-lines:])
        except FileNotFoundError:
            return ""
