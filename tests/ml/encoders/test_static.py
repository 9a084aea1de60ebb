"""Mean static vectors, against the table of input embeddings itself."""

import numpy as np
import pytest

from mlworkers.science.encoders.static import static_vectors


def test_a_sentence_is_the_mean_of_the_rows_of_its_tokens(encoder) -> None:
    found = static_vectors(encoder, ["a dog runs", "the cat", "a dog runs"])

    table = encoder.transformers_model.get_input_embeddings().weight.detach().numpy()
    tokens = encoder.tokenizer("a dog runs", add_special_tokens=False)["input_ids"]
    expected = sum(table[token] for token in tokens) / len(tokens)
    assert found.vectors[found.place["a dog runs"]] == pytest.approx(expected, abs=1e-6)
    assert len(found.vectors) == 2


def test_the_order_of_words_makes_no_difference(encoder) -> None:
    found = static_vectors(encoder, ["a dog runs", "runs dog a"])

    assert found.cosines(["a dog runs"], ["runs dog a"]) == pytest.approx([1.0])
    assert np.isfinite(found.vectors).all()
