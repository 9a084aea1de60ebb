"""Passes side by side: the vectors and the gradients of one pass, and dropout that does not depend on who is faster."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from mlworkers.encoders.forward import TokenizedSentences, vectors
from mlworkers.encoders.gradients import DropoutFrom, SideBySide, _shared_out
from mlworkers.encoders.training import PairLearner
from mlworkers.pretrained.compute import choose_compute
from mlworkers.pretrained.encoder import load_encoder
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


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_gradients_side_by_side_are_those_of_one_pass(encoder_folder, workers: int) -> None:
    compute = choose_compute("cpu")
    encoder = without_dropout(load_encoder(encoder_folder, compute).train())
    tokenized = TokenizedSentences(encoder, SENTENCES)

    def loss_of(found: torch.Tensor) -> torch.Tensor:
        return (found[0::2] * found[1::2]).sum(-1).exp().sum()

    expected = loss_of(vectors(encoder, tokenized, PLACES, tokens_per_pass=1000))
    expected.backward()
    one = {
        name: weight.grad.clone() for name, weight in encoder.named_parameters() if weight.grad is not None
    }
    encoder.zero_grad()
    autocast = PairLearner(encoder, ROWS, np.ones(len(ROWS)), compute)._autocast
    loss = SideBySide(encoder, tokenized, workers, 60, autocast).backward(PLACES, loss_of)

    side_by_side = {
        name: weight.grad for name, weight in encoder.named_parameters() if weight.grad is not None
    }
    assert float(loss) == pytest.approx(float(expected.detach()), rel=1e-5)
    assert side_by_side.keys() == one.keys()
    assert all(torch.allclose(side_by_side[name], one[name], atol=1e-5) for name in one)


def test_gradients_add_to_those_that_are_there(encoder_folder) -> None:
    compute = replace(choose_compute("cpu"), workers=2)
    learner = PairLearner(
        without_dropout(load_encoder(encoder_folder, compute).train()), ROWS, np.ones(len(ROWS)), compute
    )
    batch = np.arange(4)
    weight = learner.module.get_parameter("0.model.embeddings.word_embeddings.weight")

    learner.backward(batch, learner.shares(batch))
    once = weight.grad.clone()
    learner.backward(batch, learner.shares(batch))

    assert torch.allclose(weight.grad, 2 * once, atol=1e-6)


def test_cores_get_about_as_much_and_every_sentence_once() -> None:
    lengths = np.random.default_rng(2).integers(5, 40, size=64)

    groups = _shared_out(lengths, 2, 512)

    loads = [sum(len(batch) * lengths[batch[0]] for batch in group) for group in groups]
    assert sorted(place for group in groups for batch in group for place in batch) == list(range(64))
    assert max(loads) / min(loads) < 1.1
    assert all(len(batch) * lengths[batch[0]] <= 512 for group in groups for batch in group)


def test_dropout_in_a_pass_is_its_generator_s_alone() -> None:
    values = torch.ones(200, 50)

    def dropped(seed: int) -> torch.Tensor:
        with DropoutFrom(torch.Generator().manual_seed(seed)):
            torch.rand(3)
            return functional.dropout(values, 0.3, training=True)

    first, again, other = dropped(1), dropped(1), dropped(2)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert abs(float((first == 0).float().mean()) - 0.3) < 0.02
    assert float(first.max()) == pytest.approx(1 / 0.7)
    assert torch.equal(functional.dropout(values, 0.3, training=False), values)


@pytest.mark.parametrize("masked", ["bool", "float", "none", "causal"])
def test_attention_with_dropout_is_torch_s_apart_from_what_is_dropped(masked: str) -> None:
    rng = torch.Generator().manual_seed(4)
    query, key, value = (torch.rand(2, 3, 5, 8, generator=rng) for _ in range(3))
    seen = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], dtype=torch.bool)[:, None, None, :]
    mask = {"bool": seen, "float": torch.zeros(seen.shape).masked_fill(~seen, -1e9)}.get(masked)
    about = {"attn_mask": mask, "is_causal": masked == "causal"}

    with DropoutFrom(torch.Generator().manual_seed(1)):
        # So little is dropped that nothing is, in a thousand weights; and yet our own attention computes it.
        ours = functional.scaled_dot_product_attention(query, key, value, dropout_p=1e-9, **about)
        dropped = functional.scaled_dot_product_attention(query, key, value, dropout_p=0.5, **about)

    theirs = functional.scaled_dot_product_attention(query, key, value, **about)
    assert torch.allclose(ours, theirs, atol=1e-6)
    assert not torch.allclose(dropped, theirs, atol=1e-2)


def test_an_encoder_in_training_drops_by_its_generator_everywhere(encoder_folder) -> None:
    encoder = load_encoder(encoder_folder, choose_compute("cpu")).train()
    features = TokenizedSentences(encoder, SENTENCES).features(PLACES, encoder.device)

    def passed(seed: int, common: int) -> torch.Tensor:
        torch.manual_seed(common)
        with torch.no_grad(), DropoutFrom(torch.Generator().manual_seed(seed)):
            return encoder(dict(features))["sentence_embedding"]

    assert torch.equal(passed(1, common=1), passed(1, common=2))
    assert not torch.allclose(passed(1, common=1), passed(2, common=1), atol=1e-3)
