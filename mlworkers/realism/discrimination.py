"""How well scores tell human from machine sentences: the area under the ROC curve, with its interval."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from scipy.stats import norm, rankdata

from mlworkers.encoders.metrics import labelled
from mlworkers.realism.dataset import Integers

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Auc:
    """The chance that a human sentence scores above a machine's, ties counting half; low and high at a level."""

    value: float
    low: float
    high: float
    level: float


def auc(scores: ArrayLike, human: ArrayLike) -> float:
    """The area under the ROC curve, 0..1 (Mann and Whitney's U over the number of twos).

    Raises ValueError where a class is missing or a score is not finite.
    """
    people, machines = _split(scores, human)
    return float(_placements(people, machines)[0].mean())


def auc_interval(
    scores: ArrayLike, human: ArrayLike, groups: Integers | None = None, *, level: float = 0.95
) -> Auc:
    """The AUC with its interval, where sentences of a group are no independent witnesses.

    The interval is of other sentences under the same scores. It excludes what another training of the generator or of
    the classifiers would change.

    scores, human, groups: (n,) each; without groups, each sentence is its own. Variance: Obuchowski (1997), which
    without groups is DeLong, DeLong and Clarke-Pearson (1988), from midranks (Sun and Xu 2014). The interval is
    symmetric in log-odds, so that it stays within 0..1; where no sentence is out of order there is no variance to
    measure, and the bound is that of as many successes as the smaller class has groups.
    """
    people, machines = _split(scores, human)
    marks = np.asarray(human, dtype=bool)
    of = np.arange(marks.size) if groups is None else np.unique(groups, return_inverse=True)[1]
    above, below = _placements(people, machines)
    value = float(above.mean())
    if not 0 < value < 1:
        fewest = min(np.unique(of[each]).size for each in (marks, ~marks))
        bound = ((1 - level) / 2) ** (1 / fewest)  # Clopper and Pearson's, for n of n
        return Auc(value, bound, 1.0, level) if value else Auc(value, 0.0, 1 - bound, level)
    deviation = np.sqrt(_variance(above - value, below - value, of[marks], of[~marks]))
    reach = norm.ppf((1 + level) / 2) * deviation / (value * (1 - value))
    low, high = expit(logit(value) + np.array([-reach, reach]))
    return Auc(value, float(low), float(high), level)


def _split(scores: ArrayLike, human: ArrayLike) -> tuple[Floats, Floats]:
    values, marks = labelled(scores, human)
    if marks.all() or not marks.any():
        raise ValueError("All sentences are of one class; an AUC needs both.")
    return values[marks], values[~marks]


def _placements(people: Floats, machines: Floats) -> tuple[Floats, Floats]:
    """Of each human sentence the share of machine ones below it, (m,); of each machine one that of human ones above.

    From ranks among all and among its own class: the difference counts the other class below, ties half.
    """
    ranks = rankdata(np.concatenate([people, machines]))
    above = (ranks[: people.size] - rankdata(people)) / machines.size
    below = 1 - (ranks[people.size :] - rankdata(machines)) / people.size
    return above, below


def _variance(above: Floats, below: Floats, of_people: Integers, of_machines: Integers) -> float:
    """Obuchowski's: deviations are summed within each group before they are squared."""
    count = int(max(of_people.max(), of_machines.max())) + 1
    sums = [
        np.bincount(groups, weights=deviations, minlength=count)
        for groups, deviations in ((of_people, above), (of_machines, below))
    ]
    held = [np.unique(groups).size for groups in (of_people, of_machines)]
    both = np.unique(np.concatenate([of_people, of_machines])).size
    sizes = (above.size, below.size)
    own = sum(
        number / max(number - 1, 1) * float(total @ total) / size**2
        for number, total, size in zip(held, sums, sizes, strict=True)
    )
    shared = both / max(both - 1, 1) * float(sums[0] @ sums[1]) / (sizes[0] * sizes[1])
    return max(own + 2 * shared, 0.0)
