"""Batches of sentences of like length."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlworkers.science.encoders.forward import length_batches

LENGTHS = st.lists(st.integers(0, 60), max_size=80)
BUDGET = st.integers(1, 200)


@given(LENGTHS, BUDGET)
def test_every_sentence_is_in_one_batch(lengths, budget) -> None:
    batches = length_batches(lengths, tokens_per_batch=budget)

    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))


@given(LENGTHS, BUDGET)
def test_a_batch_of_many_keeps_to_its_budget_with_its_padding(lengths, budget) -> None:
    batches = length_batches(lengths, tokens_per_batch=budget)

    padded = [len(batch) * max(lengths[place] for place in batch) for batch in batches if len(batch) > 1]
    assert all(tokens <= budget for tokens in padded)


@given(LENGTHS, BUDGET)
def test_the_longest_sentences_come_first(lengths, budget) -> None:
    batches = length_batches(lengths, tokens_per_batch=budget)

    in_order = [lengths[place] for batch in batches for place in batch]
    assert in_order == sorted(in_order, key=lambda length: max(length, 1), reverse=True)


@given(LENGTHS.filter(bool), BUDGET)
def test_a_batch_is_as_full_as_its_budget_allows(lengths, budget) -> None:
    batches = length_batches(lengths, tokens_per_batch=budget)

    for batch in batches[:-1]:
        longest = max(1, *(lengths[place] for place in batch))
        assert (len(batch) + 1) * longest > budget


def test_equal_lengths_keep_their_order() -> None:
    batches = length_batches([5, 9, 5, 5], tokens_per_batch=10)

    assert [batch.tolist() for batch in batches] == [[1], [0, 2], [3]]


def test_a_sentence_longer_than_the_budget_is_a_batch_of_its_own() -> None:
    batches = length_batches([3, 500, 3], tokens_per_batch=10)

    assert [batch.tolist() for batch in batches] == [[1], [0, 2]]


def test_no_sentences_make_no_batch() -> None:
    assert length_batches(np.array([], dtype=int), tokens_per_batch=10) == []


def test_a_budget_below_one_token_is_refused() -> None:
    with pytest.raises(ValueError, match="A batch of 0 tokens"):
        length_batches([1], tokens_per_batch=0)
