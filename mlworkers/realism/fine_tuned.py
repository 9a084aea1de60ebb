"""An encoder with a two-way head, trained end to end: the classifier of RISE (section 3.2)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize
from torch import Tensor, nn

from mlworkers.compute import Compute
from mlworkers.encoders.batching import length_batches
from mlworkers.encoders.forward import TokenizedSentences
from mlworkers.progress import Report, silent

Floats = NDArray[np.float64]
DROPOUT = 0.1  # BERT's own, before its classification head


class FineTuned(nn.Module):
    """Tokens of B sentences -> logits of machine and human, (B, 2): pooled vector, dropout, one linear layer.

    The vector is taken before it is brought to length 1: a head on unit vectors would have to grow for long.
    """

    def __init__(self, encoder: SentenceTransformer, *, longest: int | None = None, seed: int = 0) -> None:
        super().__init__()
        self.encoder = encoder
        if longest is not None:
            encoder.max_seq_length = min(longest, encoder.max_seq_length or longest)
        self.dropout = nn.Dropout(DROPOUT)
        self.head = nn.Linear(encoder.get_embedding_dimension() or 0, 2)
        self._begin(seed)
        self.head.to(encoder.device)

    def _begin(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        reach = 1 / math.sqrt(self.head.in_features)
        with torch.no_grad():
            self.head.weight.uniform_(-reach, reach, generator=generator)
            self.head.bias.zero_()

    def forward(self, features: dict[str, Any]) -> Tensor:
        for module in self.encoder:
            if not isinstance(module, Normalize):
                features = module(features)
        logits: Tensor = self.head(self.dropout(features["sentence_embedding"]))
        return logits

    def logits(self, texts: Sequence[str], compute: Compute, *, report: Report = silent) -> Floats:
        """Logits (n, 2) of n dressed texts, dropout off."""
        self.eval()
        tokenized, found, done = TokenizedSentences(self.encoder, texts), np.empty((len(texts), 2)), 0
        with torch.inference_mode():
            for places in length_batches(tokenized.lengths, tokens_per_batch=compute.tokens_per_batch):
                features = tokenized.features(places, self.encoder.device)
                found[places] = self(features).double().cpu().numpy()
                done += len(places)
                report(done, len(texts), "Scoring sentences")
        return found
