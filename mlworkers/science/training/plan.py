"""What the training loop has to know, whatever it trains. It needs no torch."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class LoopPlan:
    """AdamW's numbers and the seed.

    learning_rate: its peak; the schedule says what share of it a step takes.
    clip: a longer gradient is shortened to this norm; infinity leaves all as they are.
    weight_decay: of weights of two dimensions or more; biases and the scales of norms have none.
    seed: of everything random in the learner, such as dropout. The order of rows has the schedule's own.
    """

    learning_rate: float
    seed: int
    weight_decay: float = 0.0
    clip: float = math.inf
    betas: tuple[float, float] = (0.9, 0.999)  # decay of the means of the gradient and of its square
    epsilon: float = 1e-8  # added to the root of the latter
