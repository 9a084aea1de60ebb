"""An index of sentences finds exactly what a comparison with all vectors finds, and refuses what does not fit it."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sentence_transformers.util import semantic_search

from mlworkers.science.encoders import sentence_index
from mlworkers.science.encoders.encoding import EncoderError, Vectors
from mlworkers.science.encoders.sentence_index import SentenceIndex, SentenceIndexError, index_write

WIDTH = 48


def indexed(folder, vectors: Vectors, *, number_format: str = "float32", block: int = 300) -> SentenceIndex:
    """With the numbers 1000, 1001 and so on."""
    numbers = 1000 + np.arange(len(vectors))
    blocks = (vectors[start : start + block] for start in range(0, len(vectors), block))
    index_write(folder, numbers, blocks, dimensions=vectors.shape[1], number_format=number_format)
    return SentenceIndex(folder)


def in_clusters(count: int, *, spread: float, seed: int = 0) -> Vectors:
    """Vectors around 20 centres, of lengths other than 1; with little spread, many are nearly equal."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((20, WIDTH))
    vectors = centres[rng.integers(20, size=count)] + spread * rng.standard_normal((count, WIDTH))
    return vectors.astype(np.float32)


def of_all(vectors: NDArray, query: Vectors, most: int) -> tuple[list[int], NDArray]:
    """Independently, in float64, with a full sort."""
    exact, one = vectors.astype(np.float64), query.astype(np.float64)
    cosines = exact @ one / np.linalg.norm(exact, axis=1) / np.linalg.norm(one)
    order = np.argsort(-cosines, kind="stable")[:most]
    return (1000 + order).tolist(), cosines[order]


@pytest.mark.parametrize("spread", [1.0, 0.1, 0.001])
@pytest.mark.parametrize("most", [1, 10, 100])
def test_the_nearest_are_those_of_a_full_comparison(tmp_path, monkeypatch, spread, most) -> None:
    monkeypatch.setattr(sentence_index, "_BOUNDS_PER_BLOCK", 300)  # the last block is not full
    vectors = in_clusters(2000, spread=spread)
    index = indexed(tmp_path, vectors)
    stored = np.load(tmp_path / "vectors.npy")

    for query in in_clusters(20, spread=spread, seed=1):
        found = index.nearest(query, most=most)
        expected, cosines = of_all(stored, query, most)

        assert found.sentences.tolist() == expected
        np.testing.assert_allclose(found.cosines, cosines, atol=1e-12)


def test_the_nearest_are_those_of_sentence_transformers(tmp_path) -> None:
    vectors = in_clusters(1000, spread=0.5)
    queries = in_clusters(10, spread=0.5, seed=2)
    index = indexed(tmp_path, vectors)

    theirs = semantic_search(torch.from_numpy(queries), torch.from_numpy(vectors), top_k=7)

    for query, hits in zip(queries, theirs, strict=True):
        found = index.nearest(query, most=7)
        assert found.sentences.tolist() == [1000 + hit["corpus_id"] for hit in hits]
        np.testing.assert_allclose(found.cosines, [hit["score"] for hit in hits], atol=1e-6)


def test_vectors_in_half_the_bytes_are_compared_exactly_as_they_are_stored(tmp_path) -> None:
    index = indexed(tmp_path, in_clusters(2000, spread=0.3), number_format="float16")
    stored = np.load(tmp_path / "vectors.npy")

    assert stored.dtype == np.float16
    for query in in_clusters(20, spread=0.3, seed=3):
        assert index.nearest(query, most=10).sentences.tolist() == of_all(stored, query, 10)[0]


def test_few_vectors_are_compared_to_the_end(tmp_path, monkeypatch) -> None:
    """The codes do their part: of vectors that differ, most are never read."""
    index = indexed(tmp_path, in_clusters(2000, spread=1.0))
    query = in_clusters(1, spread=1.0, seed=4)[0]

    candidates = index._candidates(sentence_index.unit_vectors(query[None])[0].astype(np.float64), 10)

    assert 10 <= len(candidates) < 60


def test_equal_sentences_come_in_the_order_of_the_index(tmp_path) -> None:
    vectors = np.repeat(in_clusters(3, spread=1.0), [2, 5, 2], axis=0)
    index = indexed(tmp_path, vectors)

    found = index.nearest(3 * vectors[2], most=4)

    assert found.sentences.tolist() == [1002, 1003, 1004, 1005]
    np.testing.assert_allclose(found.cosines, 1.0, atol=1e-6)


def test_of_fewer_sentences_than_asked_for_all_are_found(tmp_path) -> None:
    assert (
        len(
            indexed(tmp_path, in_clusters(3, spread=1.0))
            .nearest(np.ones(WIDTH, np.float32), most=10)
            .sentences
        )
        == 3
    )


def test_vectors_and_queries_that_cannot_be_compared_are_refused(tmp_path) -> None:
    vectors = in_clusters(5, spread=1.0)
    for name in ("short", "zero", "good"):
        (tmp_path / name).mkdir()

    with pytest.raises(SentenceIndexError, match="vectors for 5 of 6 sentences"):
        index_write(tmp_path / "short", np.arange(6), [vectors], dimensions=WIDTH, number_format="float32")
    with pytest.raises(EncoderError, match="no usable vector for 1 of 5 sentences"):
        indexed(tmp_path / "zero", vectors * (np.arange(5) > 0)[:, None].astype(np.float32))
    index = indexed(tmp_path / "good", vectors)
    with pytest.raises(SentenceIndexError, match="The query has 3 numbers and the vectors of the index 48"):
        index.nearest(np.ones(3, np.float32), most=1)
    with pytest.raises(EncoderError):
        index.nearest(np.full(WIDTH, np.nan, np.float32), most=1)
    with pytest.raises(SentenceIndexError, match="There is no index of sentences"):
        SentenceIndex(tmp_path / "none").nearest(np.ones(WIDTH, np.float32), most=1)
