"""The training loop. It knows nothing of the model, and nothing of who watches.

A training that was stopped and goes on from a checkpoint ends with the same weights as one that was not, bit for bit
on a processor (with as many threads): order and learning rate follow from the step's number, and dropout from the
state of torch's random numbers, which the checkpoint holds.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW

from curation.files.progress import Report, silent
from mlworkers.science.pretrained.compute import halving
from mlworkers.science.training.checkpoints import Checkpoints, State, random_restore, random_state
from mlworkers.science.training.group import ALONE, Group
from mlworkers.science.training.plan import LoopPlan
from mlworkers.science.training.schedule import Places, Schedule, is_curve_point
from mlworkers.science.training.whole_batches import Joining, WholeBatchLearner, whole_backward

Evaluate = Callable[[], float | None]
_FUSED = ("cpu", "cuda")  # one pass over each weight; on two cores, a sixth of the time


class TrainingError(ValueError):
    """Training cannot go on. One sentence."""


class Learner(Protocol):
    """What is trained by a loss that is a sum over the rows of a batch. The loop gives it batches, in parts where
    memory is short or several processes share them.
    """

    @property
    def module(self) -> nn.Module: ...

    def shares(self, batch: Places) -> Tensor:
        """What must be known of the whole batch before its parts are computed, a number for each row, (b,): mostly
        what the row adds to the batch's loss.
        """

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        """Add the gradients of some rows of a batch, and return their loss; a batch's parts add up to it."""


@dataclass(frozen=True)
class CurvePoint:
    """After so many steps: the mean loss since the last point, and what the model's evaluation gave."""

    step: int
    loss: float
    dev: float | None = None


@dataclass(frozen=True)
class TrainingResult:
    """steps taken; the point whose weights were kept: the best one where the model was evaluated, else the last; and
    every point. devices: how many shared each batch in the end.
    """

    steps: int
    kept: CurvePoint
    points: tuple[CurvePoint, ...]
    devices: int = 1

    @property
    def shared(self) -> dict[str, int]:
        """What a result says of devices: nothing where there was one."""
        return {"devices": self.devices} if self.devices > 1 else {}


def train(
    learner: Learner | WholeBatchLearner,
    schedule: Schedule,
    plan: LoopPlan,
    *,
    evaluate: Evaluate | None = None,
    checkpoints: Checkpoints | None = None,
    report: Report = silent,
    note: Callable[[CurvePoint], object] = lambda point: None,
    expired: Callable[[], bool] = lambda: False,
    message: str = "Training",
    group: Group = ALONE,
) -> TrainingResult:
    """Train the learner's module in place.

    evaluate: how good the model is, higher is better; the weights of its highest value are kept. report counts steps,
    and may raise to stop. note: of every point of the curve, those before a checkpoint too. expired: asked before each
    step whether the time is over; one step is always taken. group: the processes that share each batch, all of which
    call this; the one that leads evaluates and writes checkpoints, from which a group of any size goes on.
    Raises TrainingError where the loss is not a number, CheckpointError where the checkpoint is of something else, and
    TooLittleMemory where not even one row at a time fits.
    """
    device = next(learner.module.parameters()).device
    # A stream of the training's own; afterwards come the random numbers that would have come anyway.
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(plan.seed)
        looks = evaluate if group.leads else None  # every rank has the same weights: one look is enough
        loop = _Loop(learner, schedule, plan, evaluate=looks, checkpoints=checkpoints, group=group)
        loop.resume(note)
        while loop.done < schedule.steps:
            if expired() and loop.done:
                loop.add_point(note, evaluated=False)
                break
            report(loop.done, schedule.steps, message)
            loop.advance(report, note)
        report(loop.done, schedule.steps, message)
    return loop.finish()


