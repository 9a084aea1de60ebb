"""Scored pairs as instructions to learn."""

import pytest

from mlworkers.science.synthesis.prompts import (
    TASKS,
    LabelledPair,
    examples_written,
    label_counts,
    nearest_label,
)

TASK = TASKS["sentences"]


@pytest.mark.parametrize(
    ("similarity", "label"), [(0, "0"), (0.24, "0"), (0.25, "0.5"), (0.74, "0.5"), (0.75, "1"), (1, "1")]
)
def test_a_score_teaches_the_nearest_label(similarity: float, label: str) -> None:
    assert nearest_label(similarity, TASK) == label


def test_a_pair_is_learned_in_either_order_and_ends_with_a_quote() -> None:
    forward, backward = examples_written([LabelledPair("A dog runs.", 'He said "no".', 0.9)], TASK)

    assert forward.prompt == TASK.prompts("1", "A dog runs.")[0]
    assert forward.answer == 'He said “no”."'
    assert backward.prompt == TASK.prompts("1", 'He said "no".')[0]
    assert backward.answer == 'A dog runs."'


def test_the_pairs_of_each_label_are_counted() -> None:
    pairs = [LabelledPair("a", "b", similarity) for similarity in (0.1, 0.9, 1.0)]

    assert label_counts(pairs, TASK) == {"1": 2, "0.5": 0, "0": 1}
