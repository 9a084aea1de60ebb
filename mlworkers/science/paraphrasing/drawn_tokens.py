"""Decoding by sampling in which every row has its own random numbers, whatever is written beside it."""

import torch
from torch import Tensor
from transformers import LogitsProcessor

from mlworkers.science.paraphrasing.writing_plan import Sampling
from mlworkers.science.synthesis.debiasing import drawn, nucleus


class Drawn(LogitsProcessor):  # type: ignore[misc]
    """Draws the next token of each of b rows by the row's own noise, (b, most): all others become impossible."""

    def __init__(self, way: Sampling, noise: Tensor) -> None:
        self._way, self._noise, self._step = way, noise, 0

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        # ConPGS, section 3.2: p_i = exp(z_i / T) / Σ_j exp(z_j / T).
        # softmax(z / T): T above 1 flattens the distribution. The top-k set does not depend on T, its
        # probabilities do.
        logits = scores.float() / self._way.temperature  # (b, v)
        tokens, p = nucleus(logits, top_k=self._way.top_k, top_p=1.0)
        # Inverse transform of one uniform number.
        token = drawn(tokens, p, self._noise[:, self._step].to(scores.device))  # (b,)
        self._step += 1
        # One finite score in each row: the library's argmax (do_sample=False) can then take this token alone.
        return torch.full_like(scores, -torch.inf).scatter_(1, token[:, None], 0.0)
