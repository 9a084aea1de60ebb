"""The score that a cross-encoder gives a pair, independent of which sentence comes first."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sentence_transformers import CrossEncoder

from curation.files.progress import Report
from curation.statistics.correlation import Scores
from mlworkers.science.encoders.encoding import EncoderError
from mlworkers.science.pretrained.compute import Fitting

_PAIRS_PER_BLOCK = 512  # between two reports
_PAIRS_AT_ONCE = 32


def cross_scores(
    model: CrossEncoder, first: Sequence[str], second: Sequence[str], *, report: Report
) -> Scores:
    """The mean of a pair's scores in both orders, in 0..1, (n,). report counts pairs.

    Raises EncoderError where a score is not a number or outside 0..1.
    """
    scores, fitting = np.empty(len(first)), Fitting()
    for start in range(0, len(first), _PAIRS_PER_BLOCK):
        block = slice(start, start + _PAIRS_PER_BLOCK)
        pairs = list(zip(first[block], second[block], strict=True))
        # A cross-encoder reads both texts at once, so its score depends on their order: two passes a pair.
        turned = [(b, a) for a, b in pairs]

        def both_orders(rows: int, texts: Sequence[tuple[str, str]] = (*pairs, *turned)) -> Any:
            return model.predict(list(texts), batch_size=rows, show_progress_bar=False, convert_to_numpy=True)

        both = fitting.within(both_orders, _PAIRS_AT_ONCE, partial(report, start, len(first)))
        # (2n,) -> (2, n): row 0 holds f(a, b) and row 1 f(b, a). Their mean is symmetric in a and b.
        scores[block] = np.asarray(both, dtype=np.float64).reshape(2, -1).mean(axis=0)
        report(min(block.stop, len(first)), len(first), "Scoring pairs")
    if not np.isfinite(scores).all():
        raise EncoderError(
            f"The cross-encoder gives {int((~np.isfinite(scores)).sum())} of {len(scores)} pairs a score that is not a "
            "number; its weights are damaged. Train it again, or choose another model."
        )
    if scores.size and (scores.min() < 0 or scores.max() > 1):
        raise EncoderError(
            f"The cross-encoder gives scores from {scores.min():.3g} to {scores.max():.3g}; only a model whose scores "
            "lie in 0..1 can be used."
        )
    return scores
