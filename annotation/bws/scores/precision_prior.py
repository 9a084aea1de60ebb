"""What is taken as known of the spread of the utilities before anybody judges.

The standard deviation s of the utilities, with l = s^-2 the precision of their prior, has a gamma density with shape 2,
s e^(-RATE s). It is 0 at s = 0 and rises in a straight line from there, so the most likely s is above 0, by about one
standard error where the judgements say nothing, and hardly moved where they say something (Chung, Rabe-Hesketh, Dorie,
Gelman and Liu 2013, section 3). They let the rate go to 0; a few judgements would then leave s without an upper bound.
All functions are of log l; the density is that of s, whose maximum is looked for.
"""

import numpy as np

RATE = 1.0  # so that without judgements the most likely s is 1


def log_density(log_precision: float) -> float:
    # s = exp(-log l / 2), so log s = -log l / 2.
    """log s - RATE s, up to a constant."""
    return -log_precision / 2 - RATE * float(np.exp(-log_precision / 2))


def slope(log_precision: float) -> float:
    """The derivative of `log_density`."""
    # d/d(log l) of -log l / 2 - RATE s, with ds / d(log l) = -s / 2.
    return (RATE * float(np.exp(-log_precision / 2)) - 1) / 2


def information(log_precision: float) -> float:
    # -d^2/d(log l)^2 = RATE s / 4, above 0 everywhere: the penalty is concave in log l.
    """The negative second derivative of `log_density`."""
    return RATE * float(np.exp(-log_precision / 2)) / 4
