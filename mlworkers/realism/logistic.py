"""Logistic regression with an L2 penalty, by Newton's method: few steps, no random numbers, one optimum."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus

from mlworkers.realism.grouping import Marks

Floats = NDArray[np.float64]
_STEPS = 100
_TOLERANCE = 1e-10  # of the Newton decrement, per unit of weight


@dataclass(frozen=True)
class Logistic:
    """logit = features @ coefficients + intercept; above 0 the label is likelier than not."""

    coefficients: Floats  # (d,)
    intercept: float

    def logits(self, features: Floats) -> Floats:
        """(n, d) -> (n,)"""
        values: Floats = features @ self.coefficients + self.intercept
        return values


@dataclass(frozen=True)
class _Problem:
    """sum_i w_i log(1 + exp(-s_i z_i)) + 1/2 sum_j r_j theta_j^2, with z = design @ theta and s_i = ±1.

    In torch, whose threads a caller can count; the curvature in single precision, half the time: it only steers.
    """

    design: Tensor  # (n, d + 1) float64, the last column ones
    rough: Tensor  # the same in float32
    labels: Tensor  # (n,) float64, 0 or 1
    weights: Tensor  # (n,)
    ridge: Tensor  # (d + 1,)

    def value(self, theta: Tensor) -> float:
        margins = self.design @ theta
        losses = softplus(margins, threshold=40.0) - self.labels * margins
        return float(self.weights @ losses + 0.5 * self.ridge @ theta**2)

    def step(self, theta: Tensor) -> tuple[Tensor, float]:
        """Where a parabola through theta has its floor, and twice how much lower that is (the decrement)."""
        share = torch.sigmoid(self.design @ theta)
        gradient = self.design.T @ (self.weights * (share - self.labels)) + self.ridge * theta
        bent = self.rough * (self.weights * share * (1 - share)).sqrt().to(torch.float32)[:, None]
        hessian = (bent.T @ bent).to(torch.float64) + torch.diag(self.ridge)
        # Where every share is 0 or 1, the intercept has no curvature left.
        hessian.diagonal()[-1] += 1e-9 * self.weights.sum()
        direction = -torch.linalg.solve(hessian, gradient)
        return direction, float(-gradient @ direction)


def fit_logistic(
    features: Floats,
    labels: Marks,
    *,
    penalty: float,
    weights: Floats | None = None,
    start: Logistic | None = None,
) -> Logistic:
    """The minimum of sum_i w_i log(1 + exp(-s_i z_i)) + penalty/2 |coefficients|^2, s_i = ±1; the intercept is free.

    features (n, d), labels (n,), weights (n,) or None for ones. start: where to begin, for a path of penalties; the
    end does not depend on it. Raises ValueError where features are not finite, the labels are all equal, or the
    penalty is not above 0 (separable classes would have no optimum).
    """
    _check(features, labels, penalty)
    problem = _problem(features, labels, penalty, np.ones(len(features)) if weights is None else weights)
    theta = torch.zeros(problem.ridge.numel(), dtype=torch.float64)
    if start is not None:
        theta = torch.from_numpy(np.append(start.coefficients, start.intercept))
    enough = _TOLERANCE * float(problem.weights.sum())
    for _ in range(_STEPS):
        direction, decrement = problem.step(theta)
        theta = _searched(problem, theta, direction, decrement)
        if decrement < enough:
            return Logistic(theta[:-1].numpy(), float(theta[-1]))
    raise ValueError(f"The logistic regression did not settle in {_STEPS} steps; use a larger penalty.")


def _check(features: Floats, labels: Marks, penalty: float) -> None:
    if not np.isfinite(features).all():
        row = int(np.flatnonzero(~np.isfinite(features).all(axis=1))[0])
        raise ValueError(f"The vector of sentence {row + 1} holds values that are no finite numbers.")
    if labels.all() or not labels.any():
        raise ValueError("All labels are equal; a classifier needs sentences of both classes.")
    if not penalty > 0:
        raise ValueError(f"The penalty is {penalty:g}; it must be above 0.")


def _problem(features: Floats, labels: Marks, penalty: float, weights: Floats) -> _Problem:
    design = torch.from_numpy(np.column_stack([features, np.ones(len(features))]).astype(np.float64))
    ridge = torch.full((design.shape[1],), penalty, dtype=torch.float64)
    ridge[-1] = 0.0
    return _Problem(
        design,
        design.to(torch.float32),
        torch.from_numpy(labels.astype(np.float64)),
        torch.from_numpy(np.asarray(weights, dtype=np.float64)),
        ridge,
    )


def _searched(problem: _Problem, theta: Tensor, direction: Tensor, decrement: float) -> Tensor:
    """The step, halved until it goes down enough (Armijo); a step within rounding is taken as it is."""
    before, length = problem.value(theta), 1.0
    while length > 1e-10:
        tried = theta + length * direction
        if problem.value(tried) <= before - 1e-4 * length * decrement + 1e-12 * abs(before):
            return tried
        length /= 2
    return theta
