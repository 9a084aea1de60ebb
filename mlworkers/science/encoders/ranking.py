"""Losses that rank the weighted pairs of a batch by their targets, in O(B log B) time and O(B) memory.

CoSENT (Huang et al. 2024, doi:10.1109/TASLP.2024.3402087) wants every pair of a higher target y to be more similar than
every pair of a lower one. With the similarities s, the weights w and the scale λ,

    L = log(1 + Σ_{y_i > y_j} w_i w_j exp(λ (s_j - s_i)))

Pairs of equal targets are not compared. With the weights 1 it is the published loss, and a pair of weight 2 counts like
two equal rows. AnglE (Li and Li 2023, arXiv:2309.12871) is the same with another similarity, `angle_similarities`; like
sentence-transformers' AnglELoss, it is the term of the angle alone, without the paper's other terms.

With P = exp(L) and p_ij = w_i w_j exp(λ (s_j - s_i)) / P, the gradient is

    ∂L/∂s_k = λ (Σ_{i: y_i > y_k} p_ik - Σ_{j: y_j < y_k} p_kj)

Weights that are all multiplied by the same number add a constant to L where P is large, and hardly change the gradient.
"""

import torch
from torch import Tensor
from torch.nn.functional import normalize, pad


def ranking_loss(similarities: Tensor, targets: Tensor, weights: Tensor, *, scale: float) -> Tensor:
    """L of the module's first lines, a scalar; 0 where all targets are equal.

    similarities: s, (B,). targets: y, (B,). weights: w, (B,), 0 or more. scale: λ.
    The sum over the lower targets is a cumulative one over the pairs in the order of their targets, in logarithms.
    """
    # A pair of weight 0 adds w_i w_j exp(…) = 0 to every sum, so leaving it out does not change L.
    counted = torch.nonzero(weights > 0).squeeze(1)  # the logarithm of 0 has no gradient
    # The comparisons of all twos of pairs become one term for each pair: for a fixed i the sum over j is
    # w_i exp(-λ s_i) · Σ_{y_j < y_i} w_j exp(λ s_j), and its second factor is a prefix sum over rising y.
    ordered, order = targets[counted].sort()
    order = counted[order]
    scaled, log_weights = scale * similarities[order], weights[order].log()  # (C,), (C,)
    lower = torch.searchsorted(ordered, ordered)  # how many targets are below each: equal ones are not
    # At place m it is log Σ_{j <= m} w_j exp(λ s_j). Logarithms, because exp(λ (s_j - s_i)) spans exp(-2λ) to
    # exp(2λ) for cosines.
    cumulative = torch.logcumsumexp(log_weights + scaled, dim=0)  # over j up to each place
    ranked = lower > 0  # (C,) bool
    # lower[i] pairs lie below i, so their prefix sum ends at place lower[i] - 1. Pairs of the lowest target
    # have no such place and no term as i.
    terms = (log_weights - scaled)[ranked] + cumulative[lower[ranked] - 1]
    return torch.logsumexp(
        torch.cat([terms.new_zeros(1), terms]), dim=0
    )  # the zero is the 1 in the logarithm


def angle_similarities(left: Tensor, right: Tensor) -> Tensor:
    """AnglE's similarity of vectors (b, d), which are taken as complex numbers: the first halves are their real parts.

    It is |Σ Re z + Σ Im z| of z = u · conj(v), with u and v of length 1, (b,). The order of the subtraction is that of
    the authors' code and of sentence-transformers, not of the paper's equation 3. A vector of odd length gets a zero.
    """
    # A complex vector needs as many imaginary as real parts; a zero changes no length and no product.
    odd = left.shape[-1] % 2
    unit_left, unit_right = (normalize(pad(side, (0, odd))) for side in (left, right))
    real_left, imaginary_left = unit_left.chunk(2, dim=-1)
    real_right, imaginary_right = unit_right.chunk(2, dim=-1)
    # With u = a + bi and v = c + di, u · conj(v) = (a c + b d) + (b c - a d) i. Summed over coordinates, the
    # real part is the cosine.
    real = (unit_left * unit_right).sum(-1)  # (b,): the cosine
    imaginary = (imaginary_left * real_right - real_left * imaginary_right).sum(-1)
    # Σ z is the Hermitian product of two unit vectors, |Σ z| <= 1, so the result lies in 0..√2. Equal vectors
    # give 1 + 0.
    return (real + imaginary).abs()
