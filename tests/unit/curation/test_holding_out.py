"""When a sentence is the same as another, and when it is held out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.pairs.holding_out import NOTHING_HELD_OUT, HeldOut, split_is_held_out
from curation.pairs.text import near_copy_key, sentence_key, words


@pytest.mark.parametrize(
    "variant",
    ["a dog runs", "A dog runs!", "  A  dog, runs. ", "“A dog runs.”", "A DOG RUNS", "A dog ｒuns."],
)
def test_case_spaces_and_punctuation_make_a_near_copy_and_another_sentence(variant: str) -> None:
    assert near_copy_key(variant) == near_copy_key("A dog runs.")
    assert sentence_key(variant) != sentence_key("A dog runs.")


@pytest.mark.parametrize("other", ["A dog ran.", "runs dog a", "a dogruns"])
def test_another_word_or_order_makes_no_near_copy(other: str) -> None:
    assert near_copy_key(other) != near_copy_key("A dog runs.")


def test_texts_without_a_word_are_near_copies_only_of_themselves() -> None:
    assert words("… ?!") == []
    assert near_copy_key("… ?!") == near_copy_key(" …  ?!")
    assert len({near_copy_key(text) for text in ("…", "?!", "")}) == 3


@pytest.mark.exhaustive
@given(st.text())
def test_identical_texts_are_near_copies(text: str) -> None:
    assert near_copy_key(f" {text} ") == near_copy_key(text)


def test_what_is_held_out_holds_out_its_near_copies() -> None:
    held_out = HeldOut.of(["Rome fell.", "A man reads"]) | HeldOut.of(["a cat sleeps"])

    assert all(text in held_out for text in ("rome fell", "A man reads.", "A CAT sleeps!"))
    assert "Rome falls." not in held_out
    assert len(held_out) == 3
    assert "" not in NOTHING_HELD_OUT


def test_other_splits_are_held_out_and_pairs_without_one_are_not() -> None:
    assert [split_is_held_out(split, used="train") for split in ("train", "dev", "test", "")] == [
        False,
        True,
        True,
        False,
    ]
