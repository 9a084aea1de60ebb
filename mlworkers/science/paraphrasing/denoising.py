"""What a paraphraser warms up on: sentences that it writes again from copies that lack some of their words.

A model that begins with random weights, in the whole or between encoder and decoder, must learn to read a sentence
before it can say it in other words, and sentences are easier to come by than paraphrases. Words are left out as for
denoising autoencoders of sentences (Hill, Cho and Korhonen 2016; Lample et al. 2018, section 2.3), without shuffling.
"""

from collections.abc import Sequence

import numpy as np

from mlworkers.science.paraphrasing.paraphraser import TaggedPair, Target
from mlworkers.science.paraphrasing.tags import TagBounds

DROPPED = 0.1  # share of the words, as Lample et al. have it


def sentences_to_write_again(sentences: Sequence[str], bounds: TagBounds, *, seed: int) -> list[TaggedPair]:
    """Of each of n sentences a copy without some words, and the sentence. Its tags are drawn from all, so that the
    model learns to read behind tags before it learns what they mean.
    """
    rng = np.random.default_rng([seed, len(sentences)])  # one stream, in the order of the sentences
    made = []
    for sentence in sentences:
        words = np.array(sentence.split(), dtype=object)
        # Each word is left out on its own with this probability; a sentence that would lose all stays whole.
        kept = rng.random(len(words)) >= DROPPED
        # Uniform over all cells.
        similarity, lexical = rng.integers(len(bounds.similarity)), rng.integers(len(bounds.lexical))
        target = Target(bounds.similarity[similarity].name, bounds.lexical[lexical].name)
        made.append(TaggedPair(" ".join(words[kept] if kept.any() else words), sentence, target))
    return made
