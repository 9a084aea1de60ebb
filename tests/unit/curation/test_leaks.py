"""Leaks between splits and the completion of splits, on cases worked by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from curation.pairs.leaks import Leak, leaks_between, leaks_between_texts, own_leaks_added
from curation.pairs.splitting import pair_components, splits_completed, splits_drawn, splits_drawn_by_source
from curation.pairs.text import near_copy_key, near_copy_number

SHARES = {"train": 0.5, "test": 0.5}


def test_pairs_that_share_a_sentence_with_another_split_are_counted_in_both_directions() -> None:
    splits = ["train", "train", "test", "test", "test", ""]
    a = np.array([1, 3, 1, 5, 7, 1])
    b = np.array([2, 4, 4, 2, 8, 9])

    assert leaks_between(splits, a, b) == [Leak("test", "train", 2, 3), Leak("train", "test", 2, 2)]


def test_pairs_that_leak_because_of_a_split_that_was_set_here_are_counted_among_them() -> None:
    # Sentence 1 is shared by pairs of files alone; sentence 5 by a pair of a file and one that was set to train here.
    splits = ["train", "train", "test", "test", "test"]
    a, b = np.array([1, 5, 1, 5, 7]), np.array([2, 4, 3, 6, 8])
    set_here = np.array([False, True, False, False, False])

    found = leaks_between(splits, a, b, set_here)

    assert found == [Leak("test", "train", 2, 3, own=1), Leak("train", "test", 2, 2, own=1)]


def test_only_leaks_that_grew_by_own_splits_count_as_added() -> None:
    before = [Leak("test", "train", 9, 20, own=2), Leak("dev", "train", 1, 5)]
    after = [
        Leak("test", "train", 8, 20, own=3),
        Leak("dev", "train", 4, 5),
        Leak("dev", "test", 1, 5, own=1),
    ]

    assert own_leaks_added(before, after) == [after[0], after[2]]
    assert own_leaks_added(after, before) == []


def test_splits_without_a_common_sentence_leak_nothing() -> None:
    assert leaks_between(["train", "test", ""], np.array([1, 3, 1]), np.array([2, 4, 3])) == []


def test_near_copies_of_a_text_leak_too() -> None:
    splits = ["train", "test", "test"]
    first, second = (
        ["A dog runs.", "a dog  runs", "Rain falls."],
        ["It is late.", "Birds sing.", "It was late."],
    )

    found = leaks_between_texts(splits, first, second)

    assert found == [Leak("test", "train", 1, 2), Leak("train", "test", 1, 1)]
    assert str(found[0]) == "1 of the 2 pairs of test (50.0%) share a sentence with train."
    assert leaks_between_texts(["train", "", "train"], first, second) == []


def test_pairs_that_have_a_split_keep_it_and_those_connected_to_them_join_it() -> None:
    components = np.array([0, 0, 1, 1, 1, 2])
    given_splits = ["dev", "", "train", "test", "test", ""]

    completed = splits_completed(components, given_splits, lambda places: ["drawn"] * len(places))

    assert completed == ["dev", "dev", "train", "test", "test", "drawn"]


@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(0, 40), st.sampled_from("xyz")), min_size=1, max_size=60
    ),
    st.integers(0, 5),
)
def test_drawn_splits_never_leak(pairs, seed) -> None:
    a, b = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    components, names = pair_components(a, b), [str(number) for number in range(len(pairs))]

    plain = splits_drawn(components, names, SHARES, seed=seed)
    by_source = splits_drawn_by_source(components, names, [pair[2] for pair in pairs], SHARES, seed=seed)

    assert leaks_between(plain, a, b) == []
    assert leaks_between(by_source, a, b) == []


def test_each_source_is_divided_by_itself() -> None:
    sources = ["news"] * 20 + ["forums"] * 10
    components, names = np.arange(30), [f"{number:02}" for number in range(30)]

    drawn = splits_drawn_by_source(components, names, sources, SHARES, seed=1)

    assert [drawn[:20].count("train"), drawn[20:].count("train")] == [10, 5]


def test_the_number_of_a_near_copy_is_its_key_in_64_bits() -> None:
    for text in ("A dog runs.", "a DOG runs!", "…", "Ünïcode, straße"):
        assert near_copy_number(text) % 2**64 == int(near_copy_key(text), 16)
    assert near_copy_number("A dog runs.") == near_copy_number("a DOG runs!")
