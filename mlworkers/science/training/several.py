"""One training on one device, in this process, or on several, in a process each."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeVar

import torch
from safetensors.torch import load_file, save_file
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
    standing: list[Any] = [0, 0, f"Starting {len(devices)} processes that share each batch"]

    def hear(message: CurvePoint | _Change | tuple[int, int, str]) -> None:
        if isinstance(message, CurvePoint):
            note(message)
        elif isinstance(message, _Change):
            message.tell()
        else:
            standing[:] = message
            report(*message)

    def look() -> None:
        report(*standing)  # somebody may want the training to stop while no step ends

    with TemporaryDirectory(prefix="semblance-devices-") as folder:
        # The processes share the cores of one machine: more threads than cores in all would slow each other
        # down.
        threads = max(1, torch.get_num_threads() // len(devices))
        work = _Share(recipe, tuple(devices), precision, Path(folder), threads)
        result: TrainingResult = together(work, len(devices), hear=hear, look=look)
        model = recipe.model(compute)
        learned = load_file(work.weights)
        with torch.no_grad():
            for name, weight in recipe.module(model).named_parameters():
                weight.copy_(learned[name])  # of rank 0, which alone evaluates and so has the best ones
    recipe.module(model).eval()
    return model, result


@dataclass(frozen=True)
class _Change:
    """A file or folder that the process that leads has written or removed: those who watch this process learn of it."""

    path: Path
    written: bool

    def tell(self) -> None:
        (tell_written if self.written else tell_removed)(self.path)


@dataclass(frozen=True)
class _Telling:
    """Watches the process that leads (`writing.Watcher`)."""

    say: Say

    def written(self, path: Path) -> None:
        self.say(_Change(path, written=True))

    def removed(self, path: Path) -> None:
        self.say(_Change(path, written=False))


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

        def report(done: int, total: int, message: str) -> None:
            say((done, total, message))

        with group_joined(rank, len(self.devices), self.folder, compute.device) as group:
            model = self.recipe.model(compute)
            with watched(_Telling(say)) if rank == 0 else nullcontext():
                result = self.recipe.train(model, compute, report=report, note=say, group=group)
        if rank == 0:
            named = self.recipe.module(model).named_parameters()
            save_file({name: weight.detach().contiguous() for name, weight in named}, self.weights)
        return result
