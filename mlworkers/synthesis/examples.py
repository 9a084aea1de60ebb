"""Labelled pairs as the instructions that a language model is to learn from."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from mlworkers.synthesis.prompts import QUOTE, Task, typographic


class LabelledPair(NamedTuple):
    """Two sentences and how similar people find them, 0..1."""

    a: str
    b: str
    similarity: float


class Example(NamedTuple):
    """What stands before a sentence, and the sentence itself with the quote that ends it."""

    prompt: str
    answer: str


def nearest_label(similarity: float, task: Task) -> str:
    """The task's label next to a similarity in 0..1; halfway between two, the higher one."""
    return min(task.instructions, key=lambda label: (abs(float(label) - similarity), -float(label)))


def examples_written(pairs: Iterable[LabelledPair], task: Task) -> Iterator[Example]:
    """Two examples for each pair, one in either order: how similar two sentences are does not depend on it."""
    for pair in pairs:
        instruction = task.instructions[nearest_label(pair.similarity, task)]
        for first, second in ((pair.a, pair.b), (pair.b, pair.a)):
            yield Example(instruction.prompt(first), typographic(second) + QUOTE)


def label_counts(pairs: Iterable[LabelledPair], task: Task) -> Mapping[str, int]:
    """How many pairs teach each label."""
    counts = dict.fromkeys(task.instructions, 0)
    for pair in pairs:
        counts[nearest_label(pair.similarity, task)] += 1
    return counts
