"""A classifier on frozen features: logistic regressions that are cross-fitted, and the one of all sentences."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import softplus

from curation.files.progress import Report, silent
from mlworkers.pretrained.compute import side_by_side
from mlworkers.realism.calibration import class_weights
from mlworkers.realism.dataset import Marks, SdiData

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


# A sentence's, on standardised features: from hardly any to one that leaves little but the mean of a class.
PENALTIES = (10.0, 1.0, 0.1, 0.01)


@dataclass(frozen=True)
class Head:
    """logits = ((features - mean) / scale) @ coefficients + intercept, of being human; and what it was fitted with."""

    mean: Floats  # (d,)
    scale: Floats  # (d,)
    logistic: Logistic
    penalty: float

    def logits(self, features: Floats) -> Floats:
        """(n, d) -> (n, 2), machine and human: the two differ by the log-odds, and mirror each other around 0."""
        half = self.logistic.logits((features - self.mean) / self.scale) / 2
        return np.column_stack([-half, half])


@dataclass(frozen=True)
class CrossFitted:
    """Logits of every sentence (n, 2) from the head of its fold, and each fold's penalty."""

    logits: Floats
    penalties: tuple[float, ...]


def cross_fit(
    features: NDArray[np.floating],
    data: SdiData,
    *,
    penalties: Sequence[float] = PENALTIES,
    report: Report = silent,
) -> CrossFitted:
    """Score each of n sentences by a head that saw neither it, nor its doubles, nor what it hangs together with.

    features (n, d). Of the penalties, the largest first, each fold takes the one whose head, without the inner fold,
    tells that fold best; the head is then fitted on both. Folds go side by side. Raises ValueError as `fit_logistic`.
    """
    values = np.asarray(features, dtype=np.float64)

    def fitted(fold: int) -> Head:
        seen, inner = data.seen_by(fold), data.inner(fold)
        penalty = _best_penalty(values, data.human, seen & ~inner, inner, penalties)
        return fit_head(values[seen], data.human[seen], penalty=penalty)

    logits, taken = np.empty((len(values), 2)), list[float]()
    with closing(side_by_side(fitted, range(data.folds), workers=torch.get_num_threads())) as heads:
        for fold, head in enumerate(heads):
            own = data.fold == fold
            logits[own] = head.logits(values[own])
            taken.append(head.penalty)
            report(fold + 1, data.folds, "Fitting the classifiers of the folds")
    return CrossFitted(logits, tuple(taken))


def fit_head(
    features: NDArray[np.floating], human: Marks, *, penalty: float, start: Head | None = None
) -> Head:
    """A head on features (n, d) and labels (n,), each class weighing the same; penalty is a sentence's."""
    mean, scale = features.mean(axis=0, dtype=np.float64), features.std(axis=0, dtype=np.float64)
    # A feature that hardly varies tells nothing, and would be blown up.
    scale = np.where(scale > 1e-9 * np.maximum(np.abs(mean), 1.0), scale, np.inf)
    logistic = fit_logistic(
        (features - mean) / scale,
        human,
        penalty=penalty * len(features),
        weights=class_weights(human) * len(features),
        start=start.logistic if start else None,
    )
    return Head(mean, scale, logistic, penalty)


def usual_penalty(penalties: Sequence[float]) -> float:
    """For the head of all sentences: the penalty in the middle of the folds' own, the larger of two."""
    return sorted(penalties)[len(penalties) // 2]


def _best_penalty(
    values: Floats, human: Marks, fitted: Marks, inner: Marks, penalties: Sequence[float]
) -> float:
    """The penalty of the lowest loss on the inner fold, the larger among equals."""
    if len(penalties) == 1:
        return penalties[0]
    head, losses = None, []
    for penalty in penalties:
        head = fit_head(values[fitted], human[fitted], penalty=penalty, start=head)
        margins = np.diff(head.logits(values[inner]), axis=1)[:, 0]
        signed = np.where(human[inner], margins, -margins)
        losses.append(float(class_weights(human[inner]) @ np.logaddexp(0.0, -signed)))
    return penalties[int(np.argmin(losses))]
