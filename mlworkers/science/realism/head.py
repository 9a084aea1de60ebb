"""A classifier on frozen features: logistic regressions that are cross-fitted, and the one of all sentences."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from statistics import median_high
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from curation.files.progress import Report, silent
from mlworkers.science.pretrained.compute import side_by_side
from mlworkers.science.realism.calibration import class_weights
from mlworkers.science.realism.dataset import Marks, SdiData

Floats = NDArray[np.float64]
# A sentence's, on standardised features: from hardly any to one that leaves little but the mean of a class.
PENALTIES = (10.0, 1.0, 0.1, 0.01)


@dataclass(frozen=True)
class Head:
    """logit = ((features - mean) / scale) @ coefficients + intercept, the log-odds of being human; and its penalty."""

    mean: Floats  # (d,)
    scale: Floats  # (d,)
    coefficients: Floats  # (d,)
    intercept: float
    penalty: float

    def logits(self, features: Floats) -> Floats:
        """(n, d) -> (n, 2), machine and human: the two differ by the log-odds, and mirror each other around 0.

        On one core, like the fit: a product that several cores share is rounded otherwise.
        """
        with threadpool_limits(1):
            # z / 2, because softmax([-z/2, z/2])[human] = σ(z). A scale of ∞ makes its feature 0.
            half = (((features - self.mean) / self.scale) @ self.coefficients + self.intercept) / 2  # (n,)
        return np.column_stack([-half, half])


class CrossFit(NamedTuple):
    """Logits of every sentence (n, 2) from the head of its fold, and each fold's penalty."""

    logits: Floats
    penalties: tuple[float, ...]


def cross_fit(
    features: NDArray[np.floating],
    data: SdiData,
    *,
    penalties: Sequence[float] = PENALTIES,
    report: Report = silent,
) -> CrossFit:
    """Score each of n sentences by a head that saw neither it, nor its doubles, nor what it is connected with.

    features (n, d). Of the penalties, the largest first, each fold takes the one whose head, without the inner fold,
    tells that fold best; the head is then fitted on both. Folds go side by side. Raises ValueError as `fit_head`.
    """
    values = np.asarray(features, dtype=np.float64)

    def fitted(fold: int) -> Head:
        seen, inner = data.seen_by(fold), data.inner(fold)

        def loss(penalty: float) -> float:
            """On the inner fold, of a head that did not see it."""
            head = fitted_on(seen & ~inner, penalty)
            margins = np.diff(head.logits(values[inner]), axis=1)[:, 0]  # (inner,): z
            signed = np.where(data.label[inner], margins, -margins)
            return float(class_weights(data.label[inner], data.count[inner]) @ np.logaddexp(0.0, -signed))

        # Of equals the first, which is the largest.
        # Costs len(penalties) + 1 fits a fold.
        penalty = min(penalties, key=loss) if len(penalties) > 1 else penalties[0]
        return fitted_on(seen, penalty)

    def fitted_on(seen: Marks, penalty: float) -> Head:
        return fit_head(values[seen], data.label[seen], counts=data.count[seen], penalty=penalty)

    logits, taken = np.empty((len(values), 2)), list[float]()
    folds = side_by_side(fitted, range(data.folds), workers=torch.get_num_threads())
    with threadpool_limits(1), closing(folds) as heads:
        for fold, head in enumerate(heads):
            own = data.fold == fold
            logits[own] = head.logits(values[own])
            taken.append(head.penalty)
            report(fold + 1, data.folds, "Fitting the classifiers of the folds")
    return CrossFit(logits, tuple(taken))


def fit_head(
    features: NDArray[np.floating], human: Marks, *, penalty: float, counts: Floats | None = None
) -> Head:
    """A head on features (n, d) and labels (n,): the minimum, with z the logits and s = ±1 the labels, of

        Σ_i w_i log(1 + exp(-s_i z_i)) / n + penalty/2 |coefficients|²

    The weights w sum to n, and each class to n/2; within a class they are in proportion to `counts` (n,).
    Newton's method finds the one minimum without random numbers, on one core, because sums over several cores
    depend on their number. Raises ValueError where a feature is not finite or a class is missing.
    """
    unusable = np.flatnonzero(~np.isfinite(features).all(axis=1))
    if unusable.size:
        raise ValueError(
            f"The vector of sentence {unusable[0] + 1} holds values that are not finite numbers."
        )
    count = len(features)
    weights = class_weights(human, counts) * count  # (n,), mean 1
    mean, scale = features.mean(axis=0, dtype=np.float64), features.std(axis=0, dtype=np.float64)
    # A feature that hardly varies says nothing about the class, and scaling would magnify its rounding errors.
    scale = np.where(scale > 1e-9 * np.maximum(np.abs(mean), 1.0), scale, np.inf)
    # C counts what our penalty divides: scikit-learn adds C · Σ_i w_i loss_i to 1/2 |coefficients|².
    regression = LogisticRegression(C=1 / (penalty * count), solver="newton-cholesky", tol=1e-9, max_iter=500)
    with threadpool_limits(1):
        regression.fit((features - mean) / scale, human, sample_weight=weights)
    return Head(mean, scale, regression.coef_[0], float(regression.intercept_[0]), penalty)


def usual_penalty(penalties: Sequence[float]) -> float:
    """For the head of all sentences: the penalty in the middle of the folds' own, the larger of two."""
    return median_high(penalties)
