"""What tests of trainings on several devices send to other processes: it must be importable there."""

import json
import os
import signal
from dataclasses import dataclass
from multiprocessing import current_process
from pathlib import Path
from shutil import copytree

import numpy as np
import torch

from curation.files.progress import silent
from mlworkers.science.encoders.training import EncoderTraining, RankingLearner
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.training.group import Group, group_joined
from mlworkers.science.training.loop import CurvePoint, train
from mlworkers.science.training.several import Recipe

CPU = choose_compute("cpu")


def without_dropout(encoder: Path, folder: Path) -> Path:
    """A copy of the encoder that drops nothing out."""
    copytree(encoder, folder)
    for file in folder.rglob("config.json"):
        config = json.loads(file.read_text())
        if "hidden_dropout_prob" in config:
            config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
            file.write_text(json.dumps(config))
    return folder


@dataclass(frozen=True)
class Trainings:
    """What each of two processes does: several trainings, one after another. Gives the curve and the weights of each.

    folder: where they meet.
    """

    recipes: tuple[Recipe, ...]
    folder: Path

    def __call__(self, rank: int, say) -> list[tuple[list[CurvePoint], dict[str, np.ndarray]]]:
        with group_joined(rank, 2, self.folder, CPU.device) as group:
            return [trained(recipe, group) for recipe in self.recipes]


def trained(recipe: Recipe, group: Group) -> tuple[list[CurvePoint], dict[str, np.ndarray]]:
    points, model = list[CurvePoint](), recipe.model(CPU)
    recipe.train(model, CPU, report=silent, note=points.append, group=group)
    weights = recipe.module(model).named_parameters()
    return points, {name: weight.detach().numpy() for name, weight in weights}


class Cramped(RankingLearner):
    """Its first batch does not fit: memory runs short before its rows are joined with those of others, or after."""

    short = ""

    def outputs(self, batch):
        self._check_memory("before")
        return super().outputs(batch)

    def loss(self, outputs, batch, shares):
        self._check_memory("after")
        return super().loss(outputs, batch, shares)

    def _check_memory(self, moment: str) -> None:
        if moment == self.short:
            self.short = ""
            raise torch.OutOfMemoryError("CUDA out of memory")


@dataclass(frozen=True)
class CrampedTraining(EncoderTraining):
    """Of a ranking loss, where the second process is short of memory. short: before its rows are joined, or after."""

    short: str

    def train(self, model, compute, *, report, note, group):
        plan = self.plan
        learner = Cramped(model, self.used, self.weights, compute, loss=plan.loss, scale=plan.loss_scale)
        learner.short = self.short if group.rank == 1 else ""
        return train(
            learner, plan.schedule(len(self.used)), plan.loop(), report=report, note=note, group=group
        )


@dataclass
class ClockOfOneCheckpoint:
    """A clock by which a checkpoint is due after one step, and then never again."""

    step: int
    asked: int = 0

    def __call__(self) -> float:
        self.asked += 1  # once at the beginning, then after each step
        return 100.0 if self.asked > self.step else 0.0


@dataclass
class ClockThatRuns:
    """A clock by which a checkpoint is due after each step."""

    seconds: float = 0.0

    def __call__(self) -> float:
        self.seconds += 100.0
        return self.seconds


@dataclass
class DeadlyClock:
    """A clock that kills the process of one rank when it is first looked at there."""

    rank: int

    def __call__(self) -> float:
        if current_process().name.startswith(f"rank {self.rank} "):
            os.kill(os.getpid(), signal.SIGKILL)
        return 0.0
