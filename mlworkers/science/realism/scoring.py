"""From held-out logits to p_D, and the figures that say what p_D is worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from curation.statistics.correlation import spearman
from mlworkers.science.encoders.weighting import effective_size
from mlworkers.science.realism.calibration import (
    Floats,
    brier_score,
    calibration_error,
    fit_temperature,
    probabilities,
)
from mlworkers.science.realism.dataset import SdiData
from mlworkers.science.realism.discrimination import auc, auc_interval


@dataclass(frozen=True)
class Scoring:
    """p_D of n sentences, (n,), under one temperature, and figures by name (guide: human-likeness)."""

    p_human: Floats
    temperature: float
    figures: dict[str, Any]


def score_sentences(logits: ArrayLike, data: SdiData, *, temperature: float = 0.0) -> Scoring:
    """p_D of every sentence, and how well it tells those apart that were learned from, each scored by its own fold.

    logits (n, 2) of machine and human, none from a classifier that saw the sentence. temperature: 0 fits one. The
    calibration error after fitting is that of temperatures fitted without the fold they are used in. Raises
    ValueError where a logit is not a finite number or the temperature is below 0.
    """
    values, human, learned = np.asarray(logits, dtype=np.float64), data.human[data.learned], data.learned
    fitted = fit_temperature(values[learned], human) if temperature == 0 else temperature
    p_human = probabilities(values, fitted)
    # p_D of the sentences learned from, under temperatures that were fitted on the other folds.
    share = np.empty(len(values))
    for fold in range(data.folds):
        own, others = data.learned & (data.fold == fold), data.seen_by(fold)
        # 0 means: fitted, here without the fold that it is used in.
        used = temperature or fit_temperature(values[others], data.human[others])
        share[own] = probabilities(values[own], used)
    plain, held_out = probabilities(values[learned], 1.0), share[data.learned]
    right = (values[learned, 1] > values[learned, 0]) == human  # p_D above one half, under any temperature
    # Of h - m: one temperature for all divides every margin alike, so the order and the AUC stay.
    area = auc_interval(np.diff(values[learned], axis=1)[:, 0], human, data.group[learned])
    figures = {
        "auc": area.value,
        "auc_low": area.low,
        "auc_high": area.high,
        "accuracy": float((right[human].mean() + right[~human].mean()) / 2),  # each class weighing one half
        "median_p_human": float(np.median(p_human[learned & data.human])),
        "median_p_machine": float(np.median(p_human[learned & ~data.human])),
        "temperature": fitted,
        "ece_before": calibration_error(plain, human),
        "ece_after": calibration_error(held_out, human),
        "brier_before": brier_score(plain, human),
        "brier_after": brier_score(held_out, human),
        "humans": int(human.sum()),
        "machines": int((~human).sum()),
        "left_out": data.left_out,
        "groups": int(np.unique(data.group).size),
        "links_cut": data.links_cut,
        "folds": data.folds,
    }
    return Scoring(p_human, fitted, figures)


def in_sample_auc(logits: ArrayLike, data: SdiData) -> float:
    """What the AUC would seem to be, had the classifier been asked about the sentences it learned from.

    RISE's released code gives such sentences their p_D. The paper states no AUC: its footnote 4 is the accuracy on a
    validation set. logits (n, 2), from a classifier of all sentences learned from.
    """
    margins = np.diff(np.asarray(logits, dtype=np.float64), axis=1)[:, 0]
    return auc(margins[data.learned], data.human[data.learned])


def pair_figures(p_human: Sequence[float], targets: Sequence[float | None]) -> dict[str, float | None]:
    """Of the generated pairs: the correlation of p_D and target similarity, and the effective number of pairs.

    A correlation says that p_D knows the topic: pairs that were meant to differ are off topic by design. None where
    fewer than three pairs have a target, or one side is constant.
    """
    known = [(p, y) for p, y in zip(p_human, targets, strict=True) if y is not None]
    # With two pairs it could only be -1 or 1.
    related = spearman(*zip(*known, strict=True)) if len(known) > 2 else None
    return {"spearman_p_target": related, "effective_pairs": effective_size(p_human) if p_human else 0.0}
