"""BLEU and Jaccard's similarity of two sentences."""

import logging

import pytest
from sacrebleu.metrics.bleu import BLEU

from mlworkers.science.linguistics.overlap import ORDERS, bleu_scores, jaccard
from mlworkers.science.linguistics.tokens import tokens_of

PAIRS = [
    ("A man is playing a guitar.", "A man plays the guitar."),
    ("The cat sat on the mat.", "The cat sat on the mat."),
    ("Nothing in common here at all.", "Entirely other words stand there."),
    ("It costs 3,000 dollars (about).", "It costs about 3,000 dollars."),
    ("A very long first sentence that goes on and on.", "Short one."),
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("order", ORDERS)
def test_bleu_is_sacrebleu_s_of_the_texts(first: str, second: str, order: int, caplog) -> None:
    caplog.set_level(logging.ERROR, "sacrebleu")
    theirs = BLEU(
        max_ngram_order=order, lowercase=True, tokenize="intl", smooth_method="floor", smooth_value=0.1,
        effective_order=True,
    )  # fmt: skip

    ours = bleu_scores(tokens_of(second), tokens_of(first))[order - 1]

    assert ours == pytest.approx(theirs.sentence_score(second, [first]).score / 100)


def test_bleu_of_a_hand_worked_pair() -> None:
    # Of a b c d, the reference a b x d has 3 words, 1 of 3 twos (a b), 0 of 2 threes (counted .1), 0 of 1 fours (.1).
    values = bleu_scores(list("abcd"), list("abxd"))

    precisions = [3 / 4, 1 / 3, 0.1 / 2, 0.1 / 1]
    by_hand = [3 / 4, (3 / 4 / 3) ** 0.5, (3 / 4 / 3 * 0.05) ** (1 / 3), (3 / 4 / 3 * 0.05 * 0.1) ** 0.25]
    assert len(precisions) == len(values)
    assert values == pytest.approx(by_hand)


def test_two_equal_sentences_of_three_words_have_all_words_in_common() -> None:
    assert bleu_scores(["a", "b", "c"], ["a", "b", "c"]).tolist() == pytest.approx([1.0] * 4)


def test_a_sentence_without_words_has_none_in_common() -> None:
    assert bleu_scores([], ["a"]).tolist() == [0.0] * 4
    assert jaccard([], []) == 0.0


def test_jaccard_counts_distinct_tokens() -> None:
    assert jaccard(["a", "a", "b"], ["b", "c"]) == pytest.approx(1 / 3)


def test_tokens_are_lower_case_words_and_punctuation() -> None:
    assert tokens_of("“It's 3,000”, he SAID.") == ["“", "it", "'", "s", "3,000", "”", ",", "he", "said", "."]
