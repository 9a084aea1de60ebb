"""One training on one device, in this process, or on several, in a process each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol, TypeVar

import torch
from safetensors.torch import load_model, save_model
from torch import nn

from curation.files.progress import Report
from curation.files.writing import tell_removed, tell_written, watched
from mlworkers.science.pretrained.compute import Compute, choose_compute
from mlworkers.science.training.group import ALONE, Group, group_joined
from mlworkers.science.training.loop import CurvePoint, TrainingResult
from mlworkers.science.training.ranks import Say, together

Model = TypeVar("Model")
Note = Callable[[CurvePoint], object]


class Recipe(Protocol[Model]):
    """A training that any process can carry out, and that can be pickled: files, rows and a plan."""

    def model(self, compute: Compute) -> Model:
        """The model as it is before the training, the same in every process."""

    def module(self, model: Model) -> nn.Module:
        """The part of the model whose weights are trained."""

    def train(
        self, model: Model, compute: Compute, *, report: Report, note: Note, group: Group
    ) -> TrainingResult:
        """Train the module in place (`loop.train`)."""


def trained_on(
    devices: Sequence[str], precision: str, recipe: Recipe[Model], *, report: Report, note: Note
) -> tuple[Model, TrainingResult]:
    """The model, trained on the devices. On several, only this process reports and notes.

    Raises what the training raises, and `ranks.RankLost` where a process of several ends without a word.
    """
    compute = choose_compute(devices[0], precision)
    if len(devices) == 1:
        model = recipe.model(compute)
        return model, recipe.train(model, compute, report=report, note=note, group=ALONE)
    standing = 0, 0, f"Starting {len(devices)} processes that share each batch"

    def progress(done: int, total: int, message: str) -> None:
        nonlocal standing
        standing = done, total, message
        report(*standing)

    listeners: dict[str, Callable[..., object]] = {
        "progress": progress,
        "point": note,
        "written": tell_written,
        "removed": tell_removed,
    }
    with TemporaryDirectory(prefix="semblance-devices-") as folder:
        # The processes share the cores of one machine: more threads than cores in all would slow each other
        # down.
        threads = max(1, torch.get_num_threads() // len(devices))
        work = _Share(recipe, tuple(devices), precision, Path(folder), threads)
        result: TrainingResult = together(
            work,
            len(devices),
            hear=lambda kind, *what: listeners[kind](*what),
            look=lambda: report(*standing),  # somebody may want the training to stop while no step ends
        )
        model = recipe.model(compute)
        load_model(recipe.module(model), work.weights)  # of rank 0, which alone evaluates: the best ones
    recipe.module(model).eval()
    return model, result


class _Telling(NamedTuple):
    """Watches the process that leads (`writing.Watcher`)."""

    written: Callable[[Path], None]
    removed: Callable[[Path], None]


@dataclass(frozen=True)
class _Share:
    """What each of several processes does. folder: where they meet. threads: of each, on a processor."""

    recipe: Recipe[Any]
    devices: tuple[str, ...]
    precision: str
    folder: Path
    threads: int

    @property
    def weights(self) -> Path:
        """The trained weights, which the process that leads leaves."""
        return self.folder / "weights.safetensors"

    def __call__(self, rank: int, say: Say) -> TrainingResult:
        torch.set_num_threads(self.threads)
        compute = choose_compute(self.devices[rank], self.precision)  # rank r is on device r
        telling = _Telling(partial(say, "written"), partial(say, "removed"))
        with group_joined(rank, len(self.devices), self.folder, compute.device) as group, watched(telling):
            model = self.recipe.model(compute)
            report, note = partial(say, "progress"), partial(say, "point")
            result = self.recipe.train(model, compute, report=report, note=note, group=group)
        if rank == 0:
            save_model(self.recipe.module(model), str(self.weights))
        return result
