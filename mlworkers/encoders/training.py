"""The training loop. It knows nothing of the model, and nothing of who watches.

A run that was stopped and goes on from a checkpoint ends with the same weights as one that was not, bit for bit on a
processor (with as many threads): order and learning rate follow from the step's number, and dropout from the state
of torch's random numbers, which the checkpoint holds.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from mlworkers.compute import halving
from mlworkers.encoders.checkpoints import Checkpoints, State
from mlworkers.encoders.forward import Places
from mlworkers.encoders.optimizing import adamw, state_restore, state_tensors
from mlworkers.encoders.plan import EncoderPlan
from mlworkers.encoders.randomness import random_restore, random_state, random_states_apart
from mlworkers.encoders.schedule import Schedule, schedule_of
from mlworkers.progress import Report, silent

Measure = Callable[[], float | None]


class TrainingError(ValueError):
    """Training cannot go on. One sentence."""


class Learner(Protocol):
    """What is trained, and on how many rows."""

    count: int

    @property
    def module(self) -> nn.Module: ...

    def shares(self, batch: Places) -> Tensor:
        """What each row of a batch adds to the batch's loss, (b,)."""

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        """Add the gradients of some rows of a batch, and return their loss; a batch's parts add up to it."""


@dataclass(frozen=True)
class Point:
    """After so many steps: the mean loss since the last point, and what the encoder measures on held-back pairs."""

    step: int
    loss: float
    dev: float | None = None


@dataclass(frozen=True)
class Trained:
    """steps taken; the point whose weights were kept: the best one where pairs were held back, else the last; and every
    point.
    """

    steps: int
    kept: Point
    points: tuple[Point, ...]


def train(
    learner: Learner,
    plan: EncoderPlan,
    *,
    measure: Measure | None = None,
    checkpoints: Checkpoints | None = None,
    report: Report = silent,
    note: Callable[[Point], object] = lambda point: None,
) -> Trained:
    """Train the learner's module in place.

    measure: agreement with held-back pairs, in -1..1; the weights of its highest value are kept. report counts steps,
    and may raise to stop. note: of every point of the curve, those before a checkpoint too.
    Raises TrainingError where the loss is no number, CheckpointError where the checkpoint is of something else, and
    TooLittleMemory where not even one row at a time fits.
    """
    device = next(learner.module.parameters()).device
    with random_states_apart(device, seed=plan.seed):
        loop = _Loop(learner, plan, measure, checkpoints)
        loop.resume(note)
        while loop.done < loop.schedule.steps:
            report(loop.done, loop.schedule.steps, "Training")
            loop.advance(report, note)
        report(loop.done, loop.schedule.steps, "Training")
    return loop.finish()


class _Loop:
    """Where a training stands. done: steps taken; lost: the sum of their losses since the last point."""

    def __init__(
        self, learner: Learner, plan: EncoderPlan, measure: Measure | None, checkpoints: Checkpoints | None
    ) -> None:
        self.learner, self.plan, self.measure, self.checkpoints = learner, plan, measure, checkpoints
        self.schedule: Schedule = schedule_of(plan, learner.count)
        self.optimizer = adamw(learner.module, weight_decay=plan.weight_decay)
        self.weights = dict(learner.module.named_parameters())
        self.device = next(iter(self.weights.values())).device
        self.done, self.points, self.best = 0, list[Point](), dict[str, Tensor]()
        self.lost = torch.zeros((), device=self.device)
        self.rows_at_once = plan.batch_size

    def advance(self, report: Report, note: Callable[[Point], object]) -> None:
        """One step, and what is due after it."""
        self._step(lambda sentence: report(self.done, self.schedule.steps, sentence))
        looked = self.measure is not None and self.schedule.is_looked_at(self.done)
        if looked or self.schedule.is_noted(self.done):
            self._note(note, looked=looked)
        if self.checkpoints is not None and self.checkpoints.is_due(self.done):
            self.checkpoints.save(self._state())

    def _step(self, say: Callable[[str], object]) -> None:
        self.learner.module.train()
        batch = self.schedule.batch(self.done)
        shares = self.learner.shares(batch)
        before = random_state(self.device)

        def gradients(rows: int) -> Tensor:
            """Of the whole batch, in parts of at most so many rows; they add up to the same."""
            self.optimizer.zero_grad()
            random_restore(before, self.device)
            total = torch.zeros((), device=self.device)
            for start in range(0, len(batch), rows):
                part = slice(start, start + rows)
                total += self.learner.backward(batch[part], shares[part])
            return total

        loss, rows = halving(gradients, min(self.rows_at_once, len(batch)), say)
        if rows < len(batch):
            self.rows_at_once = rows
        clip_grad_norm_(self.weights.values(), self.plan.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.learning_rate * self.schedule.rate(self.done)
        self.optimizer.step()
        self.lost += loss
        self.done += 1

    def _note(self, note: Callable[[Point], object], *, looked: bool) -> None:
        since = self.done - (self.points[-1].step if self.points else 0)
        loss = float(self.lost) / since
        if not math.isfinite(loss):
            raise TrainingError(
                f"The loss is no number any more at step {self.done} of {self.schedule.steps}; choose a lower "
                "learning rate."
            )
        dev = self.measure() if looked and self.measure else None
        if dev is not None and (not self.best or dev > (self._best_point().dev or -math.inf)):
            self.best = {name: weight.detach().cpu().clone() for name, weight in self.weights.items()}
        self.points.append(Point(self.done, loss, dev))
        self.lost.zero_()
        note(self.points[-1])

    def _best_point(self) -> Point:
        """The first of the points that measured best; the last one where none was measured."""
        measured = [point for point in self.points if point.dev is not None]
        return max(measured, key=lambda point: point.dev or -math.inf, default=self.points[-1])

    def _state(self) -> State:
        tensors = {
            "weights": {name: weight.detach() for name, weight in self.weights.items()},
            "optimizer": state_tensors(self.optimizer, self.weights),
            "random": random_state(self.device),
            "best": self.best,
        }
        figures = {"lost": float(self.lost), "points": [asdict(point) for point in self.points]}
        return State(self.done, tensors, figures)

    def resume(self, note: Callable[[Point], object]) -> None:
        """Go on from the newest checkpoint, if there is one."""
        state = self.checkpoints.newest(self.weights) if self.checkpoints is not None else None
        if state is None:
            return
        with torch.no_grad():
            for name, saved in state.tensors["weights"].items():
                self.weights[name].copy_(saved)
        state_restore(self.optimizer, self.weights, state.tensors["optimizer"])
        random_restore(state.tensors["random"], self.device)
        self.best, self.done = state.tensors["best"], state.step
        self.points = [Point(**point) for point in state.figures["points"]]
        self.lost.fill_(state.figures["lost"])
        for point in self.points:
            note(point)

    def finish(self) -> Trained:
        with torch.no_grad():
            for name, saved in self.best.items():
                self.weights[name].copy_(saved)
        self.learner.module.eval()
        return Trained(self.done, self._best_point(), tuple(self.points))
