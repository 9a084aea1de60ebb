"""The instructions that make a language model write the second sentence of a pair (DINO, Schick and Schütze 2021), and
labelled pairs as the examples that teach a model to follow them.

A prompt ends in an opening quote, so that the next quote ends the sentence that the model writes.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.files.json_text import json_from

SOURCE = "<X1>"
QUOTE = '"'
_TASK_NAME = re.compile(r"[A-Za-z0-9\-_.]+")
_FIELDS = {"instruction", "counter_labels"}
_OPENS_AFTER = (" ", "(", "[", "{", "–", "—", "‘", "“")


class TaskError(ValueError):
    """The instructions cannot be used. The text is one sentence: what is wrong with which, and what to do."""


@dataclass(frozen=True)
class Instruction:
    """How a pair of one label is asked for, and the labels that it must not be taken for."""

    text: str
    counters: tuple[str, ...] = ()

    def prompt(self, source: str) -> str:
        """The instruction with that sentence in it; straight quotes in the sentence become typographic ones."""
        return self.text.replace(SOURCE, typographic(source))

    def without_source(self, label: str) -> "Instruction":
        """What asks for the first sentence of a pair: the text up to the place of the source. Raises TaskError."""
        before = self.text.partition(SOURCE)[0]
        if not before.endswith(QUOTE):
            raise TaskError(
                f"The instruction of the label {label} has no {QUOTE} before {SOURCE}, so it cannot ask for a first "
                f"sentence; put {SOURCE} in quotes, or take human first sentences."
            )
        return Instruction(before)


@dataclass(frozen=True)
class Task:
    """Instructions by label. A label is a number in 0..1, written as text: the target similarity."""

    name: str
    instructions: Mapping[str, Instruction]

    def prompts(self, label: str, source: str) -> tuple[str, ...]:
        """The label's own prompt, then one for each label that it must not be taken for."""
        labels = (label, *self.instructions[label].counters)
        return tuple(self.instructions[each].prompt(source) for each in labels)

    def without_sources(self) -> "Task":
        """The instructions that ask for first sentences; as DINO's, they hold no label against another.

        Raises TaskError.
        """
        instructions = {label: each.without_source(label) for label, each in self.instructions.items()}
        return Task(self.name, instructions)


def typographic(sentence: str) -> str:
    """The sentence with “ and ” instead of straight quotes, one of which would end it for the model."""
    return "".join(
        ("“" if index == 0 or sentence[index - 1] in _OPENS_AFTER else "”")
        if character == QUOTE
        else character
        for index, character in enumerate(sentence)
    )


def task_of_pairs(name: str, plural: str, one: str) -> Task:
    """DINO's three instructions, about `plural` ("sentences") of which each is `one` ("Sentence")."""
    return Task(
        name,
        {
            label: Instruction(
                f'Task: Write two {plural} that {relation}.\n{one} 1: "{SOURCE}"\n{one} 2: "', counters
            )
            for label, relation, counters in (
                ("1", "mean the same thing", ()),
                ("0.5", "are somewhat similar", ("1",)),
                ("0", "are on completely different topics", ("1", "0.5")),  # counters: all labels above it
            )
        },
    )


TASKS = {
    "sentences": task_of_pairs("sts", "sentences", "Sentence"),
    "questions": task_of_pairs("qqp", "questions", "question"),
}


