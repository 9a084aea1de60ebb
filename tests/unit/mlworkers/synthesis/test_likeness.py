"""When two sentences are as good as the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlworkers.synthesis.likeness import likeness_key, shared_words


@pytest.mark.parametrize(
    "variant",
    ["a dog runs", "A dog runs!", "  A  dog, runs. ", "“A dog runs.”", "A DOG RUNS", "A dog ｒuns."],
)
def test_case_spaces_and_punctuation_make_no_other_sentence(variant: str) -> None:
    assert likeness_key(variant) == likeness_key("A dog runs.")


def test_another_word_makes_another_sentence() -> None:
    assert likeness_key("A dog ran.") != likeness_key("A dog runs.")


def test_a_text_without_a_word_has_no_key() -> None:
    assert likeness_key("… ?!") == ""


def test_shared_words_are_counted_of_all_that_either_has() -> None:
    assert shared_words("A dog runs fast.", "a dog sleeps") == pytest.approx(2 / 5)


@given(st.text(), st.text())
def test_shared_words_are_a_share_that_does_not_depend_on_the_order(left: str, right: str) -> None:
    share = shared_words(left, right)

    assert 0 <= share <= 1
    assert share == shared_words(right, left)
    assert shared_words(left, left) == 1
