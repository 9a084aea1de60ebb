"""The question that a chat model is asked about a tuple, and the choice in its answer."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.files.json_text import json_from
from curation.statistics.correlation import Scores

_FENCED = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL)


class Choice(NamedTuple):
    """Places on the screen, from 0, of the best and the worst pair."""

    best: int
    worst: int


class Asking(NamedTuple):
    """What a campaign asks its annotators."""

    question: str
    best_label: str
    worst_label: str
    guidelines: str = ""


def tuple_question(asking: Asking, pairs: Sequence[tuple[str, str]]) -> str:
    """The message that shows the pairs in this order and asks for the numbers of two of them as a JSON object."""
    shown = "\n\n".join(
        f"Pair {number}\nSentence A: {a}\nSentence B: {b}" for number, (a, b) in enumerate(pairs, 1)
    )
    before = f"{asking.guidelines.strip()}\n\n" if asking.guidelines.strip() else ""
    return (
        f"{before}{asking.question}\n\n{shown}\n\n"
        f"Choose one pair for “{asking.best_label}” and another one for “{asking.worst_label}”. Answer only with a "
        "JSON object with the numbers of the two pairs: "
        f"the field “best” for “{asking.best_label}” and the field “worst” for “{asking.worst_label}”, such as "
        f"{answer_of(Choice(0, 1))}, and nothing before or after it."
    )


def answer_of(choice: Choice) -> str:
    """A choice in the form that the question asks for."""
    return f'{{"best": {choice.best + 1}, "worst": {choice.worst + 1}}}'


def choice_in(answer: str, size: int) -> Choice | None:
    """The choice among `size` pairs; None where the answer is anything else than the object that was asked for."""
    text = answer.strip()
    fenced = _FENCED.fullmatch(text)
    try:
        value = json_from(fenced[1] if fenced else text)
    except ValueError:
        return None
    if not isinstance(value, dict) or set(value) != {"best", "worst"}:
        return None
    best, worst = value["best"], value["worst"]
    numbers = all(type(number) is int and 1 <= number <= size for number in (best, worst))
    return Choice(best - 1, worst - 1) if numbers and best != worst else None


def choice_by_scores(scores: Scores) -> Choice:
    """The highest and the lowest of the scores (k,) of pairs as they are shown; of equal ones the first, and for the
    worst the last, so that two pairs are chosen also where all are equal.
    """
    worst = len(scores) - 1 - int(np.argmin(scores[::-1]))
    return Choice(int(np.argmax(scores)), worst)
