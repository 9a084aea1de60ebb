"""CoSENT and AnglE with weights: against the sum over pairs of pairs, by hand, and against sentence-transformers."""

import math

import pytest
import torch
from sentence_transformers.sentence_transformer.losses import AnglELoss, CoSENTLoss
from torch import Tensor
from torch.nn.functional import cosine_similarity

from mlworkers.science.encoders.ranking import angle_similarities, ranking_loss

SCALE = 20.0


def compared(similarities: Tensor, targets: Tensor, weights: Tensor, scale: float) -> Tensor:
    """The exponents of the sum, each written out, with their weights in logarithms, (terms,)."""
    terms = [
        weights[i].log() + weights[j].log() + scale * (similarities[j] - similarities[i])
        for i in range(len(targets))
        for j in range(len(targets))
        if targets[i] > targets[j] and weights[i] * weights[j] > 0
    ]
    return torch.stack([torch.zeros((), dtype=torch.float64), *terms])


def pair_of_pairs_loss(similarities: Tensor, targets: Tensor, weights: Tensor, *, scale: float) -> Tensor:
    return torch.logsumexp(compared(similarities, targets, weights, scale), dim=0)


def batch(seed: int, *, levels: int, size: int = 23) -> tuple[Tensor, Tensor, Tensor]:
    random = torch.Generator().manual_seed(seed)
    similarities = torch.rand(size, generator=random, dtype=torch.float64) * 2 - 1
    targets = torch.randint(levels, (size,), generator=random).double() / levels
    weights = torch.rand(size, generator=random, dtype=torch.float64)
    return similarities, targets, weights


@pytest.mark.parametrize("levels", [1, 2, 5, 1000])
@pytest.mark.parametrize("scale", [1.0, SCALE, 2000.0])
def test_loss_and_gradients_are_those_of_the_sum_over_all_pairs_of_pairs(levels: int, scale: float) -> None:
    found = []
    for loss_of in (ranking_loss, pair_of_pairs_loss):
        similarities, targets, weights = batch(levels, levels=levels)
        weights[4] = 0
        similarities.requires_grad_()
        weights.requires_grad_()
        loss = loss_of(similarities, targets, weights, scale=scale)
        gradients = (
            torch.autograd.grad(loss, (similarities, weights), allow_unused=True)
            if levels > 1
            else (torch.zeros(23), torch.zeros(23))
        )
        found.append((loss, *gradients))

    for fast, slow in zip(*found, strict=True):
        assert torch.allclose(fast, slow, rtol=1e-9, atol=1e-12)


def test_three_pairs_by_hand() -> None:
    similarities = torch.tensor([0.9, 0.2, 0.4], dtype=torch.float64)
    targets = torch.tensor([1.0, 0.0, 0.5], dtype=torch.float64)
    weights = torch.tensor([2.0, 3.0, 0.5], dtype=torch.float64)

    loss = ranking_loss(similarities, targets, weights, scale=10.0)

    # The first above the second, the first above the third, and the third above the second.
    assert float(loss) == pytest.approx(
        math.log(1 + 6 * math.exp(-7) + 1 * math.exp(-5) + 1.5 * math.exp(-2))
    )


def test_the_gradient_is_the_one_that_the_module_states() -> None:
    similarities, targets, weights = batch(3, levels=4)
    similarities.requires_grad_()
    loss = ranking_loss(similarities, targets, weights, scale=SCALE)
    loss.backward()

    with torch.no_grad():
        above = targets[:, None] > targets[None, :]  # i above j
        shares = torch.exp(SCALE * (similarities[None, :] - similarities[:, None]) - loss)
        shares = shares * weights[:, None] * weights[None, :] * above
        stated = SCALE * (shares.sum(0) - shares.sum(1))
    assert torch.allclose(similarities.grad, stated, atol=1e-12)


