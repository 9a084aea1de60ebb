"""A discriminative model: that it learns, and what Eq. 1 as printed cannot."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from curation.pairs.text import near_copy_key
from mlworkers.science.contexts.corpus import Corpus, CorpusError
from mlworkers.science.contexts.discriminative import ENCODER, Fit, load_discriminative
from mlworkers.science.contexts.discriminative_network import BiLstm, ContextFit
from mlworkers.science.contexts.discriminative_plan import DiscriminativePlan, Head, Reader, Sides
from mlworkers.science.contexts.discriminative_training import (
    discriminative_trained,
    examples_of,
    shares_measured,
)
from mlworkers.science.pretrained.sources import ModelError
from tests.ml.contexts.models import COMPUTE
from tests.ml.contexts.small_corpus import corpus_of_stories

PLAN = DiscriminativePlan(
    dataset="scenes",
    corpus=1,
    steps=130,
    held_out=0.2,
    hidden=32,
    embedding=32,
    vocabulary=400,
    learning_rate=0.01,
    device="cpu",
)
SENTENCES = (
    "The dog ate it and slept.",
    "It was a quiet forest in the morning.",
    "There was food in the river.",
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus_of_stories(tmp_path_factory.mktemp("corpus"), stories=80)


@pytest.mark.exhaustive
@pytest.mark.parametrize("sides", list(Sides))
def test_a_model_finds_the_right_sentence_and_the_right_context(
    corpus: Corpus, tmp_path: Path, sides: Sides
) -> None:
    made = discriminative_trained(corpus, replace(PLAN, sides=sides), COMPUTE, folder=tmp_path)

    assert made.informs
    assert made.right_sentence.low > 0.6
    assert made.right_context.value > 0.8


@pytest.mark.exhaustive
def test_eq_1_as_printed_orders_contexts_alike_for_every_sentence_and_so_cannot_rank_them(
    corpus: Corpus, tmp_path: Path
) -> None:
    places = [int(place) for place in range(1, 60) if len(corpus.context(place, 1, 1).left)]
    orders, trained = {}, {}
    for head in Head:
        folder = tmp_path / head
        folder.mkdir()
        trained[head] = discriminative_trained(corpus, replace(PLAN, head=head), COMPUTE, folder=folder)
        model = load_discriminative(folder, COMPUTE)
        logits = np.array(
            [model.logits(corpus, [Fit(text, place) for place in places]) for text in SENTENCES]
        )
        orders[head] = logits - logits[:, :1]

    # Whatever the sentence, the contexts are as far from each other.
    assert orders[Head.LITERAL] == pytest.approx(np.tile(orders[Head.LITERAL][0], (3, 1)), abs=1e-4)
    assert np.ptp(orders[Head.LITERAL][0]) > 1e-3
    assert trained[Head.LITERAL].right_context.value == pytest.approx(0.5, abs=0.03)
    assert not trained[Head.LITERAL].informs
    assert np.abs(orders[Head.INTERACTION] - orders[Head.INTERACTION][0]).max() > 1
    assert trained[Head.INTERACTION].informs


@pytest.mark.parametrize("count", [6, 7])  # three exchanges each
def test_contexts_that_are_never_told_apart_come_out_at_chance(corpus: Corpus, count: int) -> None:
    held_out = examples_of(corpus, np.arange(1, 60), PLAN, seed=[1, 1])
    some = replace(
        held_out,
        **{
            name: getattr(held_out, name)[:count]
            for name in ("rows", "places", "other_texts", "from_document")
        },
    )
    undecided = SimpleNamespace(logits=lambda _corpus, asked: np.zeros(len(asked)))

    *_sentences, context = shares_measured(undecided, corpus, some)

    assert (context.n, context.value) == (3, 0.5)
    assert context.low + context.high == pytest.approx(1)


def test_the_vector_of_a_sentence_is_the_last_state_of_each_direction() -> None:
    torch.manual_seed(3)
    reader = BiLstm(20, 5, 4)
    tokens, length = torch.tensor([[3, 7, 1, 9, 0, 0]]), torch.tensor([4])

    found = reader(tokens, length)[0]

    states, _last = reader.lstm(reader.embedding(tokens[:, :4]))
    assert torch.allclose(found, torch.cat([states[0, 3, :4], states[0, 0, 4:]]), atol=1e-6)


def test_sentences_that_a_document_does_not_have_count_nothing_in_a_mean_and_are_zero_side_by_side() -> None:
    vectors = torch.tensor([[1.0, 3.0], [5.0, 7.0], [2.0, 2.0]])
    places = torch.tensor([[-1, 0, 1, 2], [0, 1, 2, -1]])
    about = {"size": 2, "hidden": 3, "head": Head.INTERACTION, "left": 2, "right": 2}

    means = ContextFit(None, sides=Sides.MEAN, **about).contexts(vectors, places)
    beside = ContextFit(None, sides=Sides.CONCATENATED, **about).contexts(vectors, places)

    assert means.tolist() == [[[1.0, 3.0], [3.5, 4.5]], [[3.0, 5.0], [2.0, 2.0]]]
    assert beside[0].tolist() == [[0.0, 0.0], [1.0, 3.0], [5.0, 7.0], [2.0, 2.0]]


def test_the_interaction_has_the_features_of_the_specification() -> None:
    torch.manual_seed(1)
    network = ContextFit(None, size=2, hidden=3, head=Head.INTERACTION, sides=Sides.MEAN, left=1, right=1)
    vectors = torch.tensor([[0.5, -1.0], [2.0, 1.0], [0.0, 3.0]])  # before, the sentence, after
    before, own, after = vectors
    head = network.head

    found = network.logits(vectors, torch.tensor([1]), torch.tensor([[0, 2]]))

    features = torch.cat(
        [own, before, after, before * own, own * after, (before - own).abs(), (own - after).abs()]
    )
    expected = head.out.weight @ torch.tanh(head.hidden.weight @ features + head.hidden.bias) + head.out.bias
    assert found.item() == pytest.approx(expected.item(), abs=1e-6)


def test_half_of_the_other_sentences_are_of_the_same_document_and_none_is_a_copy_or_in_the_context(
    corpus: Corpus,
) -> None:
    places = np.array([place for place in range(1, len(corpus) - 1) if corpus.context(place, 1, 1).left])

    found = examples_of(corpus, places, PLAN, seed=[1])

    assert 0.2 < np.mean(found.from_document) < 0.6  # short stories often have no other sentence to give
    for row, other in zip(found.rows, found.other_texts, strict=True):
        around = {near_copy_key(found.texts[number]) for number in (row.centre, *row.around) if number >= 0}
        assert near_copy_key(other) not in around


def test_frozen_sentence_vectors_are_those_of_the_encoder_and_are_saved_with_the_model(
    corpus: Corpus, encoder_folder: Path, encoder, tmp_path: Path
) -> None:
    plan = replace(PLAN, reader=Reader.FROZEN, steps=60)

    made = discriminative_trained(
        corpus, plan, COMPUTE, folder=tmp_path, encoder=encoder_folder, checkpoints=tmp_path / "c"
    )

    (tmp_path / ENCODER).symlink_to(encoder_folder)
    model = load_discriminative(tmp_path, COMPUTE)
    assert model.vectors(SENTENCES).numpy() == pytest.approx(encoder.encode(list(SENTENCES)), abs=1e-5)
    assert not any("reader" in name for name in load_file(tmp_path / "model.safetensors"))
    assert made.right_sentence.value > 0.5


def test_a_folder_without_such_a_model_and_a_corpus_that_is_too_small_are_refused(
    corpus: Corpus, encoder_folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match="holds no discriminative model"):
        load_discriminative(encoder_folder, COMPUTE)
    with pytest.raises(CorpusError, match="at least 4 of each"):
        discriminative_trained(corpus, replace(PLAN, places=2), COMPUTE, folder=tmp_path)
