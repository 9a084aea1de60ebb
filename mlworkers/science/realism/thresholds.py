"""What a threshold on p_D would decide instead of people, and how often it would be right."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from curation.pairs.keeping import wilson_interval
from curation.results.estimates import Estimate
from mlworkers.science.encoders.weighting import effective_size
from mlworkers.science.realism.verdicts import Floats, Marks, Sample


class Cut(NamedTuple):
    """What a threshold would do: sentences of p_D at or above it are kept, or those below it are rejected, unread.

    above, below: sentences of the whole set on each side. kept_above, rejected_below: the expected share of right
    decisions on that side, None without a verdict there. judged_above, judged_below: the verdicts behind it.
    """

    threshold: float
    above: int
    below: int
    kept_above: Estimate | None
    rejected_below: Estimate | None
    judged_above: int
    judged_below: int

    @property
    def share_below(self) -> float:
        return self.below / (self.above + self.below)

    @property
    def share_above(self) -> float:
        return self.above / (self.above + self.below)


def cut_at(sample: Sample, all_p_d: ArrayLike, share: float) -> Cut:
    """The threshold below which about `share` of all sentences lie: exactly, unless sentences have equal p_D.

    all_p_d: p_D of every machine sentence of the set, so that the numbers of sentences need no estimate. A share of
    right decisions is weighted, and its interval is Wilson's for the effective number of verdicts (Kish 1965).
    Raises ValueError unless there are sentences and the share is from 0 to below 1.
    """
    values = np.sort(np.asarray(all_p_d, dtype=np.float64))
    if not values.size or not 0 <= share < 1:
        raise ValueError(
            f"{values.size} sentences, share {share:g}: give sentences and a share from 0 to below 1."
        )
    # Rounded: 0.15 times 20 is a little more than 3 in a computer.
    # A share that rounds to all of them leaves the highest.
    threshold = float(values[min(int(round(values.size * share, 6)), values.size - 1)])
    below = int(np.searchsorted(values, threshold))  # strictly below: p_D equal to it is kept
    # Only judged sentences say how often a side is right; how many lie there is known without them.
    over, weights = sample.p_d >= threshold, sample.weights
    return Cut(
        threshold,
        int(values.size) - below,
        below,
        weighted_share(sample.kept[over], weights[over]),
        weighted_share(~sample.kept[~over], weights[~over]),
        int(over.sum()),
        int((~over).sum()),
    )


def weighted_share(marks: Marks, weights: Floats) -> Estimate | None:
    """The weighted share of marks (n,), with Wilson's interval for the effective number; None without any."""
    if not marks.size:
        return None
    share, size = float(weights @ marks / weights.sum()), effective_size(weights)  # size: Kish's (Σw)² / Σw²
    return Estimate(share, *wilson_interval(share * size, size))
