"""Triplets from sections: what is a section, that nothing is on both sides, and the accuracy with its interval."""

from pathlib import Path

import numpy as np
import pytest

from curation.files.documents import Document
from curation.pairs.text import near_copy_key
from mlworkers.science.contexts.bigram_index import index_write
from mlworkers.science.contexts.corpus import Corpus, CorpusError, corpus_write
from mlworkers.science.contexts.sections import accuracy_of, resampled_shares, section_triplets
from mlworkers.science.contexts.sections_plan import SectionsPlan


def made(folder: Path, *documents: list[str]) -> Corpus:
    corpus_write([Document(f"d{number}", [texts], []) for number, texts in enumerate(documents)], folder)
    index_write(Corpus(folder), folder)
    return Corpus(folder)


def chapter(book: str, number: int, sentences: int = 12) -> list[str]:
    return [f"Sentence {place} of chapter {number} in the book {book}." for place in range(sentences)]


def plan(**more: object) -> SectionsPlan:
    few = {"triplets": 60, "test_triplets": 30, "section_sentences": 12, "resamples": 100}
    return SectionsPlan(**{"dataset": "d", "corpus": 1, "model": "run:1", **few, **more})  # type: ignore[arg-type]


def told(text: str) -> tuple[str, str]:
    """The book and the chapter of a sentence."""
    parts = text.removesuffix(".").split()
    return parts[-1], parts[4]


@pytest.fixture
def books(tmp_path: Path) -> Corpus:
    """Books a and b with headings; c and d without, whose chapters have 12 sentences each."""
    headed = [
        [text for number in (1, 2, 3) for text in (f"Chapter {number} ~ A title", *chapter(book, number, 8))]
        for book in "ab"
    ]
    return made(
        tmp_path, *headed, *([text for number in (1, 2) for text in chapter(book, number)] for book in "cd")
    )


def test_a_triplet_has_two_sentences_of_a_section_and_one_of_another_in_the_same_document(
    books: Corpus,
) -> None:
    found = section_triplets(books, plan())

    assert (found.documents, found.headed, found.sections, found.held_out) == (4, 2, 3 + 3 + 2 + 2, 1)
    assert (len(found.train), len(found.test)) == (60, 30)
    for anchor, positive, negative in (*found.train, *found.test):
        assert told(anchor) == told(positive)
        assert told(anchor)[0] == told(negative)[0]
        assert told(anchor)[1] != told(negative)[1]
        assert len({near_copy_key(text) for text in (anchor, positive, negative)}) == 3


def test_no_document_is_learned_from_and_tested(books: Corpus) -> None:
    for seed in range(4):
        found = section_triplets(books, plan(seed=seed, test_share=0.5))

        learned, tested = (
            {told(text)[0] for row in rows for text in row} for rows in (found.train, found.test)
        )
        assert not learned & tested
        assert learned | tested == set("abcd")
        assert len(set(found.units)) == found.held_out == 2


def test_no_near_copy_of_a_sentence_that_was_learned_is_tested(tmp_path: Path) -> None:
    # The second book is the first in capitals; half of its sentences are its own.
    first = [text for number in (1, 2, 3) for text in chapter("a", number)]
    second = [text.upper() if place % 2 else f"Only here: {text}" for place, text in enumerate(first)]
    corpus = made(tmp_path, first, second)

    for seed in range(5):
        found = section_triplets(corpus, plan(seed=seed, test_share=0.5, triplets=200))
        learned = {near_copy_key(text) for triplet in found.train for text in triplet}

        assert learned.isdisjoint(near_copy_key(text) for triplet in found.test for text in triplet)


def test_of_one_document_the_last_sections_are_tested(tmp_path: Path) -> None:
    corpus = made(tmp_path, [text for number in range(5) for text in chapter("a", number)])

    found = section_triplets(corpus, plan(test_share=0.4))

    assert {told(text)[1] for row in found.test for text in row} == {"3", "4"}
    assert {told(text)[1] for row in found.train for text in row} == {"0", "1", "2"}
    assert len(set(found.units)) == 2


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"section_sentences": 50}, "one with four, are needed"),
        ({"shortest": 30}, "0 sections in 0 documents"),
    ],
)
def test_a_corpus_without_sections_enough_is_refused_in_one_sentence(tmp_path: Path, changed, words) -> None:
    corpus = made(tmp_path, [text for number in range(5) for text in chapter("a", number)])

    with pytest.raises(CorpusError, match=words):
        section_triplets(corpus, plan(**changed))


def test_accuracy_counts_ties_as_wrong_and_resamples_whole_documents() -> None:
    near, far = [0.9, 0.5, 0.5, 0.1], [0.1, 0.5, 0.4, 0.2]

    found = accuracy_of(near, far, [1, 1, 2, 2], resamples=400, seed=1)

    assert found.value == 0.5
    drawn = resampled_shares([1, 1, 0, 0], [1, 1, 2, 2], resamples=400, seed=1)
    assert drawn is not None
    assert set(drawn.tolist()) == {0.0, 0.5, 1.0}  # never one triplet of a document without the other
    assert np.mean(drawn == 0.5) == pytest.approx(0.5, abs=0.08)
    assert accuracy_of(near, far, [1, 1, 1, 1], resamples=400, seed=1).interval is None
