"""Self-debiased sampling: what a token loses where another label's prompt likes it better, and how one is drawn."""

import torch
from torch import Tensor


def debiased(target: Tensor, counters: Tensor, *, decay: float, floor: float) -> Tensor:
    """The log-probabilities of the next token, from its logits under a label's prompt and under those it counters.

    target: (B, V). counters: (C, B, V), logits after the same words under each counter prompt; C may be 0.
    With p = softmax(target), q = the largest softmax(counter) of each token and Δ = max(0, q - p), a token keeps
    α = max(floor, exp(-decay·Δ)) of its probability, and what is kept is brought to a sum of 1
    (Schick and Schütze 2021, DINO, section 3; RISE, methods). Returns (B, V).
    """
    p = torch.softmax(target, dim=-1)
    if counters.shape[0]:
        q = torch.softmax(counters, dim=-1).amax(dim=0)
        p *= torch.exp(-decay * (q - p).clamp_(min=0)).clamp_(min=floor)
        p /= p.sum(dim=-1, keepdim=True)
    return p.log()


def nucleus(log_p: Tensor, *, top_k: int, top_p: float) -> tuple[Tensor, Tensor]:
    """The tokens that may be drawn, likeliest first, and their probabilities, 0 for those left out: both (B, K).

    log_p: (B, V). First the top_k likeliest (0: all), brought to a sum of 1; of these the fewest whose probabilities
    reach top_p, at least one (Fan et al. 2018; Holtzman et al. 2020). Of equally likely tokens at the k-th place, one
    is kept.
    """
    k = min(top_k or log_p.shape[-1], log_p.shape[-1])
    likeliest, tokens = log_p.topk(k, dim=-1)
    p = torch.softmax(likeliest, dim=-1)
    before = p.cumsum(dim=-1) - p
    before[:, 0] = 0  # rounding must not leave out the first
    return tokens, p.masked_fill(before >= top_p, 0)


def drawn(tokens: Tensor, p: Tensor, noise: Tensor) -> Tensor:
    """One token of each row: the one whose stretch of the cumulated probabilities holds the row's noise.

    tokens, p: (B, K), p need not sum to 1. noise: (B,), uniform in [0, 1). A row's token depends on the row alone.
    """
    cumulated = p.double().cumsum(dim=-1)
    place = (cumulated <= noise[:, None] * cumulated[:, -1:]).sum(dim=-1, keepdim=True)
    last = (p > 0).sum(dim=-1, keepdim=True) - 1
    return tokens.gather(1, place.minimum(last)).squeeze(1)
