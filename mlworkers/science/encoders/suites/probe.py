"""A probe: a linear classifier on the frozen vectors of a pair, for labels that one cosine cannot decide.

The features of a pair are |u − v| and u · v, as in SentEval (Conneau and Kiela 2018). The classifier is trained on the
suite's train part alone; its regularisation is chosen on the dev part, or without one by cross-validation within the
train part. The test part is used once, at the end.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from curation.pairs.splitting import pair_components
from mlworkers.science.encoders.encoding import SentenceVectors
from mlworkers.science.encoders.measuring import Measured, Metric, decisions_measured
from mlworkers.science.encoders.scored_pairs import JudgedPairs
from mlworkers.science.encoders.suites.catalogue import Read, Suite, Task
from mlworkers.science.encoders.suites.figures import enough

REGULARISATIONS = (0.001, 0.01, 0.1, 1.0, 10.0)  # C of logistic regression: the smaller, the more regularised
FOLDS = 5
Features = NDArray[np.float64]


@dataclass(frozen=True)
class Probed:
    """figures: accuracy, and for two labels F1. unseen: the same on the pairs that the encoder has not seen, where it
    is known which these are. chosen: the C that was best on `chosen_on`.

    left_out: train pairs that stand in the dev or the test part too, which were not trained on.
    """

    figures: tuple[Measured, ...]
    chosen: float
    chosen_on: str
    trained_on: int
    left_out: int
    unseen: tuple[Measured, ...] = ()


def probed(
    suite: Suite,
    read: Read,
    vectors: SentenceVectors,
    *,
    resamples: int,
    seed: int,
    unseen: NDArray[np.bool_] | None = None,
) -> Probed:
    """Train and measure a probe. unseen: which test pairs the encoder has not seen, (n,); None where nobody knows.

    Raises ValueError where the suite has no train part, or it is too small.
    """
    if read.train is None:
        raise ValueError(
            f"{suite.label} has no train part here, so no probe can be trained; {suite.looks_for}."
        )
    dev = None if read.dev is None or read.dev is read.train else read.dev
    # Tested and dev pairs are not trained on.
    train = _without(read.train, read.test, *([dev] if dev else []))
    left_out = len(read.train) - len(train)
    labels = np.array(train.values).astype(int)
    if len(set(labels.tolist())) < 2:
        raise ValueError(
            f"The {len(train)} train pairs of {suite.label} have one label; a probe needs several."
        )
    features = pair_features(vectors, train)  # (train, 2d)
    if dev is not None:
        tuning = pair_features(vectors, dev)
        scores = [
            float(_fitted(c, features, labels).score(tuning, np.array(dev.values).astype(int)))  # accuracy
            for c in REGULARISATIONS
        ]
        chosen_on = f"the {len(dev):,} dev pairs"
    else:
        scores = _cross_validated(train, features, labels)
        chosen_on = f"{FOLDS}-fold cross-validation of the train pairs, by sentence"
    chosen = REGULARISATIONS[int(np.argmax(scores))]  # of equally good ones the most regularised
    decided = _fitted(chosen, features, labels).predict(pair_features(vectors, read.test))
    truth = np.array(read.test.values).astype(int)  # (test,)
    metrics = (Metric.ACCURACY, Metric.F1) if suite.task is Task.LABELS else (Metric.ACCURACY,)

    def measured(own: NDArray[np.bool_]) -> tuple[Measured, ...]:
        return tuple(
            decisions_measured(metric, decided[own], truth[own], resamples=resamples, seed=seed)
            for metric in metrics
        )

    of_unseen = measured(unseen) if unseen is not None and enough(truth[unseen]) else ()
    whole = np.ones(truth.size, dtype=bool)
    return Probed(measured(whole), chosen, chosen_on, len(train), left_out, of_unseen)


def pair_features(vectors: SentenceVectors, pairs: JudgedPairs) -> Features:
    """|u − v| and u · v of each pair, with u and v of length 1, (n, 2 d)."""
    left, right = (_unit(side) for side in vectors.sides(pairs.first, pairs.second))  # (n, d) each
    # Both features are symmetric in u and v, so the order of the sentences does not matter to the probe.
    return np.concatenate([np.abs(left - right), left * right], axis=1)


def _unit(side: NDArray[np.float32]) -> Features:
    values = side.astype(np.float64)
    # The floor of 1e-12 keeps a vector of zeros at zero instead of 0 / 0.
    unit: Features = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-12)
    return unit


def _fitted(c: float, features: Features, labels: NDArray[np.int64]) -> Any:
    return _classifier(c).fit(features, labels)


def _classifier(c: float) -> Any:
    # Standardised within what is fitted, so that neither dev nor test pairs shape the features.
    # With features of the same spread, one C regularises each of the 2d coefficients alike.
    return make_pipeline(StandardScaler(), LogisticRegression(C=c, max_iter=2000))


def _cross_validated(train: JudgedPairs, features: Features, labels: NDArray[np.int64]) -> list[float]:
    """The mean accuracy of each C over folds that share no sentence."""
    number = {text: place for place, text in enumerate(dict.fromkeys((*train.first, *train.second)))}
    sides = (np.array([number[text] for text in side]) for side in (train.first, train.second))
    groups = pair_components(*sides)  # (train,)
    folds = min(FOLDS, len(set(groups.tolist())))  # a fold needs a component
    if folds < 2:
        raise ValueError(
            f"All {len(train)} train pairs share sentences, so they cannot be divided; give a dev part."
        )
    # Groups are connected components, so that no sentence of a test fold is in a training fold.
    splits = GroupKFold(folds)
    return [
        float(cross_val_score(_classifier(c), features, labels, groups=groups, cv=splits).mean())
        for c in REGULARISATIONS
    ]


def _without(train: JudgedPairs, *others: JudgedPairs) -> JudgedPairs:
    """The train pairs that are in no other part, in either order of their sentences."""
    # Unordered pairs.
    taken = {frozenset(pair) for other in others for pair in zip(other.first, other.second, strict=True)}
    pairs = enumerate(zip(train.first, train.second, strict=True))
    return train.taken([row for row, pair in pairs if frozenset(pair) not in taken])
