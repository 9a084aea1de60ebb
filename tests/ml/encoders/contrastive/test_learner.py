"""The learner of whole batches: cached gradients, dropout, and a head of its own."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from mlworkers.science.encoders.contrastive.examples import Examples, pair_examples, sentence_examples
from mlworkers.science.encoders.contrastive.learner import BatchLearner
from mlworkers.science.encoders.contrastive.losses import classified_vectors, contrastive_loss
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.training.loop import train
from mlworkers.science.training.plan import LoopPlan
from mlworkers.science.training.siblings import SiblingsApart
from mlworkers.science.training.whole_batches import whole_backward

TRIPLETS = Examples(
    *(
        [
            tuple(
                (f"the {who} runs", f"a {who} runs on the grass", f"the {who} sits in a tree")
                for who in ("dog", "cat", "bird", "man", "woman", "child", "ball")
            )
        ]
        * 2
    )
)
CPU = choose_compute("cpu")


def contrast(sides, _batch):
    return contrastive_loss(*sides, temperature=0.05)


@pytest.fixture
def fresh(encoder_folder):
    return lambda: load_encoder(encoder_folder, CPU)


def gradients(learner: BatchLearner, rows: int, *, dropout: bool) -> tuple[float, dict[str, torch.Tensor]]:
    learner.module.zero_grad()
    learner.module.train(dropout)
    torch.manual_seed(5)
    batch = np.arange(7)
    loss = whole_backward(learner, batch, learner.shares(batch), rows=rows)
    found = {
        name: one.grad.clone() for name, one in learner.module.named_parameters() if one.grad is not None
    }
    return float(loss), found


@pytest.mark.parametrize("rows", [1, 2, 3, 6])
def test_cached_gradients_are_those_of_the_whole_batch(fresh, rows) -> None:
    whole = BatchLearner(fresh(), TRIPLETS, CPU, contrast, tokens_per_pass=4096)
    cached = BatchLearner(fresh(), TRIPLETS, CPU, contrast, tokens_per_pass=4096, cached=rows)

    loss, expected = gradients(whole, 7, dropout=False)
    other, found = gradients(cached, 7, dropout=False)

    assert other == pytest.approx(loss, rel=1e-5)
    assert expected.keys() == found.keys()
    for name, gradient in expected.items():
        assert torch.allclose(gradient, found[name], atol=1e-5 * float(gradient.abs().max()) + 1e-7), name


def test_the_second_pass_of_a_part_has_the_dropout_of_the_first(fresh) -> None:
    drawn: list[torch.Tensor] = []
    learner = BatchLearner(fresh(), TRIPLETS, CPU, contrast, tokens_per_pass=4096)
    vectors_of = learner.outputs

    def watched(batch):
        found = vectors_of(batch)
        drawn.append(torch.cat(found).detach())
        return found

    learner.outputs = watched
    gradients(learner, 4, dropout=True)

    first, second, again, once_more = drawn
    assert torch.equal(first, again)
    assert torch.equal(second, once_more)


def test_dropout_makes_two_vectors_of_one_sentence(fresh) -> None:
    learner = BatchLearner(
        fresh(), sentence_examples(["the dog runs", "a cat sits"]), CPU, contrast, tokens_per_pass=4096
    )

    learner.module.train()
    anchors, positives = learner.outputs(np.arange(2))

    assert not torch.allclose(anchors, positives)


def test_a_head_is_trained_with_the_encoder(fresh) -> None:
    encoder = fresh()
    width = encoder.get_embedding_dimension()
    examples = pair_examples(
        [(row[0], row[1 + number % 2]) for number, row in enumerate(TRIPLETS.sides)],
        [n % 2 for n in range(7)],
    )
    classes, head = torch.tensor(examples.classes), nn.Linear(3 * width, 2)
    before = head.weight.detach().clone()

    def classified(sides, batch):
        return cross_entropy(head(classified_vectors(*sides)), classes[torch.from_numpy(batch)])

    learner = BatchLearner(encoder, examples, CPU, classified, tokens_per_pass=4096, head=head)
    schedule = SiblingsApart(examples.sources, batch_size=4, epochs=12, warmup=0, seed=1, evaluate_every=99)
    result = train(learner, schedule, LoopPlan(learning_rate=1e-2, seed=3))

    assert result.points[-1].loss < 0.8 * result.points[0].loss
    assert not torch.equal(before, head.weight)
