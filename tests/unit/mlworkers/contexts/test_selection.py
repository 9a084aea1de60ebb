"""Which places of a corpus are contexts of a sentence: none that contains it."""

from pathlib import Path

import numpy as np
import pytest

from curation.files.documents import Document
from mlworkers.science.contexts.bigram_index import BigramIndex, index_write
from mlworkers.science.contexts.corpus import Corpus, corpus_write
from mlworkers.science.contexts.selection import (
    Leaks,
    Window,
    at_random,
    by_retrieval,
    places_of_chunks,
    without_leaks,
)

TEXT = [
    "It was late.",
    "The old dog runs home.",
    "Rain fell.",
    "A bird sang.",
    "She slept well.",
    "Then came the day.",
]


@pytest.fixture
def made(tmp_path: Path) -> tuple[Corpus, BigramIndex]:
    corpus_write([Document("d", [TEXT], [])], tmp_path)
    index_write(Corpus(tmp_path), tmp_path, chunk_sentences=3)
    return Corpus(tmp_path), BigramIndex(tmp_path)


def test_every_place_with_a_sentence_on_both_sides_is_a_candidate(made: tuple[Corpus, BigramIndex]) -> None:
    corpus, index = made

    found = places_of_chunks(corpus, index, np.array([1, 0]))

    assert found.places.tolist() == [3, 4, 1, 2]
    assert found.chunks.tolist() == [1, 1, 0, 0]


def test_a_chunk_offers_the_place_whose_sentence_is_most_like_the_given_one(
    made: tuple[Corpus, BigramIndex],
) -> None:
    corpus, index = made
    every = places_of_chunks(corpus, index, np.array([0, 1]))

    assert by_retrieval(corpus, every, "An old dog sat.").places.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("Nothing of this.", [1, 2, 3, 4]),
        ("RAIN fell!", [4]),  # a near copy, in the middle or on a side
        ("old dog runs", [3, 4]),  # part of a sentence
        ("dog", [1, 2, 3, 4]),  # so short that it is part of many
    ],
)
def test_no_context_contains_the_sentence(
    made: tuple[Corpus, BigramIndex], sentence: str, kept: list[int]
) -> None:
    corpus, index = made
    every = places_of_chunks(corpus, index, np.array([0, 1]))

    found = without_leaks(corpus, every, Leaks([sentence]), Window(1, 1), most=9)

    around = [
        text for place in found.places.tolist() for side in corpus.context(place, 1, 1) for text in side
    ]
    assert sentence.casefold() not in {text.casefold() for text in around}
    assert found.places.tolist() == kept


def test_places_at_random_are_each_drawn_once_and_have_a_sentence_on_both_sides(tmp_path: Path) -> None:
    segments = [["One two.", "Three four."], TEXT, [*TEXT[:3]], ["Alone here."]]
    corpus_write([Document("d", segments, [])], tmp_path)
    corpus = Corpus(tmp_path)
    index_write(corpus, tmp_path, chunk_sentences=3)
    index = BigramIndex(tmp_path)

    every = at_random(corpus, index, most=99, seed=1)
    first = {at_random(corpus, index, most=1, seed=seed).places.item() for seed in range(60)}

    assert sorted(every.places.tolist()) == [3, 4, 5, 6, 9]
    assert first == {3, 4, 5, 6, 9}
    assert all(
        index.chunks[chunk] <= place < index.chunks[chunk + 1]
        for place, chunk in zip(every.places.tolist(), every.chunks.tolist(), strict=True)
    )