def test_a_weight_of_three_is_three_equal_rows() -> None:
    similarities, targets, _weights = batch(7, levels=6, size=9)
    times = torch.tensor([1, 3, 1, 2, 1, 1, 3, 1, 2])

    weighed = ranking_loss(similarities, targets, times.double(), scale=SCALE)
    repeated = [values.repeat_interleave(times) for values in (similarities, targets)]

    ones = torch.ones(int(times.sum()), dtype=torch.float64)
    assert float(weighed) == pytest.approx(float(ranking_loss(*repeated, ones, scale=SCALE)), rel=1e-12)


def test_a_weight_of_zero_is_a_row_that_is_not_there() -> None:
    similarities, targets, weights = batch(8, levels=6, size=9)
    weights[[0, 5]] = 0
    kept = weights > 0
    similarities.requires_grad_()

    loss = ranking_loss(similarities, targets, weights, scale=SCALE)
    loss.backward()

    without = ranking_loss(similarities[kept], targets[kept], weights[kept], scale=SCALE)
    assert loss.item() == pytest.approx(without.item(), rel=1e-12)
    assert similarities.grad[[0, 5]].tolist() == [0, 0]


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
def test_pairs_of_one_target_or_of_no_weight_have_the_loss_zero_and_move_nothing(weights) -> None:
    similarities = torch.tensor([0.1, 0.9, -0.4], requires_grad=True)

    loss = ranking_loss(similarities, torch.full((3,), 0.5), torch.tensor(weights), scale=SCALE)
    loss.backward()

    assert loss.item() == 0
    assert similarities.grad.tolist() == [0, 0, 0]


def test_the_order_of_pairs_changes_nothing() -> None:
    similarities, targets, weights = batch(5, levels=4)
    order = torch.randperm(23, generator=torch.Generator().manual_seed(1))

    losses = [
        ranking_loss(similarities, targets, weights, scale=SCALE),
        ranking_loss(similarities[order], targets[order], weights[order], scale=SCALE),
    ]

    assert float(losses[0]) == pytest.approx(float(losses[1]), rel=1e-12)


def test_torch_finds_the_same_gradients_by_finite_differences() -> None:
    similarities, targets, weights = (values.requires_grad_() for values in batch(6, levels=3, size=7))

    assert torch.autograd.gradcheck(
        lambda s, w: ranking_loss(s, targets.detach(), w, scale=SCALE), (similarities, weights)
    )


def test_a_large_batch_in_single_precision_stays_near_double_precision() -> None:
    similarities, targets, weights = batch(9, levels=500, size=3000)
    gradients = []
    for kind in (torch.float32, torch.float64):
        values = similarities.to(kind).requires_grad_()
        ranking_loss(values, targets.float(), weights.to(kind), scale=SCALE).backward()
        gradients.append(values.grad.double())

    assert torch.allclose(*gradients, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("dimensions", [6, 7])
@pytest.mark.parametrize(
    ("theirs", "similarity"), [(CoSENTLoss, cosine_similarity), (AnglELoss, angle_similarities)]
)
def test_with_equal_weights_the_losses_are_those_of_sentence_transformers(
    encoder, theirs, similarity, dimensions: int
) -> None:
    random = torch.Generator().manual_seed(2)
    left, right = (torch.randn(30, dimensions, generator=random) for _ in range(2))
    targets = torch.randint(5, (30,), generator=random).float() / 5

    loss = ranking_loss(similarity(left, right), targets, torch.ones(30), scale=SCALE)

    expected = theirs(encoder).compute_loss_from_embeddings([left, right], targets)
    assert float(loss) == pytest.approx(float(expected), rel=1e-5)


def test_the_angle_similarity_is_that_of_complex_numbers() -> None:
    random = torch.Generator().manual_seed(3)
    left, right = (torch.randn(5, 8, generator=random, dtype=torch.float64) for _ in range(2))

    complex_left, complex_right = (
        torch.complex(side[:, :4], side[:, 4:]) / side.norm(dim=1, keepdim=True) for side in (left, right)
    )
    products = (complex_left * complex_right.conj()).sum(1)

    assert torch.allclose(angle_similarities(left, right), (products.real + products.imag).abs())
