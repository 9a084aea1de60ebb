"""An encoder and the weighted pairs it learns, as the training loop takes them."""

from contextlib import AbstractContextManager
from functools import partial

import numpy as np
import torch
from numpy.typing import ArrayLike
from sentence_transformers import SentenceTransformer
from torch import Tensor

from mlworkers.compute import Compute
from mlworkers.encoders.forward import TokenizedSentences, vectors
from mlworkers.encoders.gradients import SideBySide
from mlworkers.encoders.losses import batch_shares, weighted_cosine_loss
from mlworkers.encoders.plan import Normalise
from mlworkers.encoders.rows import Rows
from mlworkers.training.schedule import Places

# Tokens of a forward pass that gradients flow through; measured with MiniLM on two cores, docs/guide/encoders.md.
_TOKENS = {"cpu": 512, "mps": 8192, "cuda": 65536}


class PairLearner:
    """`rows` n pairs with targets in 0..1; weights (n,), 0 or more. See `training.loop.Learner`."""

    def __init__(
        self,
        encoder: SentenceTransformer,
        rows: Rows,
        weights: ArrayLike,
        compute: Compute,
        *,
        normalise: Normalise = Normalise.NONE,
    ) -> None:
        self.module = encoder
        self._normalise = normalise
        self._precision = compute.dtype
        sentences = rows.sentences
        place = {sentence: number for number, sentence in enumerate(sentences)}
        self._tokenized = TokenizedSentences(encoder, sentences)
        self._sides = [
            np.array([place[text] for text in side.tolist()], dtype=np.int64)
            for side in (rows.first, rows.second)
        ]
        self._targets = _column(rows.values, encoder.device)
        self._weights = _column(weights, encoder.device)
        self._tokens = _TOKENS[compute.device.type]
        self._cores = compute.workers if compute.device.type == "cpu" else 0

    def shares(self, batch: Places) -> Tensor:
        """What each pair adds to its batch's loss, (b,)."""
        return batch_shares(self._weights[self._on_device(batch)], self._normalise)

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        """Add the gradients of some pairs of a batch; returns their loss. Both sides go through together."""
        both = np.concatenate([side[batch] for side in self._sides])
        loss_of = partial(_loss, targets=self._targets[self._on_device(batch)], shares=shares)
        if self._cores:
            return SideBySide(
                self.module, self._tokenized, self._cores, self._tokens, self._autocast
            ).backward(both, loss_of)
        with self._autocast():
            found = vectors(self.module, self._tokenized, both, tokens_per_pass=self._tokens)
        loss = loss_of(found.float())
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    def _on_device(self, batch: Places) -> Tensor:
        return torch.from_numpy(batch).to(self._targets.device)

    def _autocast(self) -> AbstractContextManager[object]:
        # Weights stay in float32: only what is computed with them is rounded.
        lower = self._precision is not torch.float32
        return torch.autocast(self.module.device.type, dtype=self._precision, enabled=lower)


def _loss(found: Tensor, *, targets: Tensor, shares: Tensor) -> Tensor:
    left, right = found.chunk(2)  # (2b, d) -> (b, d), (b, d)
    return weighted_cosine_loss(left, right, targets, shares)


def _column(values: ArrayLike, device: torch.device) -> Tensor:
    return torch.as_tensor(np.asarray(values, dtype=np.float32)).to(device)
