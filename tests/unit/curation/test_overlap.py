"""Word overlap, and the nearest of many sentences by it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.pairs.overlap import Nearest, WordIndex, dice, jaccard
from curation.pairs.text import words

SENTENCES = st.lists(st.text("ab cd.", max_size=12), max_size=12)


def test_words_are_without_case_and_keep_their_order() -> None:
    assert words("The dog, the DOG's bone.") == ["the", "dog", "the", "dog", "s", "bone"]


def test_jaccard_counts_shared_words_of_all_that_either_has() -> None:
    assert jaccard("A dog runs fast.", "a dog sleeps") == pytest.approx(2 / 5)
    assert jaccard("…", "") == 1


@given(st.text(), st.text())
def test_jaccard_is_a_share_that_does_not_depend_on_the_order(left: str, right: str) -> None:
    assert 0 <= jaccard(left, right) == jaccard(right, left) <= jaccard(left, left) == 1


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ("A dog runs.", "a dog sleeps", 2 * 2 / 6),
        ("A dog runs.", "A dog runs", 1.0),
        ("A dog.", "Two cats!", 0.0),
        ("…", "", 0.0),
    ],
)
def test_dice_by_hand(one: str, other: str, overlap: float) -> None:
    assert dice(one, other) == pytest.approx(overlap)


def test_the_nearest_sentence_shares_most_words_for_its_length() -> None:
    index = WordIndex([(7, "A dog runs over the wide green field"), (9, "A dog sleeps."), (11, "Two cats.")])

    assert index.nearest("a dog runs") == Nearest(9, pytest.approx(2 * 2 / 6))


def test_a_sentence_that_is_left_out_is_not_found() -> None:
    index = WordIndex([(7, "A dog runs."), (9, "A cat runs.")])

    assert index.nearest("A dog runs.", without=[7]) == Nearest(9, pytest.approx(2 * 2 / 6))


def test_where_no_word_is_shared_nothing_is_near() -> None:
    assert WordIndex([(1, "Two cats.")]).nearest("A dog.") is None
    assert WordIndex([]).nearest("A dog.") is None


@given(SENTENCES, st.text("ab cd.", max_size=12))
def test_the_index_finds_what_comparing_with_every_sentence_finds(sentences: list[str], asked: str) -> None:
    index = WordIndex(enumerate(sentences))

    found = index.nearest(asked)

    overlaps = [dice(asked, sentence) for sentence in sentences]
    best = max(overlaps, default=0.0)
    assert (found.overlap if found else 0.0) == pytest.approx(best)
    if found:
        assert found.number == next(n for n, overlap in enumerate(overlaps) if overlap == pytest.approx(best))
