"""Running text in which what is around a sentence says something about it: small stories with one hero each."""

from pathlib import Path

import numpy as np

from curation.files.documents import Document
from mlworkers.science.contexts.bigram_index import index_write
from mlworkers.science.contexts.corpus import Corpus, corpus_write

HEROES = ("dog", "cat", "bird", "horse", "fox", "goat")
PLACES = ("garden", "forest", "kitchen", "street", "river", "field")


def story(rng: np.random.Generator) -> list[str]:
    hero, place = str(rng.choice(HEROES)), str(rng.choice(PLACES))
    sentences = [
        f"The {hero} came to the {place}.",
        f"It was a quiet {place} in the morning.",
        f"A {hero} likes the {place} very much.",
        f"Soon the {hero} was hungry.",
        f"There was food in the {place}.",
        f"The {hero} ate it and slept.",
        f"At night the {hero} left the {place}.",
    ]
    return [sentences[place] for place in sorted(rng.permutation(7)[: rng.integers(5, 8)].tolist())]


def numbered_story(rng: np.random.Generator, number: int) -> list[str]:
    """A story no sentence of which stands in another one."""
    return [f"{sentence.removesuffix('.')} {number}." for sentence in story(rng)]


def corpus_of_stories(folder: Path, *, stories: int = 60) -> Corpus:
    """With its index."""
    rng = np.random.default_rng(5)
    corpus_write([Document(f"story {number}", [story(rng)], []) for number in range(stories)], folder)
    corpus = Corpus(folder)
    index_write(corpus, folder)
    return corpus
