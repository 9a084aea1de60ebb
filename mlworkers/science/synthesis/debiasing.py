"""Self-debiased sampling: what a token loses where another label's prompt likes it better, and how one is drawn."""

import torch
from torch import Tensor


def debiased(target: Tensor, counters: Tensor, *, decay: float, floor: float) -> Tensor:
    """The log-probabilities of the next token, from its logits under a label's prompt and under those it counters.

    target: (B, V). counters: (C, B, V), logits after the same words under each counter prompt; C may be 0. Returns
    (B, V). Schick and Schütze 2021 (DINO); RISE takes its decoding over as it is (section 3).

        p = softmax(target)                 what the label's own prompt expects
        q = max over c of softmax(counter_c)  what the most confident counter prompt expects
        Δ = max(0, q - p)                   how much more a counter prompt likes the token
        α = max(floor, exp(-decay·Δ))       the share of its probability that the token keeps
        result = log(α·p / Σ_v α·p)         brought to a sum of 1 again
    """
    p = torch.softmax(target, dim=-1)  # (B, V)
    if counters.shape[0]:
        q = torch.softmax(counters, dim=-1).amax(dim=0)  # (C, B, V) -> (B, V)
        delta = (q - p).clamp_(min=0)  # 0 where the token fits the label better than its counters
        # With the default decay of 100 the floor of 0.01 is reached at Δ = ln(100) / 100 = 0.046.
        p *= torch.exp(-decay * delta).clamp_(min=floor)
        p /= p.sum(dim=-1, keepdim=True)
    return p.log()  # (B, V); -∞ where p is 0, which is never drawn


def nucleus(log_p: Tensor, *, top_k: int, top_p: float) -> tuple[Tensor, Tensor]:
    """The tokens that may be drawn, likeliest first, and their probabilities, 0 for those left out: both (B, K).

    log_p: (B, V). First the top_k likeliest (0: all), brought to a sum of 1; of these the fewest whose probabilities
    reach top_p, at least one (Fan et al. 2018; Holtzman et al. 2020). Of equally likely tokens at the k-th place, one
    is kept.
    """
    k = min(top_k or log_p.shape[-1], log_p.shape[-1])  # 0 means all V
    likeliest, tokens = log_p.topk(k, dim=-1)  # (B, V) -> (B, K), in falling order
    p = torch.softmax(likeliest, dim=-1)  # brings the k to a sum of 1
    # A token is left out where those before it reach top_p already.
    before = p.cumsum(dim=-1) - p  # (B, K): the sum over the likelier tokens
    before[:, 0] = 0  # rounding must not leave out the first
    return tokens, p.masked_fill(before >= top_p, 0)


def drawn(tokens: Tensor, p: Tensor, noise: Tensor) -> Tensor:
    """One token of each row: the one whose stretch of the cumulated probabilities holds the row's noise.

    tokens, p: (B, K), p need not sum to 1. noise: (B,), uniform in [0, 1). A row's token depends on the row alone.
    """
    # Token j owns the stretch [c_{j-1}, c_j) of [0, c_K); the noise, scaled by c_K, falls into one of them.
    cumulated = p.double().cumsum(dim=-1)  # (B, K): c_1 … c_K
    position = (cumulated <= noise[:, None] * cumulated[:, -1:]).sum(
        dim=-1, keepdim=True
    )  # (B, 1): stretches passed
    last = (p > 0).sum(dim=-1, keepdim=True) - 1  # (B, 1): rounding must not reach a token left out
    return tokens.gather(1, position.minimum(last)).squeeze(1)
