"""When training does what: which rows are in which step's batch, what share of the learning rate it takes, and when
the curve gets a point or the model is evaluated.

All of it follows from the step's number, so that a checkpoint needs to hold no more than that.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
CURVE_POINTS = 200
BATCHES_IN_POOL = 8


class Schedule(Protocol):
    """Steps are counted from 0; `done` is the number of steps taken."""

    @property
    def steps(self) -> int: ...

    def batch(self, step: int) -> Places:
        """The places of the step's rows, (b,)."""

    def rate(self, step: int) -> float:
        """The share of the peak learning rate, in 0..1."""

    def is_evaluated(self, done: int) -> bool:
        """Whether the model is evaluated."""


@dataclass(frozen=True)
class ShuffledEpochs:
    """Every row once an epoch, in an order that follows from the seed and the number of rows alone, so that models
    that weigh their rows differently see the same batches.

    warmup: the share of all steps over which the rate rises, rounded up to whole ones. evaluations: in each epoch.
    """

    rows: int
    batch_size: int
    epochs: int
    warmup: float
    seed: int
    evaluations: int = 1

    @property
    def per_epoch(self) -> int:
        return math.ceil(self.rows / self.batch_size)  # the last batch may be smaller

    @property
    def steps(self) -> int:
        return self.epochs * self.per_epoch

    def batch(self, step: int) -> Places:
        """An epoch's last batch holds the rows that are left."""
        # The rows of a step are a function of its number: nothing has to be replayed to go on from a
        # checkpoint.
        epoch, number = divmod(step, self.per_epoch)
        start = number * self.batch_size
        return _order(self.seed, epoch, self.rows)[start : start + self.batch_size].copy()

    @property
    def rising_steps(self) -> int:
        return math.ceil(self.warmup * self.steps)

    def rate(self, step: int) -> float:
        """Up in a line over the warm-up, then down to 0, as transformers' linear schedule has it: the first step of a
        warm-up moves nothing.
        """
        if step < self.rising_steps:
            return step / self.rising_steps
        # The line is 1 at the step `rising_steps` and would reach 0 at `steps`, so the last step still moves
        # something.
        return (self.steps - step) / max(1, self.steps - self.rising_steps)

    def is_evaluated(self, done: int) -> bool:
        """`evaluations` times an epoch, the last time at its end."""
        # With e evaluations in p steps, floor(k e / p) rises e times, by 1, as k goes from 0 to p >= e: at
        # nearly equal distances, the last time at k = p.
        number = (done - 1) % self.per_epoch + 1
        share = number * self.evaluations // self.per_epoch
        return share > (number - 1) * self.evaluations // self.per_epoch


class BatchesOfLikeLength:
    """Batches of rows of like length, so that little of them is padding; a number of steps, whatever the epochs.

    lengths: tokens of each row, (n,). Every epoch has every row once, in its own order. warmup: the share of all
    steps over which the rate rises; unlike `ShuffledEpochs`, its first step already moves something. evaluated: whether
    the model is evaluated at the end of every epoch.
    """

    def __init__(
        self,
        lengths: NDArray[np.int64],
        *,
        batch_size: int,
        steps: int,
        warmup: float,
        seed: int,
        evaluated: bool = False,
    ) -> None:
        self._lengths, self._batch_size, self._seed = lengths, batch_size, seed
        self._per_epoch, self._evaluated = math.ceil(len(lengths) / batch_size), evaluated
        self._rising = max(1.0, warmup * steps)  # steps, not rounded
        self._epoch, self._batches = -1, list[Places]()
        self.steps = steps

    def batch(self, step: int) -> Places:
        """The rows of step `step`, from 0. The batches of an epoch follow from the seed and the epoch's number."""
        epoch, number = divmod(step, self._per_epoch)
        if epoch != self._epoch:
            self._epoch = epoch
            self._batches = batches_of_like_length(self._lengths, self._batch_size, seed=(self._seed, epoch))
        return self._batches[number]

    def rate(self, step: int) -> float:
        # The lower of two lines: one rises to 1 at the last step of the warm-up, the other falls from 1 at
        # the next.
        return min((step + 1) / self._rising, (self.steps - step) / max(1.0, self.steps - self._rising))

    def is_evaluated(self, done: int) -> bool:
        return self._evaluated and done % self._per_epoch == 0


def batches_of_like_length(lengths: NDArray[np.int64], size: int, *, seed: tuple[int, int]) -> list[Places]:
    """Every row once, in batches of like length and in random order.

    lengths: tokens of each row, (n,). Rows are shuffled, sorted within pools of some batches, cut and shuffled again.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(lengths))  # (n,)
    pool = size * BATCHES_IN_POOL  # rows that are sorted together
    batches = []
    for start in range(0, len(order), pool):
        drawn = order[start : start + pool]
        # Within a pool of some batches and not over all rows: each epoch then has other batches, and lengths
        # within a batch are still close. A stable sort leaves rows of equal length in their random order.
        alike = drawn[np.argsort(lengths[drawn], kind="stable")]
        batches += [alike[first : first + size] for first in range(0, len(alike), size)]
    return [batches[index] for index in rng.permutation(len(batches))]


def is_curve_point(done: int, steps: int) -> bool:
    """Whether the curve gets a point after so many of the steps."""
    # Of `steps` steps, every ceil(steps / 200)-th: 200 points at most, and one more for the last step.
    return done == steps or done % math.ceil(steps / CURVE_POINTS) == 0


@lru_cache(maxsize=2)
def _order(seed: int, epoch: int, rows: int) -> Places:
    order: Places = np.random.default_rng([seed, epoch]).permutation(rows)
    return order
