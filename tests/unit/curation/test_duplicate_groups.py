"""Pairs that say the same."""

from itertools import combinations

import numpy as np
import pytest

from curation.pairs.duplicate_groups import DuplicateGroup, Likeness, duplicate_groups
from curation.pairs.text import words


def groups(*pairs: tuple[str, str], threshold: float = 0.8) -> list[DuplicateGroup]:
    place: dict[str, int] = {}
    a, b = (
        np.array([place.setdefault(text, len(place)) for text in side], dtype=np.int64)
        for side in zip(*pairs, strict=True)
    )
    return duplicate_groups(list(place), a, b, threshold=threshold)


def test_each_group_is_named_by_its_loosest_likeness() -> None:
    found = groups(
        ("a dog runs", "it rains"),
        ("one two three four five", "a cat sleeps here"),
        ("it rains", "a dog runs"),
        ("the sun sets", "a bird sings"),
        # Five of six words are the same: a Jaccard index of 5/6; the other side has the same words in other case.
        ("A cat, sleeps here!", "one two three four five six"),
        ("the sun sets", "a bird sings"),
        ("the sun sets", "a dog runs"),
    )

    assert found == [
        DuplicateGroup(Likeness.MIRRORED, (0, 2)),
        DuplicateGroup(Likeness.NEAR, (1, 4)),
        DuplicateGroup(Likeness.EXACT, (3, 5)),
    ]


def test_pairs_that_share_one_sentence_are_no_duplicates() -> None:
    assert groups(("a dog runs", "it rains"), ("a dog runs", "a bird sings")) == []


@pytest.mark.parametrize(("threshold", "found"), [(0.6, 1), (0.61, 0)])
def test_the_threshold_is_a_jaccard_index(threshold: float, found: int) -> None:
    # Three words of five: 3/5.
    assert len(groups(("a b c d", "x"), ("a b c e", "x"), threshold=threshold)) == found


def test_groups_are_those_of_brute_force_without_chains() -> None:
    rng = np.random.default_rng(4)
    vocabulary = [f"w{number}" for number in range(40)]
    texts = [" ".join(rng.choice(vocabulary, 8, replace=False)) for _ in range(60)]
    # Each pair has a partner in which a word of one side is missing: a Jaccard index of 7/8.
    pairs = [(texts[number], texts[number + 30]) for number in range(30)]
    pairs += [(b, a.rsplit(" ", 1)[0]) for a, b in pairs[::3]]

    def alike(one: str, other: str) -> bool:
        first, second = set(words(one)), set(words(other))
        return len(first & second) >= 0.8 * len(first | second)

    def same(one: tuple[str, str], other: tuple[str, str]) -> bool:
        straight = alike(one[0], other[0]) and alike(one[1], other[1])
        return straight or (alike(one[0], other[1]) and alike(one[1], other[0]))

    expected = [(x, y) for x, y in combinations(range(len(pairs)), 2) if same(pairs[x], pairs[y])]
    found = groups(*pairs)
    assert len(expected) == 10
    assert [group.places for group in found] == expected


def test_no_pair_has_no_duplicates() -> None:
    nothing = np.zeros(0, dtype=np.int64)

    assert duplicate_groups([], nothing, nothing) == []
