"""Sentences with most of their words in common are found exactly."""

from itertools import combinations

import numpy as np
import pytest

from curation.pairs.near_duplicates import near_duplicates
from curation.pairs.overlap import jaccard
from curation.pairs.splitting import pair_components
from curation.pairs.text import words
from curation.pairs.word_tables import word_table


def sentences_made(number: int, *, seed: int) -> list[str]:
    """Sentences of which some are copies of earlier ones, with a word changed, added or left out."""
    rng = np.random.default_rng(seed)
    made = [[f"w{word}" for word in rng.zipf(1.4, size=rng.integers(1, 15)) % 60] for _ in range(number)]
    for place in range(number // 2, number):
        copied = list(made[int(rng.integers(place))])
        change = rng.integers(4)
        if change == 1:
            copied.append(f"new{place}")
        elif change == 2 and len(copied) > 1:
            copied.pop(int(rng.integers(len(copied))))
        elif change == 3:
            copied[int(rng.integers(len(copied)))] = f"other{place}"
        made[place] = copied
    return [" ".join(one) for one in made]


@pytest.mark.parametrize("threshold", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("rows_at_once", [7, 20_000])
def test_every_pair_above_the_threshold_is_found_and_no_other(
    monkeypatch: pytest.MonkeyPatch, threshold: float, rows_at_once: int
) -> None:
    monkeypatch.setattr("curation.pairs.near_duplicates.ROWS_AT_ONCE", rows_at_once)
    texts = list({frozenset(words(text)): text for text in sentences_made(150, seed=3)}.values())

    found = near_duplicates(word_table(texts), threshold=threshold)

    expected = {
        (a, b): overlap
        for a, b in combinations(range(len(texts)), 2)
        if (overlap := jaccard(texts[a], texts[b])) >= threshold - 1e-9
    }
    assert dict(
        zip(zip(found.first, found.second, strict=True), found.overlap, strict=True)
    ) == pytest.approx(expected)


def test_copies_are_paired_with_the_first_of_them_and_hang_together_with_the_rest() -> None:
    texts = ["a b c d e", "A, b c d e!", "e d c b a", "a b c d e f", "unlike"]

    found = near_duplicates(word_table(texts), threshold=0.8)

    pairs = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert pairs == [(0, 1), (0, 2), (0, 3)]
    assert found.overlap == pytest.approx([1, 1, 5 / 6])


def test_what_hangs_together_does_so_with_copies_too() -> None:
    texts = sentences_made(200, seed=4)
    found = near_duplicates(word_table(texts), threshold=0.7)
    every = np.array(
        [(a, b) for a, b in combinations(range(200), 2) if jaccard(texts[a], texts[b]) >= 0.7 - 1e-9]
    )

    def groups(a: np.ndarray, b: np.ndarray) -> set[frozenset[int]]:
        component = pair_components(a, b)
        return {frozenset(a[component == one]) | frozenset(b[component == one]) for one in set(component)}

    assert groups(found.first, found.second) == groups(every[:, 0], every[:, 1])


def test_sentences_without_words_are_no_duplicates() -> None:
    assert len(near_duplicates(word_table(["!?", "...", ""])).first) == 0
    assert len(near_duplicates(word_table([])).first) == 0


@pytest.mark.parametrize("threshold", [0.0, 1.1])
def test_a_threshold_that_means_nothing_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        near_duplicates(word_table(["a"]), threshold=threshold)
