"""From the chances of labels to p_y, and the figures that say what p_y is worth."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curation.statistics.correlation import spearman
from mlworkers.science.consistency.classifier import Floats, label_chances
from mlworkers.science.consistency.dataset import LabelledPairs, label_error_counts, planted_labels
from mlworkers.science.encoders.weighting import effective_size
from mlworkers.science.realism.dataset import Integers, Marks
from mlworkers.science.realism.discrimination import auc_interval


@dataclass(frozen=True)
class ConsistencyScores:
    """p_y of the scored pairs, (m,) in 0..1, in their order; figures by name (guide: human-likeness)."""

    p_y: Floats
    figures: dict[str, Any]


def consistency_scores(
    features: Floats,
    pairs: LabelledPairs,
    target: ArrayLike,
    scored: Marks,
    *,
    circular: bool,
    planted: float,
    seed: int,
) -> ConsistencyScores:
    """p_y of a pair: the chance of its target label, from a classifier that never saw it.

    features (n, d). target (n,): the place of each pair's target among the labels, where `scored` (n,) says that it
    has one. circular: the labels that are learned are these targets. planted: the share of labels that is replaced to
    measure `planted_auc`.
    """
    places = np.asarray(target, dtype=np.int64)
    chances = label_chances(features, pairs)
    p_y = _of_label(chances, places)[scored]  # (m,)
    learned, label = pairs.learned, pairs.label
    right = chances.argmax(axis=1) == label  # (n,): the likeliest label is the given one
    # Recall of each label.
    per_label = [float(right[learned & (label == each)].mean()) for each in range(pairs.labels)]
    given = places[scored]
    counts = label_error_counts(chances[scored], given)
    suspected = int(counts.sum() - np.trace(counts))  # off the diagonal: pairs counted for another label
    figures = {
        **planted_figures(features, pairs, chances, circular=circular, share=planted, seed=seed),
        "accuracy": float(np.mean(per_label)),  # each label weighing the same
        "mean_p_y": float(p_y.mean()),
        "agreeing": float((chances[scored].argmax(axis=1) == given).mean()),
        "suspected_errors": suspected,
        "spearman_p_y_target": spearman(p_y, given) if p_y.size > 1 else None,
        "effective_pairs": effective_size(p_y),
        "learned_pairs": int(learned.sum()),
        "groups": int(np.unique(pairs.group).size),
        "links_cut": pairs.links_cut,
        "folds": pairs.folds,
    }
    return ConsistencyScores(p_y, figures)


def planted_figures(
    features: Floats, pairs: LabelledPairs, chances: Floats, *, circular: bool, share: float, seed: int
) -> dict[str, Any]:
    """How well p_y finds wrong labels: those of `share` of the pairs with a label are replaced at random.

    `planted_auc` is the chance that a pair with its own label has a higher p_y than a pair with a planted one, with its
    95 % interval over pairs in groups. If circular, the classifiers learn the planted labels too, as they would learn
    wrong targets; otherwise they learn the labels that people gave. chances (n, labels): those without planted labels.
    """
    wrong, marks = planted_labels(pairs.label, labels=pairs.labels, share=share, seed=seed)  # (n,) each
    learned = pairs.learned
    # Learned from people, p_y changes only in the label whose chance it is; no classifier is fitted again.
    found = label_chances(features, pairs, wrong) if circular else chances
    area = auc_interval(_of_label(found, wrong)[learned], ~marks[learned], pairs.group[learned])
    return {
        "planted_auc": area.value,
        "planted_auc_low": area.low,
        "planted_auc_high": area.high,
        "planted_errors": int(marks.sum()),
    }


def _of_label(chances: Floats, label: Integers) -> Floats:
    """The chance of one label a pair: (n, labels), (n,) -> (n,). UNKNOWN gives any."""
    chosen: Floats = chances[np.arange(len(chances)), label]
    return chosen