def task_checked(spec: Any) -> Task:
    """The task that a specification in DINO's form describes. Raises TaskError.

    spec: {"task_name": …, "labels": {label: {"instruction": …, "counter_labels": [label, …]}}}. DINO's own rules,
    and three of ours: a label is a number in 0..1, never its own counter, and a counter occurs once.
    """
    spec = _mapping(spec, "The task")
    name = spec.get("task_name")
    if not isinstance(name, str) or _TASK_NAME.fullmatch(name) is None:
        raise TaskError(
            f"The task's name {name!r} must consist of letters, digits, hyphens, dots and underscores."
        )
    labels = _mapping(spec.get("labels"), f"“labels” of the task {name}")
    if not labels:
        raise TaskError(f"The task {name} has no labels; give at least one, such as 1.")
    instructions = {
        label: _instruction(label, _mapping(each, f"The label {label}")) for label, each in labels.items()
    }
    for label, instruction in instructions.items():
        try:
            value = float(label)
        except ValueError:
            value = math.nan
        if not 0 <= value <= 1:  # NaN fails too: it compares as false
            raise TaskError(
                f"The label {label!r} is not a number from 0 to 1, and cannot be a target similarity."
            )
        for counter in instruction.counters:
            if counter not in instructions:
                raise TaskError(f"The label {label} counters {counter!r}, which is not a label of the task.")
            if counter == label:
                raise TaskError(f"The label {label} counters itself; remove it from its counter_labels.")
        if len(set(instruction.counters)) < len(instruction.counters):
            raise TaskError(f"The label {label} names a counter label twice; name each once.")
    return Task(name, instructions)


def task_named(text: str) -> Task:
    """The task called "sentences" or "questions", or that of a specification as JSON. Raises TaskError."""
    if text in TASKS:
        return TASKS[text]
    if not text.lstrip().startswith("{"):
        raise TaskError(f"There is no task {text!r}; give {', '.join(TASKS)}, or a specification in JSON.")
    try:
        return task_checked(json_from(text))
    except ValueError as error:
        raise TaskError(f"The task's specification is not JSON: {error}.") from error


def labels_listed(text: str, task: Task) -> tuple[str, ...]:
    """The labels in a list such as "0, 0.5, 1", as the task writes them; all of them of an empty one.

    Raises TaskError.
    """
    if not text.strip():
        return tuple(task.instructions)
    labels = [label.strip() for label in text.split(",") if label.strip()]
    unknown = [label for label in labels if label not in task.instructions]
    if unknown:
        known = ", ".join(task.instructions)
        raise TaskError(f"The task {task.name} has no label {unknown[0]!r}; its labels are {known}.")
    if not labels or len(set(labels)) < len(labels):
        raise TaskError(f"{text!r} is not a list of different labels; give some, such as 0,0.5,1.")
    return tuple(labels)


def _mapping(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TaskError(f"{what} is not an object of names and values.")
    return value


def _instruction(label: str, fields: dict[str, Any]) -> Instruction:
    unknown = sorted(fields.keys() - _FIELDS)
    if unknown:
        raise TaskError(
            f"The label {label} has the field {unknown[0]!r}; only instruction and counter_labels are known."
        )
    text, counters = fields.get("instruction"), fields.get("counter_labels", [])
    if not isinstance(text, str) or not text.endswith(QUOTE):
        raise TaskError(
            f"The instruction of the label {label} does not end in a quote; end it with {QUOTE}, which opens the "
            "sentence to be written."
        )
    if text.count(SOURCE) != 1:  # DINO's rule for tasks with inputs
        raise TaskError(
            f"The instruction of the label {label} must contain {SOURCE} once, not {text.count(SOURCE)} times."
        )
    if not isinstance(counters, list) or not all(isinstance(counter, str) for counter in counters):
        raise TaskError(f"“counter_labels” of the label {label} is not a list of labels.")
    return Instruction(text, tuple(counters))


class LabelledPair(NamedTuple):
    """Two sentences and how similar people find them, 0..1."""

    a: str
    b: str
    similarity: float


class Example(NamedTuple):
    """The text before a sentence, and the sentence itself with the quote that ends it."""

    prompt: str
    answer: str


def nearest_label(similarity: float, task: Task) -> str:
    """The task's label next to a similarity in 0..1; halfway between two, the higher one."""
    # The second key breaks ties of the distance: of two labels equally far away the higher value is smaller
    # when negated.
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
