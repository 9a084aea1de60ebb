"""Distinct-n and Zipf's coefficient at a number of tokens."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import linregress

from mlworkers.science.linguistics.diversity import distinct, sentences_tokenised, zipf_coefficient

FIVE = [["a", "b", "a"], ["a", "c", "d"], ["b", "b", "b"], ["e", "a", "b"], ["c", "d", "a"]]


def _distinct_words(sentences: list[list[str]], n: int) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + n]) for words in sentences for i in range(len(words) - n + 1)}


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("drawn", [1, 2, 3, 4])
def test_distinct_is_the_mean_over_every_draw_of_sentences(n: int, drawn: int) -> None:
    """Every sentence has three words, so a budget of 3 m words is every draw of m sentences."""
    grams = drawn * (4 - n)
    every = [len(_distinct_words(list(draw), n)) / grams for draw in combinations(FIVE, drawn)]

    ours = distinct(sentences_tokenised(FIVE), n, budget=3 * drawn)

    assert ours == pytest.approx(np.mean(every))


def test_distinct_of_all_sentences_is_types_by_tokens() -> None:
    tokenised = sentences_tokenised([["a", "b", "a", "c"], ["a"]])

    assert distinct(tokenised, 1, budget=5) == pytest.approx(3 / 5)
    assert distinct(tokenised, 2, budget=5) == pytest.approx(3 / 3)


def test_fewer_tokens_than_the_budget_have_no_distinct() -> None:
    assert distinct(sentences_tokenised(FIVE), 1, budget=16) is None
    assert distinct(sentences_tokenised([["a"], ["b"]]), 2, budget=2) is None


def test_zipf_is_the_slope_of_scipy_s_regression() -> None:
    rng = np.random.default_rng(3)
    words = [f"w{number}" for number in rng.zipf(1.7, size=4000) if number < 2000]
    sentences = [words[start : start + 8] for start in range(0, len(words), 8)]
    tokenised = sentences_tokenised(sentences)
    counts = np.sort(np.unique(words, return_counts=True)[1])[::-1]
    theirs = linregress(np.log(np.arange(1, counts.size + 1)), np.log(counts)).slope

    ours = zipf_coefficient(tokenised, budget=tokenised.tokens, orders=[np.arange(tokenised.size)])

    assert ours == pytest.approx(-theirs)


def test_a_draw_takes_the_first_sentences_of_its_order_up_to_the_budget() -> None:
    """Every word differs within a draw of one block of sentences, and repeats in the other."""
    different = [[f"d{number}{letter}" for letter in "abcde"] for number in range(20)]
    repeated = [[f"r{number}" for number in range(5)]] * 20
    tokenised = sentences_tokenised([*different, *repeated])
    first, last = np.arange(40), np.arange(40)[::-1]

    assert zipf_coefficient(tokenised, budget=100, orders=[first]) == pytest.approx(0.0)
    assert zipf_coefficient(tokenised, budget=100, orders=[last]) is None  # five types alone


def test_sentences_that_are_left_out_leave_the_others_as_they_are() -> None:
    kept = np.array([True, False, True, True, False])

    taken = sentences_tokenised(FIVE).taken(kept)

    alone = sentences_tokenised([words for words, keep in zip(FIVE, kept, strict=True) if keep])
    assert taken.size == 3
    assert [distinct(taken, n, budget=6) for n in (1, 2, 3)] == [
        distinct(alone, n, budget=6) for n in (1, 2, 3)
    ]
