"""What an encoder-decoder learns from: token lists that it reads and token lists that it is to write."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from mlworkers.science.training.schedule import Places

IGNORED = -100


class TokenPair(NamedTuple):
    """What the model reads, and what it is to write."""

    read: list[int]
    write: list[int]

    @property
    def longest(self) -> int:
        return max(map(len, self))


class PairWritingLearner:
    """An encoder-decoder and the pairs that it learns to write. pad: the token that fills up what it reads. See
    `training.loop.Learner`.
    """

    def __init__(self, model: Any, pairs: Sequence[TokenPair], *, pad: int, smoothing: float = 0.0) -> None:
        self.module: nn.Module = model
        self._pairs, self._pad, self._smoothing = pairs, pad, smoothing

    def shares(self, batch: Places) -> Tensor:
        """One token's share of the batch's mean loss, (b,)."""
        tokens = sum(len(self._pairs[place].write) for place in batch)
        return torch.full((len(batch),), 1 / tokens)  # a mean over tokens: long texts weigh more

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        """Add the gradients of some pairs of a batch; returns their part of its mean loss per token, in nats."""
        some = [self._pairs[place] for place in batch]
        loss = token_losses(self.module, some, pad=self._pad, smoothing=self._smoothing) * float(shares[0])
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()


def token_losses(model: Any, pairs: Sequence[TokenPair], *, pad: int, smoothing: float = 0.0) -> Tensor:
    """The summed cross-entropy of every token that is to be written, in nats."""
    device = model.device
    read = pad_sequence([torch.tensor(pair.read) for pair in pairs], True, pad).to(device)  # (b, t)
    wanted = pad_sequence([torch.tensor(pair.write) for pair in pairs], True, IGNORED).to(device)  # (b, u)
    lengths = torch.tensor([len(pair.read) for pair in pairs], device=device)
    mask = torch.arange(read.shape[1], device=device) < lengths[:, None]  # (t,) < (b, 1) -> (b, t)
    logits = model(input_ids=read, attention_mask=mask.long(), labels=wanted).logits  # (b, u, v)
    # cross_entropy wants classes in dimension 1, (b, v, u), and skips targets that are IGNORED.
    return cross_entropy(
        logits.transpose(1, 2), wanted, ignore_index=IGNORED, reduction="sum", label_smoothing=smoothing
    )
