"""First sentences that the model writes from the instruction alone (DINO's x1), to be continued as human ones are.

An order stands in the place of a source: its text is its number, which no prompt shows, but from which the draws of the
row follow as they follow from a source's text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import ceil
from typing import ClassVar

from mlworkers.science.synthesis.plan import FIRST, GenerationPlan
from mlworkers.science.synthesis.postprocessing import Row
from mlworkers.science.synthesis.prompts import Task
from mlworkers.science.synthesis.rows import Source


@dataclass(frozen=True)
class FirstSentencesPlan(GenerationPlan):
    """A generation of first sentences: each order has one row for each label, and nothing is held against it."""

    stage: ClassVar[str] = FIRST

    @property
    def instructions(self) -> Task:
        return super().instructions.without_sources()


def plan_of_first(plan: GenerationPlan) -> FirstSentencesPlan:
    # One sample for each order: its number is in the key of the draws, so that orders have different noise.
    settings = {each.name: getattr(plan, each.name) for each in fields(plan)}
    return FirstSentencesPlan(**{**settings, "samples": 1, "self_debiasing": False})


def orders_of(plan: GenerationPlan) -> list[Source]:
    """As many as give `plan.sources` sentences, evenly over the labels, or some more."""
    # Rounded up: count · labels is the smallest multiple of the labels that is not below `plan.sources`.
    count = ceil(plan.sources / len(plan.label_list))
    return [Source(number, str(number), number) for number in range(1, count + 1)]


def sources_of(rows: Sequence[Row]) -> list[Source]:
    """The first sentences that were kept, numbered from 1. No two are connected."""
    kept = [row.text for row in rows if row.dropped is None]
    return [Source(number, text, number) for number, text in enumerate(kept, 1)]


def row_counts(rows: Sequence[Row]) -> Mapping[str, int]:
    """How many were written, how many kept, and how many each reason dropped."""
    counts = {"written": len(rows), "kept": sum(row.dropped is None for row in rows)}
    for row in rows:
        if row.dropped is not None:
            counts[str(row.dropped)] = counts.get(str(row.dropped), 0) + 1
    return counts
