"""Choosing pairs of sentences whose words overlap as in the STR paper: 10,000 pairs among 1,000,000 sentences.

The baseline is the paper's procedure as a person would write it today: a set of words for each sentence, and for each
first sentence a loop over all sentences in one order until one is within the window. It finds fewer pairs, since it is
slower; the ratio is of pairs per second, each with its own reading of the sentences.
The sentences are made: 5 to 25 words from a Zipf distribution over 50,000 words.
"""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np
from _compare import is_quick, peak_mb, print_comparison, rates_compared
from _sentences import sentences_made

from curation.pairs.sampling.searching import Window
from curation.pairs.sampling.strategies import (
    pairs_by_percentiles,
    pairs_within_window,
    random_candidates,
    within_lengths,
)
from curation.pairs.sampling.uses import Uses
from curation.pairs.text import words
from curation.pairs.word_tables import dice_of_pairs, inverse_document_frequencies, word_table

BASELINE_PAIRS = 100
WINDOW = Window()


def ours(sentences: Sequence[str], pairs: int) -> tuple[float, float]:
    """Seconds for reading the sentences, and for drawing all pairs."""
    started = perf_counter()
    table = word_table(sentences)
    table = table.taken(within_lengths(table))
    read = perf_counter() - started
    sample = pairs_within_window(table, pairs=pairs, window=WINDOW, uses=Uses(len(table), cap=1), seed=1)
    assert len(sample.pairs) == pairs, sample.strata
    return read, perf_counter() - started - read


def buckets(sentences: Sequence[str], pairs: int) -> float:
    """Seconds of the Goodreads strategy, reading included: IDF-weighted Dice of random pairs, 50 buckets."""
    started = perf_counter()
    table = word_table(sentences)
    candidates = random_candidates(len(table), pairs=len(table), seed=1)
    weights = inverse_document_frequencies(table)
    overlaps = dice_of_pairs(table, candidates[:, 0], candidates[:, 1], weights=weights)
    uses = Uses(len(table), cap=1)
    pairs_by_percentiles(candidates, overlaps, pairs=pairs, buckets=50, growth=1.1, uses=uses, seed=1)
    return perf_counter() - started


def baseline(sentences: Sequence[str], pairs: int) -> tuple[float, float]:
    """Seconds for reading the sentences, and for one pair."""
    started = perf_counter()
    sets = [(frozenset(found), len(found)) for found in map(words, sentences)]
    read = perf_counter() - started
    for first in np.random.default_rng(2).choice(len(sets), size=pairs, replace=False):
        own, length = sets[first]
        for number, (other, other_length) in enumerate(sets):
            close = abs(length - other_length) <= WINDOW.length_difference * max(length, other_length)
            if number != first and close and WINDOW.low <= len(own & other) / len(own) < WINDOW.high:
                break
    return read, (perf_counter() - started - read) / pairs


def main() -> None:
    number, pairs = (20_000, 200) if is_quick(__doc__) else (1_000_000, 10_000)
    sentences = sentences_made(number)
    before = peak_mb()
    read, drawing = ours(sentences, pairs)
    peak = peak_mb()
    bucketed = buckets(sentences, pairs)
    baseline_read, each = baseline(sentences, BASELINE_PAIRS)
    compared = rates_compared(
        "pair_sampling",
        work=pairs,
        unit="pairs/s",
        seconds=read + drawing,
        baseline="a loop over sets of words, in one order",
        baseline_seconds=baseline_read + each * pairs,
        notes=f"{pairs:,} pairs among {number:,} sentences: {read:.1f} s to read, {drawing:.1f} s to draw; the loop: "
        f"{baseline_read:.1f} s and {1000 * each:.2f} ms a pair, by {BASELINE_PAIRS} pairs; 50 buckets of "
        f"weighted Dice over {number:,} random pairs: {bucketed:.1f} s; "
        f"the sentences themselves hold {before:.0f} MB of the peak",
    )
    print_comparison(replace(compared, peak_mb=peak))


if __name__ == "__main__":
    main()
