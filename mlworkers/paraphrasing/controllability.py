"""How well paraphrases meet the tags that were asked for: figures with intervals (methods of our own).

The paper shows heatmaps alone. Chance is one cell of all, 1/48 with the paper's bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from curation.statistics.correlation import Scores
from curation.statistics.influence import Correlation, spearman_within
from mlworkers.paraphrasing.measured import miss, tags_named
from mlworkers.paraphrasing.paraphraser import Target
from mlworkers.paraphrasing.tags import TagBounds

Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class Share:
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class TagFigures:
    """Of n paraphrases that were asked for one pair of tags. hits: of both bins. near: both labels lie in the bin or in
    one beside it. similarity_error, bleu_error: mean distance to the middle of the bin, on the scale of 0 to 100.
    """

    target: Target
    n: int
    hits: Share
    near: Share
    similarity_error: float
    bleu_error: float
    mean_similarity: float
    mean_bleu: float


@dataclass(frozen=True)
class Controllability:
    """tags: of each pair of tags that was asked for. hits, near: of all, with intervals over sources. similarity, bleu:
    the correlation of what was asked for (the middle of a bin) and what was measured, None where one value was asked.
    """

    n: int
    chance: float
    hits: Share
    near: Share
    similarity: Correlation | None
    bleu: Correlation | None
    tags: Sequence[TagFigures]


def controllability(
    targets: Sequence[Target],
    sources: Sequence[int],
    similarity: Scores,
    bleu: Scores,
    bounds: TagBounds,
) -> Controllability:
    """Figures of n paraphrases: their tags, the number of their source, and their labels in 0..100, (n,) each.

    A paraphrase without labels (NaN) misses. Raises ValueError for none.
    """
    if not targets:
        raise ValueError("There are no paraphrases to measure.")
    named = tags_named(bounds)
    misses = np.array(
        [
            (miss(named[target.similarity], sim), miss(named[target.lexical], lexical))
            for target, sim, lexical in zip(targets, similarity.tolist(), bleu.tolist(), strict=True)
        ]
    )  # (n, 2), in widths
    hit, near = (misses == 0).all(axis=1), _beside(targets, similarity, bleu, bounds)
    middles = np.array(
        [[(tag.low + tag.high) / 2 for tag in (named[one.similarity], named[one.lexical])] for one in targets]
    )
    labels = np.column_stack([similarity, bleu])
    known = ~np.isnan(labels).any(axis=1)
    groups = np.unique(np.asarray(sources), return_inverse=True)[1]
    correlations = [_correlation(middles[known, side], labels[known, side]) for side in (0, 1)]
    return Controllability(
        n=len(targets),
        chance=1 / bounds.cells,
        hits=_share_of_sources(hit, groups),
        near=_share_of_sources(near, groups),
        similarity=correlations[0],
        bleu=correlations[1],
        tags=[
            _of_tag(target, np.array([one == target for one in targets]), rows=(hit, near, labels, middles))
            for target in dict.fromkeys(targets)
        ],
    )


def _correlation(asked: Scores, labels: Scores) -> Correlation | None:
    return spearman_within(asked, labels) if asked.size and np.ptp(asked) > 0 else None


def _of_tag(target: Target, own: Marks, *, rows: tuple[Marks, Marks, Scores, Scores]) -> TagFigures:
    """own: which rows were asked for it. rows: hits, near ones, labels and middles of all rows."""
    hit, near, labels, middles = rows
    measured = own & ~np.isnan(labels).any(axis=1)
    errors = np.abs(labels[measured] - middles[measured])
    means = labels[measured].mean(axis=0) if measured.any() else np.full(2, np.nan)
    error = errors.mean(axis=0) if measured.any() else np.full(2, np.nan)
    return TagFigures(
        target,
        int(own.sum()),
        wilson(float(hit[own].mean()), int(own.sum())),
        wilson(float(near[own].mean()), int(own.sum())),
        *(float(value) for value in (*error, *means)),
    )


def _beside(targets: Sequence[Target], similarity: Scores, bleu: Scores, bounds: TagBounds) -> Marks:
    """Whether both labels lie in the bin that was asked for or in one beside it, (n,)."""
    found = bounds.bins(similarity, bleu)
    near = np.ones(len(targets), dtype=bool)
    for side, (tags, places) in enumerate(zip((bounds.similarity, bounds.lexical), found, strict=True)):
        number = {tag.name: place for place, tag in enumerate(tags)}
        asked = np.array([number[target[side]] for target in targets])
        near &= (places >= 0) & (np.abs(places - asked) <= 1)
    return near


def wilson(share: float, n: float, *, level: float = 0.95) -> Share:
    """A share of n independent rows with Wilson's interval (1927). n may be an effective number, 1 or more."""
    z = float(norm.ppf((1 + level) / 2))
    spread = z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(share * (1 - share) / n + spread / (4 * n))
    return Share(share, max(0.0, middle - half), min(1.0, middle + half))


def _share_of_sources(marks: Marks, groups: NDArray[np.int64]) -> Share:
    """A share whose rows hang together by their source: Wilson's interval for the effective number of rows, which
    follows from the variance between sources (design effect; Kish 1965).
    """
    n, share = len(marks), float(marks.mean())
    residuals = np.bincount(groups, weights=marks - share)
    sources = len(residuals)
    variance = float((residuals**2).sum()) / n**2 * (sources / max(sources - 1, 1))
    effective = share * (1 - share) / variance if variance > 0 else float(sources)
    return wilson(share, max(1.0, min(effective, float(n))))
