"""Retrieval by TF-IDF of bigrams against brute force and against scikit-learn."""

from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from curation.files.documents import Document
from curation.pairs.text import words
from mlworkers.science.contexts.bigram_index import BigramIndex, index_write
from mlworkers.science.contexts.corpus import Corpus, CorpusError, corpus_write

WORDS = ("the", "dog", "cat", "runs", "sits", "on", "grass", "mat", "tree", "a")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Corpus, BigramIndex]:
    rng = np.random.default_rng(7)
    documents = [
        Document(
            f"d{number}", [[" ".join(rng.choice(WORDS, 6)) + "." for _ in range(rng.integers(1, 14))]], []
        )
        for number in range(60)
    ]
    folder = tmp_path_factory.mktemp("corpus")
    corpus_write(documents, folder)
    corpus = Corpus(folder)
    index_write(corpus, folder, chunk_sentences=5)
    return corpus, BigramIndex(folder)


def bigrams_of(chunk: list[str]) -> list[str]:
    return [f"{one} {other}" for text in chunk for one, other in pairwise(words(text))]


def by_sklearn(corpus: Corpus, index: BigramIndex, sentence: str) -> np.ndarray:
    chunks = [list(map(corpus.text, range(*bounds))) for bounds in pairwise(index.chunks.tolist())]
    vectors = TfidfVectorizer(analyzer=bigrams_of)
    table = vectors.fit_transform(chunks)
    return (table @ vectors.transform([[sentence]]).T).toarray()[:, 0]


SENTENCES = (
    "the dog runs on the grass",
    "a cat sits on a mat a cat sits",
    "dog dog dog",
    "the unknown word sits on",
)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_chunk_with_a_common_bigram_is_found_with_scikit_learns_cosine(
    made: tuple[Corpus, BigramIndex], sentence: str
) -> None:
    corpus, index = made
    expected = by_sklearn(corpus, index, sentence)

    found = index.retrieve(sentence, most=10_000)

    assert sorted(found.chunks.tolist()) == np.flatnonzero(expected).tolist()
    assert found.cosines == pytest.approx(expected[found.chunks], abs=1e-6)


@pytest.mark.parametrize("most", [1, 3, 17])
def test_the_best_chunks_are_the_first_of_all_that_are_found_and_ties_go_by_number(
    made: tuple[Corpus, BigramIndex], most: int
) -> None:
    _corpus, index = made
    whole = index.retrieve("on the", most=10_000)
    ranked = sorted(zip((-whole.cosines).tolist(), whole.chunks.tolist(), strict=True))

    found = index.retrieve("on the", most=most)

    assert found.chunks.tolist() == [chunk for _cosine, chunk in ranked[:most]]


def test_equal_chunks_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    documents = [
        Document(f"d{number}", [["the dog runs", f"x{number}", f"y{number}"]], []) for number in range(9)
    ]
    corpus_write(documents, tmp_path)
    index_write(Corpus(tmp_path), tmp_path)

    found = BigramIndex(tmp_path).retrieve("a dog runs", most=4)

    assert found.chunks.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("sentence", ["", "unknown words only", "dog"])
def test_a_sentence_without_a_known_bigram_finds_nothing(
    made: tuple[Corpus, BigramIndex], sentence: str
) -> None:
    _corpus, index = made

    assert not len(index.retrieve(sentence, most=5).chunks)


def test_no_chunk_reaches_over_the_end_of_a_document(made: tuple[Corpus, BigramIndex]) -> None:
    corpus, index = made

    for first, after in pairwise(index.chunks.tolist()):
        assert corpus.segment_of(first) == corpus.segment_of(after - 1)
        assert after - first <= 5


def test_a_corpus_of_single_words_is_refused(tmp_path: Path) -> None:
    corpus_write([Document("d", [["one", "two", "three"]], [])], tmp_path)

    with pytest.raises(CorpusError, match="No sentence of the corpus has two words"):
        index_write(Corpus(tmp_path), tmp_path)


def test_an_index_of_an_earlier_version_is_refused_in_one_sentence(tmp_path: Path) -> None:
    corpus_write([Document("a", [["One word here.", "Two words there.", "Three words."]], [])], tmp_path)
    index_write(Corpus(tmp_path), tmp_path)
    (tmp_path / "word_ends.npy").unlink()

    with pytest.raises(CorpusError, match="index the corpus again"):
        BigramIndex(tmp_path).retrieve("Two words", most=5)


@pytest.mark.parametrize(
    ("texts", "outdated"),
    [
        (["वह घर गया।", "बारिश हुई थी।", "वह सो गया।"], True),
        (["今天下雨。", "我们在家。", "雨停了。"], True),
        (["“It” rained in Kraków.", "A naïve dog ran.", "Дождь шёл."], False),
    ],
)
def test_an_index_of_an_earlier_version_is_refused_where_its_words_would_be_others(
    tmp_path: Path, texts: list[str], outdated: bool
) -> None:
    corpus_write([Document("a", [texts], [])], tmp_path)
    index_write(Corpus(tmp_path), tmp_path)
    BigramIndex(tmp_path).check()
    (tmp_path / "words_rule.txt").unlink()

    with pytest.raises(CorpusError, match="index the corpus again") if outdated else nullcontext():
        BigramIndex(tmp_path).check()
