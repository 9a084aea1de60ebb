"""When training does what: which pairs are in which batch, how high the learning rate is, and when it is looked at.

All of it follows from the step's number, so that a checkpoint needs to hold no more than that.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mlworkers.encoders.plan import EncoderPlan

Places = NDArray[np.int64]
_POINTS = 200  # of a curve


@dataclass(frozen=True)
class Schedule:
    """pairs: how many are learnt. The order of pairs depends on the seed and their number alone, so that encoders of
    different weights see the same batches.
    """

    pairs: int
    batch_size: int
    epochs: int
    warmup: int
    looks: int
    seed: int

    @property
    def per_epoch(self) -> int:
        return math.ceil(self.pairs / self.batch_size)

    @property
    def steps(self) -> int:
        return self.epochs * self.per_epoch

    def batch(self, step: int) -> Places:
        """The pairs of a step, counted from 0; an epoch's last batch holds what is left."""
        epoch, number = divmod(step, self.per_epoch)
        start = number * self.batch_size
        return _order(self.seed, epoch, self.pairs)[start : start + self.batch_size].copy()

    def rate(self, step: int) -> float:
        """The share of the learning rate at a step: up in a line over the warm-up, then down to 0.

        As transformers' linear schedule has it, so that the first step of a warm-up moves nothing.
        """
        if step < self.warmup:
            return step / self.warmup
        return (self.steps - step) / max(1, self.steps - self.warmup)

    def is_noted(self, done: int) -> bool:
        """Whether the curve gets a point after so many steps."""
        return done == self.steps or done % math.ceil(self.steps / _POINTS) == 0

    def is_looked_at(self, done: int) -> bool:
        """Whether the encoder is measured after so many steps: `looks` times an epoch, at its end for the last."""
        number = (done - 1) % self.per_epoch + 1
        share = number * self.looks // self.per_epoch
        return share > (number - 1) * self.looks // self.per_epoch


def schedule_of(plan: EncoderPlan, pairs: int) -> Schedule:
    steps = plan.epochs * math.ceil(pairs / plan.batch_size)
    warmup = math.ceil(plan.warmup * steps)
    return Schedule(pairs, plan.batch_size, plan.epochs, warmup, plan.looks, plan.seed)


@lru_cache(maxsize=2)
def _order(seed: int, epoch: int, pairs: int) -> Places:
    order: Places = np.random.default_rng([seed, epoch]).permutation(pairs)
    return order
