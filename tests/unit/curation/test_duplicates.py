"""Pairs that stand more than once."""

from hypothesis import given
from hypothesis import strategies as st

from curation.pairs.duplicates import (
    NO_OCCURRENCES,
    Repeats,
    SeenPairs,
    occurrence_of,
    repeats_of,
)

rows = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("xyz"), st.sampled_from(["", "train", "test"]))
)


def test_the_first_of_two_equal_pairs_repeats_nothing_and_the_second_the_first() -> None:
    seen = SeenPairs()

    assert seen.add("x", "y", "train") == Repeats()
    assert seen.add("x", "y", "train") == Repeats(exact=True)


def test_a_mirrored_pair_is_told_from_an_equal_one() -> None:
    seen = SeenPairs()
    seen.add("y", "x", "train")

    assert seen.add("x", "y", "train") == Repeats(mirrored=True)


def test_a_pair_of_equal_sentences_is_not_its_own_mirror_image() -> None:
    seen = SeenPairs()
    seen.add("x", "x", "")

    assert seen.add("x", "x", "") == Repeats(exact=True)


def test_a_pair_without_a_split_stands_in_no_other_split() -> None:
    seen = SeenPairs()
    seen.add("x", "y", "")

    assert not seen.add("x", "y", "train").across_splits


@given(rows)
def test_seen_pairs_answer_as_a_comparison_with_every_earlier_row(pairs: list[tuple[str, str, str]]) -> None:
    seen = SeenPairs()

    answers = [seen.add(*pair) for pair in pairs]

    for number, (a, b, split) in enumerate(pairs):
        earlier = [(a2, b2, s2) for a2, b2, s2 in pairs[:number] if {a2, b2} == {a, b}]
        assert answers[number].exact == any((a2, b2) == (a, b) for a2, b2, _ in earlier)
        assert answers[number].mirrored == any((a2, b2) != (a, b) for a2, b2, _ in earlier)
        assert answers[number].across_splits == any(split and s2 and s2 != split for *_, s2 in earlier)


def test_a_pair_is_compared_with_stored_ones_of_the_same_sentences() -> None:
    stored = NO_OCCURRENCES.with_pair(occurrence_of("x", "y", "train")).with_pair(
        occurrence_of("y", "x", "dev")
    )

    assert repeats_of(occurrence_of("x", "y", "dev"), stored) == Repeats(True, True, True)


def test_what_is_kept_of_equal_pairs_does_not_grow_with_their_splits() -> None:
    seen = SeenPairs()

    for number in range(1000):
        seen.add("x", "y", f"split {number}")

    assert seen._seen == {hash(("x", "y")): (True, False, "split 0", True)}
