"""The weighted cosine loss of RISE, equations 1 and 3."""

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from mlworkers.encoders.plan import Normalise


def weighted_cosine_loss(left: Tensor, right: Tensor, targets: Tensor, shares: Tensor) -> Tensor:
    """Σ s_i (cos(l_i, r_i) - y_i)²: of a batch, or of a part of one, whose parts then add up to the batch's.

    left, right: vectors (b, d). targets: y in 0..1, (b,); the cosine is compared as it is, in -1..1.
    shares: what each pair adds to its batch's loss, (b,), from `batch_shares`. Returns a scalar.
    """
    cosines = cosine_similarity(left, right)  # (b, d) -> (b,)
    return (shares * (cosines - targets) ** 2).sum()


def batch_shares(weights: Tensor, normalise: Normalise) -> Tensor:
    """w_i / B of a batch of B weights (B,), so that the loss is their mean over the batch and not over Σw.

    BATCH divides by Σw instead; a batch whose weights are all 0 then counts for nothing.
    """
    if normalise is Normalise.BATCH:
        return weights / weights.sum().clamp_min(torch.finfo(weights.dtype).tiny)
    return weights / weights.numel()
