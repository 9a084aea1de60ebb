"""What weights do to a training set."""

import numpy as np
from numpy.typing import ArrayLike


def effective_size(weights: ArrayLike) -> float:
    """(sum w)^2 / sum w^2 (Kish 1965): how many equally weighted rows would carry as much.

    Raises ValueError where a weight is negative or not finite, or all are 0.
    """
    values = np.asarray(weights, dtype=np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("A weight is negative or no finite number.")
    largest = values.max(initial=0.0)
    if largest == 0:
        raise ValueError("All weights are 0, so nothing would be learnt.")
    scaled = values / largest  # squares of small numbers would vanish
    return float(scaled.sum() ** 2 / (scaled @ scaled))
