"""A classifier on frozen features: logistic regressions that are cross-fitted, and the one of all sentences."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from mlworkers.compute import side_by_side
from mlworkers.progress import Report, silent
from mlworkers.realism.calibration import class_weights
from mlworkers.realism.dataset import SdiData
from mlworkers.realism.grouping import Marks
from mlworkers.realism.logistic import Floats, Logistic, fit_logistic

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