class _Loop:
    """The state of a training. done: steps taken; loss_sum: of their losses since the last point of the curve."""

    def __init__(
        self,
        learner: Learner | WholeBatchLearner,
        schedule: Schedule,
        plan: LoopPlan,
        *,
        evaluate: Evaluate | None,
        checkpoints: Checkpoints | None,
        group: Group,
    ) -> None:
        self.learner, self.schedule, self.plan, self.group = learner, schedule, plan, group
        self.evaluate, self.checkpoints = evaluate, checkpoints
        self.optimizer = adamw(learner.module, plan)
        self.weights = dict(learner.module.named_parameters())
        self.device = next(iter(self.weights.values())).device
        self.done, self.points, self.best = 0, list[CurvePoint](), dict[str, Tensor]()
        self.loss_sum = torch.zeros((), device=self.device)
        self.rows_at_once: int | None = None  # all of a batch, as long as memory suffices

    def advance(self, report: Report, note: Callable[[CurvePoint], object]) -> None:
        """One step, and what is due after it."""
        self._step(lambda sentence: report(self.done, self.schedule.steps, sentence))
        evaluated = self.evaluate is not None and self.schedule.is_evaluated(self.done)
        if evaluated or is_curve_point(self.done, self.schedule.steps):
            self.add_point(note, evaluated=evaluated)
        if self.group.leads and self.checkpoints is not None and self.checkpoints.is_due(self.done):
            tensors = {
                "weights": {name: weight.detach() for name, weight in self.weights.items()},
                "optimizer": state_tensors(self.optimizer, self.weights),
                "random": random_state(self.device),
                "best": self.best,
            }
            # The losses since the last point are kept too: its mean goes on where it stopped.
            figures = {"loss_sum": float(self.loss_sum), "points": [asdict(point) for point in self.points]}
            self.checkpoints.save(State(self.done, tensors, figures))

    def _step(self, say: Callable[[str], object]) -> None:
        self.learner.module.train()
        batch = self.schedule.batch(self.done)
        shares = self.learner.shares(batch)  # (b,)
        again = True
        while again:
            loss, again = self._gradients(batch, shares, say)
        # The norm is that of all weights' gradients together, after the parts of the batch were added up:
        # clipping changes the length of the step's gradient and not its direction.
        clip_grad_norm_(self.weights.values(), self.plan.clip)
        for group in self.optimizer.param_groups:
            # Peak · share of step `done`, from 0.
            group["lr"] = self.plan.learning_rate * self.schedule.rate(self.done)
        self.optimizer.step()
        # A tensor on the device: reading its value at every step would make the processor wait for the GPU.
        self.loss_sum += loss
        self.done += 1

    def _gradients(self, batch: Places, shares: Tensor, say: Callable[[str], object]) -> tuple[Tensor, bool]:
        """Of the batch, summed over the group; the loss, and whether all must compute them again."""
        own = self.group.part(len(batch))
        self.group.seed(self.plan.seed, self.done)
        before = random_state(self.device)  # the same dropout when a step starts again
        join = Joining(self.group, len(batch)) if self.group.size > 1 else None

        def in_parts(rows: int) -> Tensor:
            """Of this process's rows of the batch, in parts of at most so many; they add up to the same."""
            self.optimizer.zero_grad()
            random_restore(before, self.device)
            if isinstance(self.learner, WholeBatchLearner):
                return whole_backward(self.learner, batch, shares, rows=rows, group=self.group, join=join)
            # L = Σ_i loss_i, with each row's share of the batch within loss_i, so gradients of parts add up
            # to those of L. A part's graph is freed before the next part is computed.
            total = torch.zeros((), device=self.device)
            for start in range(own.start, own.stop, rows):
                part = slice(start, min(start + rows, own.stop))
                total += self.learner.backward(batch[part], shares[part])  # Σ over parts
            return total

        most = max(1, own.stop - own.start)  # rows of this process
        loss, rows = halving(in_parts, min(self.rows_at_once or most, most), say)
        if rows < most:
            self.rows_at_once = rows  # what fitted once is not tried larger again
        return self.group.summed(self.weights.values(), loss, again=join is not None and join.again)

    def add_point(self, note: Callable[[CurvePoint], object], *, evaluated: bool) -> None:
        """To the curve, unless it has one of this step already."""
        since = self.done - (self.points[-1].step if self.points else 0)
        if not since:
            return
        # A sum over steps that contains one NaN or infinity is not finite, so one look at a point is enough.
        loss = float(self.loss_sum) / since  # mean over the steps since the last point
        if not math.isfinite(loss):
            raise TrainingError(
                f"The loss is not a number any more at step {self.done} of {self.schedule.steps}; choose a lower "
                "learning rate."
            )
        dev = self.evaluate() if evaluated and self.evaluate else None
        # Strictly greater: of equal evaluations the first is kept.
        if dev is not None and (not self.best or dev > _dev(self._best_point())):
            self.best = {name: weight.detach().cpu().clone() for name, weight in self.weights.items()}
        self.points.append(CurvePoint(self.done, loss, dev))
        self.loss_sum.zero_()
        note(self.points[-1])

    def _best_point(self) -> CurvePoint:
        """The first of the points with the best evaluation; the last one where there was none."""
        evaluated = [point for point in self.points if point.dev is not None]
        return max(evaluated, key=_dev, default=self.points[-1])  # max takes the first of equal ones

    def resume(self, note: Callable[[CurvePoint], object]) -> None:
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
        self.points = [CurvePoint(**point) for point in state.figures["points"]]
        self.loss_sum.fill_(state.figures["loss_sum"])
        for point in self.points:
            note(point)

    def finish(self) -> TrainingResult:
        """Put the best weights back, if there were evaluations, and turn dropout off. Returns what training gave."""
        with torch.no_grad():
            for name, saved in self.best.items():
                self.weights[name].copy_(saved)
        self.learner.module.eval()
        return TrainingResult(self.done, self._best_point(), tuple(self.points), self.group.size)


def _dev(point: CurvePoint) -> float:
    return -math.inf if point.dev is None else point.dev


def adamw(module: nn.Module, plan: LoopPlan) -> AdamW:
    """For all of a module's weights; those of one dimension (biases, and the scales of norms) do not decay.

    The loop sets the learning rate at every step. Unlike RISE's, this optimizer corrects the bias of its first steps.
    """
    weights = list(module.parameters())
    fused = all(weight.device.type in _FUSED for weight in weights)
    groups = [
        # AdamW's decay is decoupled: w becomes w - rate · decay · w, apart from the moments of the gradient.
        # It follows the schedule, because it is multiplied by the rate.
        {"params": [weight for weight in weights if weight.ndim > 1], "weight_decay": plan.weight_decay},
        {"params": [weight for weight in weights if weight.ndim <= 1], "weight_decay": 0.0},
    ]
    return AdamW(groups, lr=0.0, betas=plan.betas, eps=plan.epsilon, fused=fused)


def state_tensors(optimizer: AdamW, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What the optimizer knows of each weight, under "moment/weight". A weight without a gradient has nothing."""
    return {
        f"{moment}/{name}": value
        for name, weight in weights.items()
        for moment, value in optimizer.state.get(weight, {}).items()
    }


def state_restore(optimizer: AdamW, weights: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> None:
    """The inverse of `state_tensors`."""
    for key, saved in tensors.items():
        moment, _, name = key.partition("/")
        weight = weights[name]
        # A fused step counts on the device; one that is not counts on the processor.
        fused = optimizer.defaults["fused"] or moment != "step"
        optimizer.state[weight][moment] = saved.to(weight.device) if fused else saved
