"""Sentences into vectors and pairs into cosines, against sentence-transformers' own `encode`."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlworkers.science.encoders.encoding import EncoderError, SentenceVectors, encode, pair_cosines
from mlworkers.science.pretrained.compute import Compute, choose_compute
from tests.ml.tiny import DIMENSIONS, WORDS

SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
ROUNDING = 2e-6  # float32 sums in another order


def batches_of(tokens: int, *, workers: int = 2) -> Compute:
    return replace(choose_compute("cpu"), tokens_per_batch=tokens, workers=workers)


@settings(max_examples=30)
@given(st.lists(SENTENCES, min_size=1, max_size=12), st.integers(1, 60))
def test_vectors_are_those_of_sentence_transformers(encoder, sentences, budget) -> None:
    vectors = encode(encoder, sentences, batches_of(budget))

    expected = encoder.encode(sentences, batch_size=1, show_progress_bar=False)
    np.testing.assert_allclose(vectors, expected, atol=ROUNDING)


def test_the_number_of_workers_changes_no_bit(encoder) -> None:
    sentences = [" ".join(WORDS[start : start + 1 + start % 7]) for start in range(len(WORDS))]

    one, three = (encode(encoder, sentences, batches_of(24, workers=workers)) for workers in (1, 3))

    assert one.tobytes() == three.tobytes()


def test_no_sentences_have_no_vectors(encoder) -> None:
    assert encode(encoder, [], batches_of(64)).shape == (0, DIMENSIONS)


def test_a_sentence_past_the_longest_input_is_cut(encoder) -> None:
    sentence = " ".join(WORDS * 100)

    vectors = encode(encoder, [sentence, " ".join(WORDS * 2)], batches_of(64))

    np.testing.assert_allclose(vectors[0], vectors[1], atol=ROUNDING)


def test_the_encoder_s_default_prompt_stands_before_each_sentence(encoder, monkeypatch) -> None:
    monkeypatch.setattr(encoder, "prompts", {"task": "the dog "})
    monkeypatch.setattr(encoder, "default_prompt_name", "task")

    vectors = encode(encoder, ["runs"], batches_of(64))

    np.testing.assert_allclose(vectors, encoder.encode(["runs"], show_progress_bar=False), atol=ROUNDING)
    monkeypatch.undo()
    np.testing.assert_allclose(vectors, encode(encoder, ["the dog runs"], batches_of(64)), atol=ROUNDING)


def test_progress_counts_sentences_up_to_all(encoder) -> None:
    reports: list[tuple[int, int]] = []

    encode(
        encoder,
        ["a dog", "a cat runs", "the bird"] * 5,
        batches_of(12),
        report=lambda done, total, message: reports.append((done, total)),
    )

    assert reports == sorted(reports)
    assert reports[-1] == (15, 15)


def test_a_report_that_raises_stops_the_encoding(encoder) -> None:
    def stop(done: int, total: int, message: str) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        encode(encoder, ["a dog", "a cat"], batches_of(12), report=stop)


@pytest.mark.exhaustive
@settings(max_examples=30)
@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=10))
def test_cosines_are_those_of_sentence_transformers(encoder, pairs) -> None:
    first, second = zip(*pairs, strict=True)

    cosines = pair_cosines(encoder, first, second, batches_of(48))

    left, right = (encoder.encode(list(side), show_progress_bar=False) for side in (first, second))
    np.testing.assert_allclose(cosines.values, encoder.similarity_pairwise(left, right), atol=ROUNDING)


def test_a_sentence_of_many_pairs_is_encoded_once(encoder) -> None:
    cosines = pair_cosines(encoder, ["a dog", "a dog", "a cat"], ["a cat", "a dog", "a dog"], batches_of(48))

    assert cosines.sentences == 2
    assert cosines.values[0] == cosines.values[2]


def test_a_sentence_and_itself_have_the_cosine_1(encoder) -> None:
    cosines = pair_cosines(encoder, WORDS, WORDS, batches_of(48))

    assert (cosines.values == 1).all()


def test_equal_sentences_have_equal_cosines_however_their_vectors_are_rounded() -> None:
    names = [f"sentence {number}" for number in range(500)]
    vectors = np.random.default_rng(1).normal(size=(500, 32)).astype(np.float32)
    found = SentenceVectors(vectors, {name: number for number, name in enumerate(names)})

    cosines = found.cosines(names, names)

    assert set(cosines.tolist()) == {1.0}


@pytest.mark.parametrize("damage", [float("nan"), float("inf")])
def test_an_encoder_with_damaged_weights_is_refused(encoder, damage) -> None:
    damaged = deepcopy(encoder)
    damaged.transformers_model.embeddings.word_embeddings.weight.data.fill_(damage)

    with pytest.raises(EncoderError, match="no usable vector for 2 of 2 sentences"):
        pair_cosines(damaged, ["a dog"], ["a cat"], batches_of(48))


def test_where_memory_runs_short_parts_of_a_batch_give_the_same_vectors(encoder) -> None:
    sentences = [f"the dog {word}" for word in WORDS]
    tried: list[int] = []
    said: list[str] = []

    def small_memory(module, inputs) -> None:
        tried.append(len(inputs[0]["input_ids"]))
        if tried[-1] > 3:
            raise MemoryError

    hook = encoder.register_forward_pre_hook(small_memory)
    try:
        vectors = encode(
            encoder, sentences, batches_of(40, workers=1), report=lambda *where: said.append(where[2])
        )
    finally:
        hook.remove()

    expected = encode(encoder, sentences, batches_of(40, workers=1))
    np.testing.assert_allclose(vectors, expected, atol=ROUNDING)
    assert "Memory ran short: going on with 2 rows at a time" in said
    assert tried[:3] == [8, 4, 2]
    assert max(tried[3:]) == 2  # later batches know
