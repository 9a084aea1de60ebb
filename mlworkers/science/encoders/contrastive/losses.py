"""Losses of whole batches of sentences: contrast (SimCSE), triplets, and the classification of pairs.

SimCSE (Gao, Yao and Chen 2021, arXiv:2104.08821, equations 1 and 5) takes the b anchors z_i of a batch, their positives
z_i⁺ and, where there are any, their hard negatives z_i⁻. With the cosine c and the temperature τ,

    L = 1/b · Σ_i -log( exp(c(z_i, z_i⁺)/τ) / Σ_j [ exp(c(z_i, z_j⁺)/τ) + exp(c(z_i, z_j⁻)/τ + β·1{i = j}) ] )

Other anchors are not negatives: an anchor has b - 1 of them, and 2b - 1 with hard negatives. β is SimCSE's weight of an
anchor's own hard negative: it is added to its logit, so that 0 is the weight 1.
"""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize, triplet_margin_loss


def contrastive_logits(
    anchors: Tensor,
    positives: Tensor,
    negatives: Tensor | None = None,
    *,
    temperature: float,
    hard_negative_weight: float = 0.0,
) -> Tensor:
    """The cosines of b anchors with all positives, and with all hard negatives, over the temperature.

    anchors, positives, negatives: vectors (b, d). Returns (b, b), or (b, 2b) with negatives; of anchor i, column i is
    its own positive.
    """
    # Row i is a distribution over candidates. Only positives and hard negatives are among them: other anchors
    # give no column.
    candidates = positives if negatives is None else torch.cat([positives, negatives])  # (b or 2b, d)
    # Cosines lie in -1..1, so logits lie in -1/τ..1/τ: a small τ makes the softmax sharp, and most of the
    # gradient then comes from the nearest wrong candidates.
    logits = normalize(anchors, dim=1) @ normalize(candidates, dim=1).T / temperature  # (b, b or 2b)
    if negatives is None or not hard_negative_weight:
        return logits
    # By exp(c/τ + β) = exp(β) · exp(c/τ), β in the logit weighs the anchor's own hard negative with exp(β).
    # Entry (i, b + i) of the logits is that negative, so β stands on the diagonal of the right half.
    own = hard_negative_weight * torch.eye(len(anchors), dtype=logits.dtype, device=logits.device)
    return logits + torch.cat([torch.zeros_like(own), own], dim=1)


def contrastive_loss(
    anchors: Tensor,
    positives: Tensor,
    negatives: Tensor | None = None,
    *,
    temperature: float,
    hard_negative_weight: float = 0.0,
) -> Tensor:
    """L of the module's first lines, a scalar. Arguments as for `contrastive_logits`."""
    logits = contrastive_logits(
        anchors, positives, negatives, temperature=temperature, hard_negative_weight=hard_negative_weight
    )
    # Row i's own positive is column i: -log softmax(logits_i)[i], averaged over the b rows. cross_entropy
    # subtracts each row's maximum before it exponentiates, so a small τ does not overflow.
    return cross_entropy(logits, torch.arange(len(anchors), device=anchors.device))


def triplet_loss(anchors: Tensor, positives: Tensor, negatives: Tensor, *, margin: float) -> Tensor:
    """The mean over b triplets of max(0, |a - p| - |a - n| + margin), with Euclidean distances, as in Sentence-BERT
    (Reimers and Gurevych 2019, section 3). Vectors (b, d) each; returns a scalar.
    """
    # The gradient of a triplet is 0 once the negative is farther away than the positive by the margin.
    return triplet_margin_loss(anchors, positives, negatives, margin=margin)


def classified_vectors(left: Tensor, right: Tensor) -> Tensor:
    """[u, v, |u - v|] of b pairs, (b, d) and (b, d) -> (b, 3d): what Sentence-BERT's softmax classifies (section 3)."""
    return torch.cat([left, right, (left - right).abs()], dim=1)
