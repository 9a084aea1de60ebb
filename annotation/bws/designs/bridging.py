"""Items that are added after the launch, joined to items that are already scored by tuples that hold some of both."""

import numpy as np

from annotation.bws.designs.design import Design, DesignError, design_tuples
from annotation.bws.designs.swapping import Report, unreported
from annotation.bws.judgements import FloatArray, IntArray


def bridge_anchors(scores: FloatArray, count: int, *, seed: int) -> IntArray:
    """Choose `count` scored items (all if there are fewer), evenly over the ranks: new items meet the whole range.

    scores: (m,) of the items already there; an item without one (NaN) is not an anchor.
    Returns the numbers of the chosen items, ascending.
    Raises DesignError if no item has a score.
    """
    scored = np.flatnonzero(np.isfinite(scores))
    if not len(scored):
        raise DesignError(
            "No item has a score yet, so new items cannot be joined to them; collect judgements first."
        )
    ranked = scored[np.argsort(scores[scored], kind="stable")]  # by rank, the lowest first
    if count >= len(ranked):
        return np.sort(ranked)
    # Systematic sampling: the ranks (i + start) m / count, with one start in 0..1 from the stream of `seed`.
    start = np.random.default_rng(seed).uniform()
    # Neighbouring anchors are m / count ranks apart.
    ranks = ((np.arange(count) + start) * len(ranked) / count).astype(np.int64)
    return np.sort(ranked[ranks])


def bridge_design(
    scores: FloatArray,
    new_count: int,
    *,
    size: int = 4,
    factor: float = 2.0,
    seed: int = 1234,
    sentences: IntArray | None = None,
    report: Report = unreported,
) -> tuple[IntArray, Design]:
    """Tuples in which new items meet anchors, half of each if there are enough anchors.

    scores: (m,) of the items already there. sentences: (m + new_count, s) ids, the new items last. Every new item
    appears factor * size times, as in its own design. Returns the items of the design (anchors, then the new ones,
    numbered from m on), and the design, whose tuples hold indexes of those items.
    """
    if new_count < 1:
        raise DesignError("There are no new items to join; add pairs first.")
    anchors = bridge_anchors(scores, new_count, seed=seed)
    items = np.concatenate([anchors, len(scores) + np.arange(new_count)])
    # Anchors and new items as two strata: every tuple gets its share of both.
    strata = np.repeat([0, 1], [len(anchors), new_count])
    own = None if sentences is None else sentences[items]
    design = design_tuples(
        len(items), size=size, factor=factor, seed=seed, sentences=own, strata=strata, report=report
    )
    return items, design
