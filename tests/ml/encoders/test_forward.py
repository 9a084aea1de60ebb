"""Sentences through an encoder in several passes: the vectors and the gradients of one pass."""

import numpy as np
import pytest
import torch

from mlworkers.science.encoders.forward import TokenizedSentences, vectors
from mlworkers.science.encoders.training import PairLearner
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from tests.ml.encoders.test_training import ROWS, without_dropout

SENTENCES = ROWS.sentences
PLACES = np.array([3, 1, 4, 1, 5, 9, 2, 6, 20, 11])


def test_one_pass_for_both_sides_equals_a_pass_for_each(encoder) -> None:
    tokenized = TokenizedSentences(encoder, SENTENCES)
    left, right = PLACES[:5], PLACES[5:]

    with torch.no_grad():
        both = vectors(encoder, tokenized, PLACES, tokens_per_pass=40)
        apart = [
            encoder(tokenized.features(side, encoder.device))["sentence_embedding"] for side in (left, right)
        ]

    assert torch.allclose(both, torch.cat(apart), atol=1e-6)


def test_sentences_go_in_as_the_encoder_s_own_preparation_has_them(encoder) -> None:
    tokenized = TokenizedSentences(encoder, SENTENCES)

    ours = tokenized.features(PLACES, encoder.device)
    theirs = encoder.preprocess([SENTENCES[place] for place in PLACES])

    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        assert torch.equal(ours[name], value) if isinstance(value, torch.Tensor) else ours[name] == value


@pytest.mark.parametrize("tokens", [1, 40])
def test_gradients_of_many_passes_are_those_of_one(encoder_folder, tokens: int) -> None:
    encoder = without_dropout(load_encoder(encoder_folder, choose_compute("cpu")).train())
    tokenized = TokenizedSentences(encoder, SENTENCES)

    def gradients(tokens_per_pass: int) -> dict[str, torch.Tensor]:
        encoder.zero_grad()
        both = vectors(encoder, tokenized, PLACES, tokens_per_pass=tokens_per_pass)
        (both[0::2] * both[1::2]).sum(-1).exp().sum().backward()
        return {name: weight.grad for name, weight in encoder.named_parameters() if weight.grad is not None}

    one, many = gradients(1000), gradients(tokens)

    assert one.keys() == many.keys()
    assert all(torch.allclose(many[name], one[name], atol=1e-5) for name in one)


def test_gradients_add_to_those_that_are_there(encoder_folder) -> None:
    compute = choose_compute("cpu")
    learner = PairLearner(
        without_dropout(load_encoder(encoder_folder, compute).train()), ROWS, np.ones(len(ROWS)), compute
    )
    batch = np.arange(4)
    weight = learner.module.get_parameter("0.model.embeddings.word_embeddings.weight")

    learner.backward(batch, learner.shares(batch))
    once = weight.grad.clone()
    learner.backward(batch, learner.shares(batch))

    assert torch.allclose(weight.grad, 2 * once, atol=1e-6)
