"""Pairs of sentences made of English words, for benchmarks that need a file of them."""

import csv
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
