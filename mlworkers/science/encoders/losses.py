"""The weighted cosine loss of RISE. Equation 1 (section 4) weighs the loss of each pair; equation 3 (appendix D) sums
the squared errors of N pairs. The mean over the batch instead of the sum is that of RISE's released code:

    L = 1/B · Σ_i w_i · (cos(u_i, v_i) - y_i)²

of a batch of B pairs with vectors u_i and v_i, targets y_i and weights w_i. There are two steps: `batch_shares` turns
the weights of a whole batch into w_i / B, and `weighted_cosine_loss` sums over the batch, or over one part of it where
memory is short. The losses of the parts, and so their gradients, add up to those of the batch.
"""

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from mlworkers.science.encoders.plan import Normalise


def weighted_cosine_loss(left: Tensor, right: Tensor, targets: Tensor, shares: Tensor) -> Tensor:
    """Σ_i s_i (cos(l_i, r_i) - y_i)² over the b pairs of a batch or of a part of one.

    left, right: vectors (b, d). targets: y in 0..1, (b,); the cosine is not rescaled, and lies in -1..1.
    shares: s from `batch_shares`, (b,). Returns a scalar.
    """
    # d L / d cos_i = 2 s_i (cos_i - y_i): the weight scales the step that a pair takes, not its target.
    # A vector of zeros has no direction: torch divides by 1e-8 at least, and its cosine is 0.
    cosines = cosine_similarity(left, right)  # (b, d), (b, d) -> (b,)
    errors = (cosines - targets) ** 2  # (b,)
    return (shares * errors).sum()  # (b,) -> ()


def batch_shares(weights: Tensor, normalise: Normalise) -> Tensor:
    """w_i / B of a batch of B weights, (B,) -> (B,): the loss is a mean over the B pairs and not over Σw.

    BATCH divides by Σw instead; a batch whose weights are all 0 then counts for nothing.
    """
    if normalise is Normalise.BATCH:
        # Shares then add up to 1 in every batch: a batch of low weights counts as much as one of high
        # weights.
        total = weights.sum().clamp_min(torch.finfo(weights.dtype).tiny)  # never 0
        return weights / total
    # The divisor is the size of the whole batch, also for parts of it: their losses then add up to the mean.
    return weights / weights.numel()  # a mean weight below 1 shrinks the loss
