"""What a corpus of pairs is like: wording in common, vocabulary and perplexity, with intervals (ConPGS, table 3)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.results.estimates import Estimate
from mlworkers.science.linguistics.tokens import tokens_of
from mlworkers.science.paraphrasing.estimates import ratio_estimated

Reals = NDArray[np.float64]
SUBSETS_DRAWN = 200  # random subsets of sentences, for a vocabulary at equal size


class Vocabulary(NamedTuple):
    """The distinct tokens of n sentences: a row for each token of a sentence, the sentence's place and the token's
    number. distinct: how many numbers there are.
    """

    sentence: NDArray[np.int64]
    token: NDArray[np.int64]
    sentences: int
    distinct: int


def mean_estimated(values: Reals, *, resamples: int, seed: int) -> Estimate:
    """The mean of n values, with the interval over resampled ones."""
    return ratio_estimated(values, np.ones(len(values)), resamples=resamples, seed=seed)


def perplexity_by_token(nats: Reals, tokens: Reals, *, resamples: int, seed: int) -> Estimate:
    """exp(Σ nats / Σ tokens): long sentences weigh more. nats, tokens: of n sentences, (n,)."""
    # The paper does not say whether its perplexity is this one or the mean over sentences.
    found = ratio_estimated(nats, tokens, resamples=resamples, seed=seed)
    # The ends of the interval may be transformed, because exp is increasing.
    return Estimate(*(None if one is None else float(np.exp(one)) for one in found))


def perplexity_by_sentence(nats: Reals, tokens: Reals, *, resamples: int, seed: int) -> Estimate:
    """The mean of exp(nats / tokens) over n sentences: few strange ones weigh much."""
    # (n,): the perplexity of each sentence.
    return mean_estimated(np.exp(nats / tokens), resamples=resamples, seed=seed)


def vocabulary_of(sentences: Sequence[str]) -> Vocabulary:
    """Words and punctuation marks, lower-cased, as sacrebleu's tokenizer “intl” separates them."""
    # The paper does not name the tokenizer behind its vocabulary sizes.
    numbers: dict[str, int] = {}
    places, tokens = [], []
    for place, text in enumerate(sentences):
        for token in tokens_of(text):
            places.append(place)
            # Tokens in the order of the text, types by first occurrence.
            tokens.append(numbers.setdefault(token, len(numbers)))
    return Vocabulary(
        np.array(places, dtype=np.int64), np.array(tokens, dtype=np.int64), len(sentences), len(numbers)
    )


def vocabulary_at(vocabulary: Vocabulary, size: int, *, seed: int) -> Estimate:
    """The distinct tokens of `size` random sentences: the mean over random subsets, and where 95 % of these lie.

    Larger corpora have more distinct tokens, so that only figures of one size can be compared. Resamples with
    replacement would miss tokens, and so are not drawn. Raises ValueError where there are fewer sentences.
    """
    if size > vocabulary.sentences:
        raise ValueError(f"{size} sentences cannot be drawn from {vocabulary.sentences}.")
    rng = np.random.default_rng([seed, size])  # a stream for each size
    drawn = np.empty(SUBSETS_DRAWN)
    for number in range(SUBSETS_DRAWN):
        chosen = np.zeros(vocabulary.sentences, dtype=bool)  # (sentences,)
        chosen[rng.choice(vocabulary.sentences, size=size, replace=False)] = True
        # (distinct,): types that occur in the subset; O(tokens).
        known = np.zeros(vocabulary.distinct, dtype=bool)
        known[vocabulary.token[chosen[vocabulary.sentence]]] = True
        drawn[number] = known.sum()
    low, high = np.percentile(drawn, [2.5, 97.5])  # the spread of subsets, not a standard error of the mean
    return Estimate(float(drawn.mean()), float(low), float(high))
