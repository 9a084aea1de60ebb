"""From two logits to p_D, and how far p_D can be taken at its word.

Classes weigh the same here, however many sentences each has: p_D is the probability that a sentence is human where
human and machine sentences are equally frequent, as in RISE (section 3, "in the same proportion").
"""

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from mlworkers.science.realism.dataset import Marks

Floats = NDArray[np.float64]
TEMPERATURES = (0.02, 50.0)  # beyond, p_D would be rounded to 0 and 1, or would be one half for all
BINS = 15  # Guo et al. 2017


def probabilities(logits: ArrayLike, temperature: float) -> Floats:
    """softmax(logits / temperature)[human]: logits (n, 2) of machine and human -> p_D (n,) in 0..1.

    Raises ValueError where the temperature is not above 0 or a logit is not a finite number.
    """
    if not (temperature > 0 and math.isfinite(temperature)):
        raise ValueError(f"The temperature is {temperature:g}; it must be above 0.")
    # With two classes softmax is σ of their difference: e^(h/τ) / (e^(m/τ) + e^(h/τ)) = σ((h - m) / τ).
    share: Floats = scipy.special.expit(_margins(logits) / temperature)
    return share


def at_temperature(share: ArrayLike, *, published: float, temperature: float) -> Floats:
    """p_D as it would be with another temperature: σ(logit(p) · published / temperature), (n,) -> (n,).

    published: the temperature with which p was made. 0 and 1 stay what they are, and NaN stays NaN. Raises ValueError
    where a temperature is not above 0.
    """
    for value in (published, temperature):
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"The temperature is {value:g}; it must be above 0.")
    values = np.asarray(share, dtype=np.float64)
    # p = σ(margin / published), so logit(p) · published is the margin. logit(0) is -∞, and σ(-∞) is 0 again.
    rescaled: Floats = scipy.special.expit(scipy.special.logit(values) * (published / temperature))
    return rescaled


def fit_temperature(logits: ArrayLike, human: Marks) -> float:
    """The temperature under which held-out labels are likeliest (Guo et al. 2017), within TEMPERATURES.

    logits (n, 2) that were not trained on these sentences, human (n,). The mean negative log-likelihood is convex in
    1/temperature, so it has one minimum in log temperature too.
    """
    margins, weights = _margins(logits), class_weights(human)
    # softmax([m, h] / τ)[h] = 1 / (1 + exp(-(h - m) / τ)), so that -log p(label) = log(1 + exp(-s · (h - m) / τ)) with
    # s = 1 for human and -1 for machine sentences.
    signed = np.where(human, margins, -margins)  # (n,)

    def loss(log_temperature: float) -> float:
        return float(weights @ np.logaddexp(0.0, -signed / math.exp(log_temperature)))

    # Over log τ the search is as fine for small temperatures as for large ones.
    bounds = (math.log(TEMPERATURES[0]), math.log(TEMPERATURES[1]))
    return math.exp(
        scipy.optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9}).x
    )


def negative_log_likelihood(logits: ArrayLike, human: Marks, temperature: float) -> float:
    """The mean of -log p(label), in nats, each class weighing one half."""
    share = probabilities(logits, temperature)
    right = np.where(human, share, 1 - share)  # (n,): the probability of a sentence's own class
    # A probability that was rounded to 0 counts as the smallest normal number: 708 nats instead of ∞.
    return float(-class_weights(human) @ np.log(np.maximum(right, np.finfo(np.float64).tiny)))


def calibration_error(share: ArrayLike, human: Marks, *, bins: int = BINS) -> float:
    """ECE: the mean distance, over equally wide bins of p_D, between mean p_D and the share of human sentences.

    share (n,) in 0..1, human (n,). Bins weigh what their sentences weigh. Guo et al. 2017, equation 3, for the
    probability of one class, so that it does not hide an error of equal size at either end.
    """
    values, weights = np.asarray(share, dtype=np.float64), class_weights(human)
    # (n,): the bin of each; p_D = 1 is in the last.
    places = np.minimum((values * bins).astype(np.int64), bins - 1)
    # Of bin b: |Σ_i w_i p_i - Σ_i w_i human_i| = (weight of b) · |mean p_D - share of human|.
    difference = np.bincount(places, weights=weights * (values - human), minlength=bins)
    return float(np.abs(difference).sum())


def brier_score(share: ArrayLike, human: Marks) -> float:
    """The mean squared distance of p_D from the label, each class weighing one half: 0 best, 0.25 for a constant ½."""
    distance = np.asarray(share, dtype=np.float64) - human  # (n,), in -1..1
    return float(class_weights(human) @ distance**2)


def class_weights(human: Marks, counts: Floats | None = None) -> Floats:
    """Weights (n,) that sum to 1, each class to one half. Raises ValueError where a class is missing.

    counts: how many sentences each counts for within its class, (n,); without them, one.
    """
    people = int(np.count_nonzero(human))
    if people in (0, human.size):
        raise ValueError("All sentences are of one class; calibration needs both.")
    each = np.ones(human.size) if counts is None else counts
    # w_i = count_i / (2 · Σ of the counts of i's class): each of the two sums is one half.
    weights: Floats = 0.5 * each / np.where(human, each[human].sum(), each[~human].sum())
    return weights


def _margins(logits: ArrayLike) -> Floats:
    values = np.asarray(logits, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != 2:
        raise ValueError(f"Logits have the shape {values.shape}; give two a sentence, machine and human.")
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if wrong.size:
        raise ValueError(f"A logit of sentence {wrong[0] + 1} is not a finite number, so it has no p_D.")
    margins: Floats = values[:, 1] - values[:, 0]  # (n,): h - m, the log-odds of being human
    return margins
