"""A classifier of label consistency: from a model's score of a pair to the chances of the labels, cross-fitted.

The features are the score and its square. On STSb the cosine of MiniLM ranks planted errors as well as the
classifiers of |u − v| and u·v that were tried (log of experiments, H-09), and with three numbers a label they cannot
learn wrong labels by heart.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from mlworkers.science.consistency.dataset import LabelledPairs
from mlworkers.science.realism.dataset import Integers

Floats = NDArray[np.float64]
_PENALTY = 1e-4  # of a pair: enough for one optimum where the labels are separable


def score_features(scores: ArrayLike) -> Floats:
    """(n,) -> (n, 2): the score and its square, so that labels need not be equally far apart in scores."""
    values = np.asarray(scores, dtype=np.float64)
    return np.column_stack([values, values**2])


def label_chances(features: Floats, pairs: LabelledPairs, label: Integers | None = None) -> Floats:
    """The chance of each label for each of n pairs, (n, labels), rows summing to 1, where all labels are equally
    frequent. The classifier of a pair has seen neither it, nor its sentences, nor near copies of them.

    features (n, d). label: other labels of the same pairs to learn, (n,). Raises ValueError where a feature is not
    finite.
    """
    unusable = np.flatnonzero(~np.isfinite(features).all(axis=1))
    if unusable.size:
        raise ValueError(f"The features of pair {unusable[0] + 1} are not finite numbers.")
    given = pairs.label if label is None else label  # (n,), UNKNOWN included; `seen_by` leaves those out
    chances = np.empty((len(features), pairs.labels))
    for fold in range(pairs.folds):
        own, seen = pairs.fold == fold, pairs.seen_by(fold)
        learned, known = features[seen], given[seen]
        # One fit a fold, of d + 1 numbers for each label: multinomial logistic regression on standardised features,
        # each label weighing the same. Newton's method, without random numbers, on one core: the same result on any
        # number of cores.
        mean, scale = learned.mean(axis=0), learned.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)  # a constant feature becomes 0
        present, counts = np.unique(known, return_counts=True)
        # n / (labels · n_label), mean 1.
        weights = (known.size / present.size / counts)[np.searchsorted(present, known)]
        # scikit-learn minimises C · Σ_i w_i loss_i + 1/2 |coefficients|²: this is mean loss + _PENALTY/2 |…|².
        regression = LogisticRegression(
            C=1 / (_PENALTY * known.size), solver="newton-cholesky", tol=1e-9, max_iter=500
        )
        found = np.zeros(
            (np.count_nonzero(own), pairs.labels)
        )  # a label that was not learned keeps the chance 0
        with threadpool_limits(1):
            regression.fit((learned - mean) / scale, known, sample_weight=weights)
            found[:, present] = regression.predict_proba((features[own] - mean) / scale)
        chances[own] = found
    return chances
