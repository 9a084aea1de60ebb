"""How many words two sentences of a pair have in common: BLEU (Papineni et al. 2002) and Jaccard's similarity."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU

Values = NDArray[np.float64]
ORDERS = (1, 2, 3, 4)
# An order without a match counts as 0.1 matches, as method 1 of Chen and Cherry (2014) does. RISE does not say how it
# smooths: this gives its Table 4 for the human pairs of STSb (50.8, 37.6, 28.7 and 22.4, printed 51.0, 37.6, 28.5 and
# 22.1), and no smoothing gives 17.4 for the last.
_FLOOR = 0.1
_LONGEST = max(ORDERS)


def bleu_scores(hypothesis: Sequence[str], reference: Sequence[str]) -> Values:
    """Sentence BLEU of two sentences' tokens for n-grams up to 1, 2, 3 and 4, in 0..1, shape (4,).

    Orders longer than the hypothesis are left out, so that two equal sentences of three words have 1 everywhere.
    """
    if not hypothesis:
        return np.zeros(len(ORDERS))
    counted = _counter.sentence_score(" ".join(hypothesis), [" ".join(reference)])
    return np.array(
        [
            BLEU.compute_bleu(
                counted.counts[:order],
                counted.totals[:order],
                counted.sys_len,
                counted.ref_len,
                smooth_method="floor",
                smooth_value=_FLOOR,
                effective_order=True,
                max_ngram_order=order,
            ).score
            / 100
            for order in ORDERS
        ]
    )


# Counts matches only. The tokens are separated already, and `effective_order` keeps sacrebleu from a warning per pair.
_counter = BLEU(max_ngram_order=_LONGEST, tokenize="none", effective_order=True)


def jaccard(first: Sequence[str], second: Sequence[str]) -> float:
    """The share of the distinct tokens of two sentences that both have; 0 if neither has any."""
    a, b = set(first), set(second)
    return len(a & b) / len(a | b) if a or b else 0.0
