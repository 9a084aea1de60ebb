"""How long a run will take, by earlier runs of this site, and how much room it needs on the disk."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from curation.files.json_text import json_from
from curation.foundation.heartbeats import database_now
from mlworkers.models import Run
from mlworkers.plans.kinds import Kind
from mlworkers.runs.references import model_of_run
from mlworkers.runs.selectors import live_workers
from mlworkers.runs.storage import artifact_place
from mlworkers.science.pretrained.sources import Kind as SourceKind
from mlworkers.science.pretrained.sources import ModelError, model_folder, parse_source, unavailable

RUNS_LOOKED_AT = 50
SAME_SIZE = 0.01  # of weights: an encoder and its base differ in their headers
FLOAT = 4  # bytes
OPTIMIZER = 3  # a checkpoint holds the weights and two moments of each
# What must be the same for a run to be as fast as another, beside the model. What a kind lacks is left out.
ALIKE = (
    *("batch_size", "batch_sizes", "max_length", "precision", "device", "devices"),
    *("suites", "classifier", "folds"),
    *("max_tokens", "self_debiasing", "chat_template", "concurrency"),
    *("layers", "width", "vocabulary", "context", "batch"),
    *("forward", "backward", "search", "engine", "beams"),
    *("contexts", "candidates", "background", "part_tokens"),
)


@dataclass(frozen=True)
class Pace:
    """An earlier run that did the same kind of work, and its seconds for a unit of it."""

    run: Run
    work: int
    seconds: float

    def seconds_for(self, work: int) -> float:
        return self.seconds * work / self.work


@dataclass(frozen=True)
class Room:
    """Bytes that a run keeps, those that it needs beside them while it goes on, and those that are free."""

    kept: int
    meanwhile: int
    free: int

    @property
    def fits(self) -> bool:
        return self.kept + self.meanwhile <= self.free


def pace_of(kind: Kind, plan: Any) -> Pace | None:
    """The newest run that succeeded without interruption, of the same kind and settings, with the same model or one
    whose weights have the same size, on a device that a worker of the queue has now.
    """
    kinds = [kind.name, kind.preview] if kind.preview else [kind.name]
    devices = {worker.device for worker in live_workers(database_now()) if kind.queue in worker.queues}
    runs = Run.objects.filter(kind__in=kinds, state=Run.State.SUCCEEDED, attempt=1).order_by("-pk")
    for run in runs[:RUNS_LOOKED_AT]:
        pace = _measured(run)
        if pace and (not devices or run.result.get("device") in devices) and _alike(plan, run.plan):
            return pace
    return None


def _measured(run: Run) -> Pace | None:
    result = run.result
    if "rows_of_the_run" in result:  # a preview has timed some of its rows
        return (
            Pace(run, result["rows_of_the_run"], result["most_seconds"])
            if result["rows_of_the_run"]
            else None
        )
    if not result.get("work") or run.started_at is None or run.finished_at is None:
        return None
    return Pace(run, result["work"], (run.finished_at - run.started_at).total_seconds())


def _alike(plan: Any, other: dict[str, Any]) -> bool:
    # Plans that were stored before a setting mean its default, which a dataclass keeps as an attribute.
    unlike = (
        hasattr(plan, name) and getattr(plan, name) != other.get(name, getattr(type(plan), name, None))
        for name in ALIKE
    )
    if any(unlike):
        return False
    model = getattr(plan, "model", "")
    if model == other.get("model", ""):
        return True
    sizes = [weights_size(name) for name in (model, str(other.get("model", "")))]
    return all(sizes) and abs(sizes[0] - sizes[1]) <= SAME_SIZE * sizes[0]


def room_of(kind: Kind, plan: Any, work: int, pace: Pace | None) -> Room | None:
    """None where nobody can tell, because the model is not on this machine and no run was like this one."""
    # The size of the files of a run like this one, for this much work.
    scaled = 0
    if pace is not None:
        scaled = int(sum(pace.run.artifacts.values_list("size", flat=True)) * work / pace.work)
    needed = (scaled, 0) if scaled else None
    if kind.room:
        needed = kind.function(kind.room)(plan, work, scaled)
    return Room(*needed, shutil.disk_usage(settings.SEMBLANCE_HOME).free) if needed else None


def weights_size(model: str) -> int:
    """The bytes of a model's weights; 0 where they are not on this machine."""
    return sum(file.stat().st_size for file in _files(model, "*.safetensors"))


def hidden_size(model: str) -> int:
    """The length of a model's vectors; 0 where nobody can tell."""
    for file in _files(model, "config.json"):
        with suppress(ValueError, OSError):
            found = json_from(file.read_text("utf-8")).get("hidden_size", 0)
            return found if isinstance(found, int) else 0
    return 0


def _files(model: str, pattern: str) -> Iterator[Path]:
    with suppress(ModelError, OSError, ValueError):
        folder = model_folder(parse_source(model), run_folder=_run_folder, hub_folder=_not_here)
        yield from sorted(folder.rglob(pattern))


def _run_folder(run: int, part: str) -> Path:
    """Nobody who fills in a form waits until a model is fetched."""
    return artifact_place(model_of_run(run, part, kinds=("encoder", "generator")))


def _not_here(name: str, _revision: str | None) -> Path:
    raise unavailable(f"{name} may not have been downloaded", SourceKind.HUB)
