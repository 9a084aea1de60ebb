"""What the training loop trains: an encoder, by a loss of the vectors of a whole batch of examples."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn

from mlworkers.encoders.contrastive.examples import Examples
from mlworkers.encoders.forward import TokenizedSentences, vectors
from mlworkers.pretrained.compute import Compute
from mlworkers.training.loop import random_restore, random_state
from mlworkers.training.schedule import Places

# The vectors of each side of a batch, (b, d) each, and the places of its rows -> the loss.
BatchLoss = Callable[[Sequence[Tensor], Places], Tensor]


class BatchLearner:
    """A `WholeBatchLearner` of examples: every row of a batch has a part in the loss of the others.

    head: layers of the loss, trained with the encoder and saved with no encoder. cached: at most so many rows of a
    batch keep what gradients need at a time, 0 for all (gradient caching, Gao et al. 2021, arXiv:2101.06983); the
    loss and its gradients are those of the whole batch either way.
    """

    def __init__(
        self,
        encoder: SentenceTransformer,
        examples: Examples,
        compute: Compute,
        loss: BatchLoss,
        *,
        tokens_per_pass: int,
        head: nn.Module | None = None,
        cached: int = 0,
    ) -> None:
        self.module: nn.Module = (
            encoder if head is None else nn.ModuleDict({"encoder": encoder, "head": head})
        )
        self._encoder, self._loss, self._cached = encoder, loss, cached
        self._precision, self._tokens = compute.dtype, tokens_per_pass
        place = {text: number for number, text in enumerate(examples.sentences)}
        self._tokenized = TokenizedSentences(encoder, list(place))
        self._rows = np.array([[place[text] for text in row] for row in examples.sides], dtype=np.int64)

    def shares(self, batch: Places) -> Tensor:
        """Nothing needs to be known of a batch before: the same share for every row, (b,)."""
        return torch.full((len(batch),), 1 / len(batch))

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        """Add the gradients of a whole batch, and return its loss."""
        return self.backward_in_parts(batch, shares, rows=len(batch))

    def backward_in_parts(self, batch: Places, shares: Tensor, *, rows: int) -> Tensor:
        """The gradients and the loss of the whole batch, with at most so many rows at a time in the memory.

        The vectors of all parts come first, without gradients. The gradient of the loss by each vector then goes back
        through its part, with the same dropout.
        """
        rows = min(rows, self._cached or rows)
        if rows >= len(batch):
            loss = self._loss(self._vectors(batch), batch)
            loss.backward()  # type: ignore[no-untyped-call]
            return loss.detach()
        device = self._encoder.device
        parts = [slice(start, start + rows) for start in range(0, len(batch), rows)]
        states, found = [], []
        with torch.no_grad():
            for part in parts:
                states.append(random_state(device))
                found.append(self._vectors(batch[part]))
        after = random_state(device)
        whole = [torch.cat(side).requires_grad_() for side in zip(*found, strict=True)]  # (b, d) each
        loss = self._loss(whole, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        for part, state in zip(parts, states, strict=True):
            random_restore(state, device)
            gradients = [side.grad[part] for side in whole if side.grad is not None]
            torch.autograd.backward(self._vectors(batch[part]), gradients)
        random_restore(after, device)
        return loss.detach()

    def _vectors(self, batch: Places) -> list[Tensor]:
        """Of each side of b rows, (b, d); all go through the encoder together."""
        places = self._rows[batch].T.ravel()  # all anchors, then all positives, then all hard negatives
        # Weights stay in float32: only what is computed with them is rounded.
        lower = self._precision is not torch.float32
        with torch.autocast(self._encoder.device.type, dtype=self._precision, enabled=lower):
            found = vectors(self._encoder, self._tokenized, places, tokens_per_pass=self._tokens)
        return list(found.float().chunk(self._rows.shape[1]))
