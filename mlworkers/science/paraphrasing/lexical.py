"""How similar the wording of two sentences is: sentence BLEU, as sacrebleu computes it (Post 2018)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU

from curation.files.progress import Report

HIGHEST = 100.0
_PAIRS_PER_BLOCK = 1_000  # between two reports
# Orders longer than the second sentence are left out: otherwise two equal sentences of three words would have 0.
_bleu = BLEU(lowercase=True, effective_order=True)


def bleu_scores(first: Sequence[str], second: Sequence[str], *, report: Report) -> NDArray[np.float64]:
    """Sentence BLEU of each second sentence (the hypothesis) against the first (its reference), in 0..100, (n,).

    What `sacrebleu first.txt -i second.txt -m bleu -sl -lc` prints. It is not symmetric: a shorter hypothesis is
    penalised. report counts pairs.
    """
    scores = np.empty(len(first))
    for start in range(0, len(first), _PAIRS_PER_BLOCK):
        stop = min(start + _PAIRS_PER_BLOCK, len(first))
        # BLEU = min(1, exp(1 - r / h)) · exp(mean over orders of log p_n), with r, h the lengths of reference
        # and hypothesis.
        for place in range(start, stop):
            # Of orders without a match the first counts as half an n-gram, the next as a quarter, and so on.
            # A pair that shares no word has 0.
            # Smoothing "exp" is the library's default.
            scores[place] = _bleu.sentence_score(second[place], [first[place]]).score
        report(stop, len(first), "Computing BLEU")
    return np.minimum(scores, HIGHEST)  # rounding puts equal sentences a little above


def bleu_signature() -> str:
    """What sacrebleu calls these settings, with its version, so that anybody can compute the same figures."""
    counted = BLEU(lowercase=True, effective_order=True)
    counted.sentence_score("any", ["any"])  # a signature says how many references a score had
    return str(counted.get_signature())
