"""What paraphrases came out as, against the tags that were asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from curation.files.progress import Report, silent
from curation.statistics.correlation import Scores
from mlworkers.science.paraphrasing.lexical import bleu_scores
from mlworkers.science.paraphrasing.tags import TOP, Tag, TagBounds
from mlworkers.science.paraphrasing.text import compared_pairs

# Similarity of n pairs of compared texts, in 0..1, (n,).
Similarity = Callable[[list[str], list[str]], Scores]
DIGITS = 6  # of a label after the point, as in score sets
_FAR = 1e9  # bins; of what could not be measured


@dataclass(frozen=True)
class Measured:
    """Labels of n pairs in 0..100, (n,) each; NaN where a sentence has no letter and no digit."""

    similarity: Scores
    bleu: Scores


def measure(
    sources: Sequence[str], paraphrases: Sequence[str], similarity: Similarity, *, report: Report = silent
) -> Measured:
    """Both labels as `label_paraphrases` gives them: of the compared texts, the source as BLEU's reference."""
    first, second = compared_pairs(sources, paraphrases)
    # Pairs whose two sides have something to compare.
    whole = [place for place, pair in enumerate(zip(first, second, strict=True)) if all(pair)]
    labels = np.full((2, len(first)), np.nan)
    if whole:
        left, right = ([side[place] for place in whole] for side in (first, second))
        # (2, n): similarity in row 0, BLEU in row 1, both on the scale of 0 to 100.
        labels[0, whole] = TOP * np.clip(similarity(left, right), 0, 1)
        labels[1, whole] = bleu_scores(left, right, report=report)
    # Rounded before they are binned: a stored label lies in the same bin as the measured one.
    rounded = np.round(labels, DIGITS)
    return Measured(rounded[0], rounded[1])


def tags_named(bounds: TagBounds) -> dict[str, Tag]:
    return {tag.name: tag for tag in (*bounds.similarity, *bounds.lexical)}


def miss(tag: Tag, value: float) -> float:
    """How far a label lies outside a tag's bin, in widths of the bin; 0 inside, negative nowhere."""
    if np.isnan(value):
        return _FAR
    # Bins are (low, high]; the first one of BLEU is closed at 0 too.
    if tag.low < value <= tag.high or (tag.low == 0 and value == 0):
        return 0.0
    # At its lower edge a label is outside by nothing; it must still be further away than one inside.
    outside = tag.low - value if value <= tag.low else value - tag.high
    return max(float(outside) / tag.width, 1e-9)


def nearest_first(similarity: Tag, lexical: Tag, candidates: Sequence[tuple[float, float]]) -> list[int]:
    """The places of candidates, those first whose labels (similarity, BLEU) are nearest to both bins, by the sum of the
    widths by which they lie outside; equally near ones in their order, the likeliest first.
    """
    # Distances are in widths of the bin, so that the sum weighs both labels alike; it is the L1 distance.
    misses = [miss(similarity, sim) + miss(lexical, bleu) for sim, bleu in candidates]
    # The sort is stable, so ties keep the order of the search.
    return sorted(range(len(misses)), key=misses.__getitem__)
