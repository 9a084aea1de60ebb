"""What the training loop trains: an encoder, by a loss of the vectors of a whole batch of examples."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn

from mlworkers.science.encoders.contrastive.examples import Examples
from mlworkers.science.encoders.forward import TokenizedSentences, vectors
from mlworkers.science.pretrained.compute import Compute
from mlworkers.science.training.schedule import Places

# The vectors of each side of a batch, (b, d) each, and the places of its rows -> the loss.
BatchLoss = Callable[[Sequence[Tensor], Places], Tensor]


class BatchLearner:
    """A `WholeBatchLearner` of examples: every row of a batch has a part in the loss of the others.

    head: layers of the loss, trained with the encoder and saved with no encoder. cached: at most so many rows of a
    batch keep what gradients need at a time, 0 for all.
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
        self.module = module_of(encoder, head)
        self.rows_kept = cached
        self._encoder, self._loss = encoder, loss
        self._precision, self._tokens = compute.dtype, tokens_per_pass
        place = {text: number for number, text in enumerate(examples.sentences)}
        self._tokenized = TokenizedSentences(encoder, list(place))
        # (n, 2 or 3) numbers of sentences.
        self._rows = np.array([[place[text] for text in row] for row in examples.sides], dtype=np.int64)

    def shares(self, batch: Places) -> Tensor:
        """Nothing needs to be known of a batch before: the same share for every row, (b,)."""
        # The loss takes its mean over the batch itself, and `loss` does not read these shares.
        return torch.full((len(batch),), 1 / len(batch))

    def outputs(self, batch: Places) -> list[Tensor]:
        """The vectors of each side of b rows, (b, d); all go through the encoder together."""
        # (b, k) sentence numbers -> (k·b,), a side after the other. A sentence that stands on two sides goes
        # through the encoder twice, so dropout gives it two different vectors.
        places = self._rows[batch].T.ravel()  # all anchors, then all positives, then all hard negatives
        # Weights stay in float32: only what is computed with them is rounded.
        lower = self._precision is not torch.float32
        with torch.autocast(self._encoder.device.type, dtype=self._precision, enabled=lower):
            found = vectors(self._encoder, self._tokenized, places, tokens_per_pass=self._tokens)
        # (k·b, d) -> k times (b, d), in float32: the loss exponentiates cosines over a small temperature.
        return list(found.float().chunk(self._rows.shape[1]))

    def loss(self, outputs: Sequence[Tensor], batch: Places, shares: Tensor) -> Tensor:
        return self._loss(outputs, batch)


def module_of(encoder: SentenceTransformer, head: nn.Module | None) -> nn.Module:
    """All that is trained."""
    return encoder if head is None else nn.ModuleDict({"encoder": encoder, "head": head})
