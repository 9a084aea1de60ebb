"""Pairs of sentences made of English words, for benchmarks that need a file of them."""

import csv
import itertools
from pathlib import Path

import numpy as np

WORDS = (
    "a the of and in on with is are man woman child dog cat bird horse car street house river mountain game ball "
    "red green small large old young plays runs sits stands holds eats drinks reads writes sings walks jumps near"
)


def pairs_file(path: Path, count: int, *, seed: int) -> Path:
    """A CSV file of so many pairs with scores 0..5. One sentence in thirteen stands twice, as in the STS benchmark."""
    generator = np.random.default_rng(seed)
    distinct = 2 * count * 12 // 13
    lengths = np.exp(generator.normal(np.log(11), 0.45, size=distinct)).astype(int).clip(3, 60)
    sentences = [" ".join(generator.choice(WORDS.split(), size=length)) + "." for length in lengths]
    sentences += sentences[: 2 * count - distinct]
    shuffled = [sentences[place] for place in generator.permutation(len(sentences))]
    scores = generator.integers(0, 26, size=count) / 5
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["sentence1", "sentence2", "score"])
        writer.writerows(zip(shuffled[:count], shuffled[count:], scores.tolist(), strict=True))
    return path


def varied_pairs_file(path: Path, count: int, *, seed: int) -> Path:
    """A CSV file of so many pairs with ids, sources, splits and scores 0..5, in 30,000 words made of syllables.

    The n-th word is 1/n as frequent as the first, as in a language (Zipf's law).
    """
    generator = np.random.default_rng(seed)
    syllables = [f"{consonant}{vowel}" for consonant in "bcdfgklmnprstvz" for vowel in "aeiou"]
    sizes = generator.integers(2, 5, size=30_000)
    words = np.array(["".join(generator.choice(syllables, size=size)) for size in sizes], dtype=object)
    words[:3] = "bafe", "cobi", "mudo"
    words[20_000] = "mudokafe"
    shares = 1 / np.arange(1, len(words) + 1)
    lengths = np.exp(generator.normal(np.log(11), 0.45, size=2 * count)).astype(int).clip(3, 60)
    drawn = iter(words[generator.choice(len(words), size=int(lengths.sum()), p=shares / shares.sum())])
    sources = generator.choice(["news", "forum", "novels", "web", "captions", "questions"], size=count)
    splits = generator.choice(["train", "dev", "test"], size=count, p=[0.8, 0.1, 0.1])
    scores = generator.integers(0, 51, size=count) / 10
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "sentence1", "sentence2", "score", "source", "split"])
        for row in range(count):
            two = [" ".join(itertools.islice(drawn, int(lengths[2 * row + side]))) + "." for side in (0, 1)]
            writer.writerow([f"p{row}", *two, scores[row], sources[row], splits[row]])
    return path
