"""The weighted cosine loss: by hand, against finite differences, and what normalising does."""

import math

import pytest
import torch

from mlworkers.science.encoders.losses import batch_shares, weighted_cosine_loss
from mlworkers.science.encoders.plan import Normalise

LEFT = torch.tensor([[1.0, 0.0], [3.0, 4.0], [1.0, 1.0]], dtype=torch.float64)
RIGHT = torch.tensor([[2.0, 0.0], [4.0, 3.0], [-1.0, 1.0]], dtype=torch.float64)  # cosines 1, .96, 0
TARGETS = torch.tensor([0.9, 0.5, 0.1], dtype=torch.float64)
WEIGHTS = torch.tensor([1.0, 0.5, 0.25], dtype=torch.float64)


def loss_of(weights: torch.Tensor = WEIGHTS, normalise: Normalise = Normalise.NONE) -> float:
    return float(weighted_cosine_loss(LEFT, RIGHT, TARGETS, batch_shares(weights, normalise)))


def test_the_loss_by_hand_is_a_mean_over_the_batch_and_not_over_the_weights() -> None:
    assert loss_of() == pytest.approx((1 * 0.01 + 0.5 * 0.46**2 + 0.25 * 0.01) / 3)


def test_halving_every_weight_halves_the_loss_unless_the_batch_is_normalised() -> None:
    assert loss_of(WEIGHTS / 2) == pytest.approx(loss_of() / 2)
    assert loss_of(WEIGHTS / 2, Normalise.BATCH) == pytest.approx(loss_of(WEIGHTS, Normalise.BATCH))


def test_a_normalised_batch_is_a_mean_over_the_weights() -> None:
    assert loss_of(normalise=Normalise.BATCH) == pytest.approx(
        (1 * 0.01 + 0.5 * 0.46**2 + 0.25 * 0.01) / 1.75
    )


def test_a_batch_without_any_weight_counts_for_nothing() -> None:
    assert loss_of(torch.zeros(3, dtype=torch.float64), Normalise.BATCH) == 0


def test_equal_weights_of_one_are_the_plain_mean_squared_error() -> None:
    plain = torch.nn.functional.mse_loss(torch.nn.functional.cosine_similarity(LEFT, RIGHT), TARGETS)

    assert loss_of(torch.ones(3, dtype=torch.float64)) == pytest.approx(float(plain), abs=1e-15)


def test_parts_of_a_batch_add_up_to_it() -> None:
    shares = batch_shares(WEIGHTS, Normalise.NONE)

    parts = [
        weighted_cosine_loss(LEFT[i : i + 1], RIGHT[i : i + 1], TARGETS[i : i + 1], shares[i : i + 1])
        for i in range(3)
    ]

    assert float(sum(parts)) == pytest.approx(loss_of())


def test_the_gradient_is_that_of_finite_differences() -> None:
    left = LEFT.clone().requires_grad_()
    shares = batch_shares(WEIGHTS, Normalise.NONE)

    weighted_cosine_loss(left, RIGHT, TARGETS, shares).backward()

    step = 1e-6
    for place in [(0, 1), (1, 0), (2, 1)]:
        ends = []
        for sign in (1, -1):
            moved = LEFT.clone()
            moved[place] += sign * step
            ends.append(float(weighted_cosine_loss(moved, RIGHT, TARGETS, shares)))
        assert float(left.grad[place]) == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-8)


def test_torch_finds_the_same_gradients_in_double_precision() -> None:
    inputs = [LEFT.clone().requires_grad_(), RIGHT.clone().requires_grad_()]
    shares = batch_shares(WEIGHTS, Normalise.NONE)

    assert torch.autograd.gradcheck(lambda a, b: weighted_cosine_loss(a, b, TARGETS, shares), inputs)


def test_a_pair_of_no_weight_moves_nothing() -> None:
    left = LEFT.clone().requires_grad_()
    weights = torch.tensor([1.0, 0.0, 1.0], dtype=torch.float64)

    weighted_cosine_loss(left, RIGHT, TARGETS, batch_shares(weights, Normalise.NONE)).backward()

    assert left.grad[1].tolist() == [0, 0]
    assert math.isfinite(float(left.grad.abs().sum()))
