"""Made sentences: 5 to 25 words from a Zipf distribution over 50,000 words."""

import numpy as np

VOCABULARY = 50_000


def sentences_made(number: int) -> list[str]:
    rng = np.random.default_rng(1)
    names = [f"word{rank}" for rank in range(VOCABULARY)]
    chances = 1 / np.arange(1, VOCABULARY + 1)
    lengths = rng.integers(5, 26, size=number)
    drawn = rng.choice(VOCABULARY, size=int(lengths.sum()), p=chances / chances.sum())
    ends = np.cumsum(lengths)
    return [
        " ".join(names[word] for word in drawn[end - length : end])
        for end, length in zip(ends, lengths, strict=True)
    ]


def with_near_copies(sentences: list[str], *, share: float) -> list[str]:
    """Replace this share of the sentences, the last ones, by copies of others with one word changed."""
    rng = np.random.default_rng(2)
    copies = int(share * len(sentences))
    kept = sentences[: len(sentences) - copies]
    for number in range(copies):
        words = kept[int(rng.integers(len(sentences) - copies))].split()
        words[int(rng.integers(len(words)))] = f"changed{number}"
        kept.append(" ".join(words))
    return kept
