"""Sentences as tokens, in batches of like length, and through an encoder so that gradients flow."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn

from mlworkers.science.pretrained.compute import sent
from mlworkers.science.training.schedule import Places

_SENTENCES_PER_BLOCK = 512


class TokenizedSentences:
    """Sentences as the encoder takes them in, cut at its longest input; tokenized once for all epochs."""

    def __init__(self, encoder: SentenceTransformer, sentences: Sequence[str]) -> None:
        prompt = encoder.prompts.get(encoder.default_prompt_name or "") or None
        self._rows: list[dict[str, Tensor]] = []
        self._same: dict[str, Any] = {}  # what is one for all sentences, such as the kind of input
        for start in range(0, len(sentences), _SENTENCES_PER_BLOCK):
            block = list(sentences[start : start + _SENTENCES_PER_BLOCK])
            features = encoder.preprocess(block, prompt=prompt)
            mask = features["attention_mask"].bool()  # (b, longest): True where a token is
            tokens = {
                name: value
                for name, value in features.items()
                if isinstance(value, Tensor) and value.shape == mask.shape
            }
            self._same |= {name: value for name, value in features.items() if name not in tokens}
            lengths = mask.sum(dim=1).tolist()
            # One selection for all rows of a block: on a GPU, a training waits for what the processor prepares.
            # (b, longest) -> (Σ lengths,) -> b tensors of their own lengths: padding is dropped, and added
            # again for each batch as far as that batch needs.
            parts = [torch.split(value[mask], lengths) for value in tokens.values()]
            self._rows += [dict(zip(tokens, row, strict=True)) for row in zip(*parts, strict=True)]
        self._fill = {"input_ids": int(encoder.tokenizer.pad_token_id or 0)}
        self._side = encoder.tokenizer.padding_side
        self.lengths = np.array([row["attention_mask"].numel() for row in self._rows], dtype=np.int64)

    def features(self, places: Places, device: torch.device) -> dict[str, Any]:
        """The sentences at those places as one padded batch, (b, longest of them)."""
        rows = [self._rows[index] for index in places]  # b dicts of (t,) tensors
        padded = {
            name: nn.utils.rnn.pad_sequence(
                [row[name] for row in rows], True, self._fill.get(name, 0), padding_side=self._side
            )
            for name in rows[0]
        }
        return {**self._same, **{name: sent(value, device) for name, value in padded.items()}}


def vectors(
    encoder: SentenceTransformer, tokenized: TokenizedSentences, places: Places, *, tokens_per_pass: int
) -> Tensor:
    """The vectors of the sentences at those places, (b, d), in their order, with gradients.

    All go through together, so that both sides of a pair share a pass; groups of like length keep padding small. A
    group is a forward pass, of at most so many tokens.
    """
    # Their numbers are places within `places`, (b,), not of sentences.
    groups = length_batches(tokenized.lengths[places], tokens_per_batch=tokens_per_pass)
    device = encoder.device
    passed = [encoder(tokenized.features(places[group], device))["sentence_embedding"] for group in groups]
    # The groups, one after the other, are a permutation of the places; its argsort is the inverse.
    back = np.argsort(np.concatenate(groups))
    return torch.cat(passed)[sent(torch.from_numpy(back), device)]


def length_batches(lengths: ArrayLike, *, tokens_per_batch: int) -> list[NDArray[np.int64]]:
    """Cut sentences into batches of like length within a budget of tokens, padding included.

    lengths: tokens of each sentence (n,). Returns the places of each batch's sentences, the longest first, so
    that what will not fit in memory fails at once; equal lengths keep their order. A sentence longer than the
    budget is its own batch. Raises ValueError if tokens_per_batch is below 1.
    """
    if tokens_per_batch < 1:
        raise ValueError(f"A batch of {tokens_per_batch} tokens holds no sentence; give at least 1.")
    tokens = np.maximum(np.asarray(lengths, dtype=np.int64), 1)  # (n,); an empty sentence takes a place too
    order = np.argsort(-tokens, kind="stable")
    batches, start = [], 0
    while start < order.size:
        # In falling order the first row of a batch is its longest, so a batch of `size` rows is padded to
        # size · tokens[first] <= tokens_per_batch.
        size = max(1, tokens_per_batch // int(tokens[order[start]]))
        batches.append(order[start : start + size])
        start += size
    return batches
