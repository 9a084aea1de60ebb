"""The state of a training on the disk: safetensors and JSON in a folder that is there whole or not at all.

A checkpoint names the plan and the pairs that it belongs to, and the shape of every weight; another training is not
continued from it. Order and learning rate follow from the step's number (`schedule`).
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from curation.files.json_text import json_from
from curation.files.writing import folder_remove, folder_replacing, make_folder

# Checkpoints of a training that keeps them by the clock. One of 22 million weights is a quarter of a gigabyte, written
# in about a second.
SECONDS_BETWEEN = 60.0
_TENSORS, _FIGURES = "tensors.safetensors", "state.json"


class CheckpointError(ValueError):
    """The checkpoint belongs to another training, or is damaged. One sentence."""


@dataclass(frozen=True)
class State:
    """After so many steps: groups of named tensors (weights, optimizer, random, best), and figures as JSON has them."""

    step: int
    tensors: dict[str, dict[str, Tensor]]
    figures: dict[str, Any]


class Checkpoints:
    """The checkpoints of one training, of which the newest is kept.

    about: what it is, such as its plan and the digest of its pairs, in words that can be compared. One is due after
    every_steps (0: never), and where every_seconds have gone by on the clock `now` since the last (None: never).
    """

    def __init__(
        self,
        folder: Path,
        *,
        about: Mapping[str, Any],
        every_steps: int = 0,
        every_seconds: float | None = None,
        now: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._folder = folder
        self._about: dict[str, Any] = json_from(json.dumps(dict(about)))
        self._every_steps, self._every_seconds, self._now = every_steps, every_seconds, now
        self._saved_at = now()

    def is_due(self, step: int) -> bool:
        if self._every_steps and step % self._every_steps == 0:
            return True
        return self._every_seconds is not None and self._now() - self._saved_at >= self._every_seconds

    def save(self, state: State) -> None:
        """Put the state on the disk, and then remove older ones. Raises FileError where the disk is full."""
        make_folder(self._folder)
        # The name is the step's: every process that comes to this step writes the same.
        with folder_replacing(self._folder / f"step-{state.step:09d}", once=True) as folder:
            tensors = {
                f"{group}/{name}": value.contiguous()
                for group, part in state.tensors.items()
                for name, value in part.items()
            }
            save_file(tensors, folder / _TENSORS)
            told = {"about": self._about, "step": state.step, "groups": list(state.tensors), **state.figures}
            (folder / _FIGURES).write_text(json.dumps(told), encoding="utf-8")
        for older in self._all()[:-1]:  # after the new one is whole: there is always one
            folder_remove(older)
        self._saved_at = self._now()

    def newest(self, weights: Mapping[str, Tensor]) -> State | None:
        """The newest state, of a model with such weights; None where there is none.

        Raises CheckpointError where it belongs to another training, or cannot be read.
        """
        folders = self._all()
        if not folders:
            return None
        try:
            figures = json_from((folders[-1] / _FIGURES).read_text("utf-8"))
            about, step, groups = (figures.pop(name) for name in ("about", "step", "groups"))
            tensors: dict[str, dict[str, Tensor]] = {group: {} for group in groups}
            for key, value in load_file(folders[-1] / _TENSORS).items():
                group, _, name = key.partition("/")  # names of weights may hold further “/”
                tensors[group][name] = value
        except (OSError, ValueError, KeyError, SafetensorError) as error:
            raise CheckpointError(
                f"The checkpoint {folders[-1]} is damaged; remove it and start again."
            ) from error
        names = sorted(self._about.keys() | about.keys())
        # A plan, or rows, that differ in anything would give other batches or other steps.
        other = [name for name in names if about.get(name) != self._about.get(name)]
        if other:
            raise CheckpointError(
                f"The checkpoint at step {step} belongs to another training: its {other[0]} is "
                f"{about.get(other[0])!r}, not {self._about.get(other[0])!r}; remove it and start again."
            )
        saved = tensors["weights"]
        for name in sorted(saved.keys() | weights.keys()):
            there, here = (
                str(tuple(side[name].shape)) if name in side else "missing" for side in (saved, weights)
            )
            if there != here:
                raise CheckpointError(
                    f"The checkpoint at step {step} belongs to another architecture: its weight {name} is {there}, the "
                    f"model's is {here}; remove it and start again."
                )
        return State(step, tensors, figures)

    def remove(self) -> None:
        """Remove them all: the training has ended."""
        folder_remove(self._folder)

    def _all(self) -> list[Path]:
        return sorted(self._folder.glob("step-*"))  # nine digits: names sort as their numbers


def checkpoints_of(
    folder: Path | None,
    plan: Any,
    examples: object,
    *,
    every_steps: int = 0,
    now: Callable[[], float] | None = None,
    **others: object,
) -> Checkpoints | None:
    """Those of a training by this plan (a dataclass) on these examples; None where there is no folder for them.

    examples: what is learned from, in values whose `repr` tells them apart. One is due after every_steps and, where
    there is a clock, SECONDS_BETWEEN by it. others: what else tells trainings by one plan apart, such as a seed.
    """
    if folder is None:
        return None
    # The digest covers the order too, because batches are made of row numbers.
    about = {**asdict(plan), **others, "examples": hashlib.sha256(repr(examples).encode()).hexdigest()}
    about.pop("devices", None)  # a training goes on with another number of them
    if now is None:
        return Checkpoints(folder, about=about, every_steps=every_steps)
    return Checkpoints(folder, about=about, every_steps=every_steps, every_seconds=SECONDS_BETWEEN, now=now)


def random_state(device: torch.device) -> dict[str, Tensor]:
    """Torch's random numbers, from which dropout is drawn: of the processor and, where the device is a GPU, of that."""
    state = {"cpu": torch.get_rng_state()}  # 5,056 bytes: the Mersenne Twister's
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)  # 16 bytes: Philox's seed and offset
    return state


def random_restore(state: Mapping[str, Tensor], device: torch.device) -> None:
    """Go back to where they stood; what another kind of device drew means nothing here."""
    torch.set_rng_state(state["cpu"])
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], device)
