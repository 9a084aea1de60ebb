"""How varied the words of a group of sentences are, at a number of tokens that is the same for every group.

Distinct-n (Li et al. 2016) and Zipf's coefficient (Holtzman et al. 2020) both change with the size of a text, so groups
of different sizes can be compared only at one size. Here that size is a number of tokens, and the sentences are drawn
without replacement.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
LONGEST = 3  # n of the longest n-grams
RANKS = 5_000  # of the most frequent types that Zipf's coefficient reads, as Holtzman et al. do
FEWEST_TYPES = 50  # for a slope
DRAWS = 10  # of sentences, whose Zipf coefficients are averaged


@dataclass(frozen=True)
class TokenisedSentences:
    """S sentences as numbers of n-grams.

    grams: for n = 1, 2, 3, the n-grams of all sentences one after another, as numbers; sentence: for the same n, the
    sentence (0..S-1) of each n-gram.
    """

    size: int
    grams: tuple[Numbers, ...]
    sentence: tuple[Numbers, ...]

    @property
    def tokens(self) -> int:
        return int(self.grams[0].size)

    def taken(self, chosen: NDArray[np.bool_]) -> "TokenisedSentences":
        """The marked sentences alone, with new numbers from 0. chosen: (S,) bool."""
        renumbered = np.cumsum(chosen) - 1
        marked = [chosen[each] for each in self.sentence]
        return TokenisedSentences(
            int(chosen.sum()),
            tuple(grams[mark] for grams, mark in zip(self.grams, marked, strict=True)),
            tuple(renumbered[each[mark]] for each, mark in zip(self.sentence, marked, strict=True)),
        )


def sentences_tokenised(sentences: Sequence[Sequence[str]]) -> TokenisedSentences:
    """sentences: the tokens of each."""
    grams, numbers = [], []
    for n in range(1, LONGEST + 1):
        known: dict[tuple[str, ...], int] = {}
        row = [
            (known.setdefault(tuple(tokens[start : start + n]), len(known)), number)
            for number, tokens in enumerate(sentences)
            for start in range(len(tokens) - n + 1)
        ]
        columns = np.array(row, dtype=np.int64).reshape(-1, 2)
        grams.append(columns[:, 0])
        numbers.append(columns[:, 1])
    return TokenisedSentences(len(sentences), tuple(grams), tuple(numbers))


def distinct(sentences: TokenisedSentences, n: int, *, budget: int) -> float | None:
    """Distinct n-grams by n-grams, in 0..1, expected in so many sentences that they hold `budget` tokens on average.

    A type that occurs in s of the S sentences is in a draw of m sentences with probability
    1 - C(S - s, m) / C(S, m) (rarefaction by samples; Colwell et al. 2012, equation 5), so no draw is needed.
    None if the sentences hold fewer tokens than the budget, or no n-gram.
    """
    grams, owner = sentences.grams[n - 1], sentences.sentence[n - 1]
    if sentences.tokens < budget or not grams.size:
        return None
    drawn = sentences.size * budget / sentences.tokens  # m, of which the gamma function takes fractions too
    occurrences = np.unique(np.stack([grams, owner]), axis=1)[0]  # each type once per sentence
    within = np.unique(occurrences, return_counts=True)[1]  # s of each type

    # ln [C(S - s, m) / C(S, m)] of each s; minus infinity where the other sentences are fewer than m.
    others = sentences.size - within
    enough = others >= drawn
    left = np.where(enough, others, drawn)  # (T,)
    log = (
        scipy.special.gammaln(left + 1)
        - scipy.special.gammaln(left - drawn + 1)
        - scipy.special.gammaln(sentences.size + 1)
        + scipy.special.gammaln(sentences.size - drawn + 1)
    )
    expected = (1 - np.exp(np.where(enough, log, -np.inf))).sum()  # Σ over types of P(type is in the draw)

    # By the n-grams that a draw holds on average.
    return float(expected / (grams.size * drawn / sentences.size))


def zipf_coefficient(
    sentences: TokenisedSentences, *, budget: int, orders: Sequence[Numbers]
) -> float | None:
    """The negative slope of ln frequency on ln rank over the most frequent types, by least squares: the mean over
    draws of sentences that hold `budget` tokens.

    orders: of each draw a permutation of the sentences (S,), whose first ones are taken. None if the sentences hold
    fewer tokens than the budget, or a draw fewer than 50 types.
    """
    if sentences.tokens < budget:
        return None
    slopes = [_slope(_first_tokens(sentences, order, budget)) for order in orders]
    defined = [slope for slope in slopes if slope is not None]
    return float(np.mean(defined)) if slopes and len(defined) == len(slopes) else None


def _first_tokens(sentences: TokenisedSentences, order: Numbers, budget: int) -> Numbers:
    """The tokens of the first sentences in that order, up to the budget; the last sentence may be cut off."""
    lengths = np.bincount(sentences.sentence[0], minlength=sentences.size)
    starts = np.cumsum(lengths) - lengths
    needed = int(np.searchsorted(np.cumsum(lengths[order]), budget)) + 1
    first = order[:needed]
    # Of each sentence in turn its start and on: positions of their tokens, one after another.
    offsets = np.arange(lengths[first].sum()) - np.repeat(
        np.cumsum(lengths[first]) - lengths[first], lengths[first]
    )
    tokens: Numbers = sentences.grams[0][(np.repeat(starts[first], lengths[first]) + offsets)[:budget]]
    return tokens


def _slope(tokens: Numbers) -> float | None:
    counts = np.bincount(tokens)
    frequencies = np.sort(counts[counts > 0])[::-1][:RANKS]  # falling: rank r is place r - 1
    if frequencies.size < FEWEST_TYPES:
        return None
    x, y = np.log(np.arange(1, frequencies.size + 1)), np.log(frequencies)
    centred = x - x.mean()
    return float(-(centred @ y) / (centred @ centred))  # least squares: -Σ (x - x̄) y / Σ (x - x̄)²
