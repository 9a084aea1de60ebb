"""Sentences into vectors, and pairs of sentences into cosines."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import batch_to_device

from curation.files.progress import Report, silent
from curation.statistics.correlation import Scores
from mlworkers.science.encoders.forward import length_batches
from mlworkers.science.pretrained.compute import Compute, Fitting, side_by_side
from mlworkers.science.training.schedule import Places

Vectors = NDArray[np.float32]
Features = dict[str, Any]  # what the encoder takes in
_SENTENCES_PER_BLOCK = 4096  # measured for length at a time
_PAIRS_PER_BLOCK = 8192


class EncoderError(ValueError):
    """The encoder gives vectors that are not numbers."""


@dataclass(frozen=True)
class PairCosines:
    """The cosine of each pair, in -1..1, (n,); and how many distinct sentences were encoded for them."""

    values: Scores
    sentences: int


@dataclass(frozen=True)
class SentenceVectors:
    """The vectors (n, d) of n distinct sentences, so that no sentence is encoded twice. place: of each in the
    vectors."""

    vectors: Vectors
    place: Mapping[str, int]

    def cosines(self, first: Sequence[str], second: Sequence[str]) -> Scores:
        """Of each pair, (n,). Raises EncoderError where a vector is not finite or has no direction."""
        left, right = self._places(first), self._places(second)
        # In float64, a block of pairs at a time: the cosine of a sentence with itself is 1.
        lengths = _lengths(self.vectors)  # (sentences,): once for each, not for each pair
        cosines = np.empty(left.size)
        for start in range(0, left.size, _PAIRS_PER_BLOCK):
            block = slice(start, start + _PAIRS_PER_BLOCK)  # 2 · 8192 · d numbers at a time, not 2 n d
            cosines[block] = _dot(self.vectors[left[block]], self.vectors[right[block]])
        # cos = u · v / (|u| |v|); rounding may carry it a little beyond ±1.
        unit: Scores = np.clip(cosines / (lengths[left] * lengths[right]), -1.0, 1.0)
        # Rounding would rank pairs of equal sentences, on each device in another order.
        unit[left == right] = 1.0
        return unit

    def sides(self, first: Sequence[str], second: Sequence[str]) -> tuple[Vectors, Vectors]:
        """The vectors of the first sentences and of the second, (n, d) each."""
        left: Vectors = self.vectors[self._places(first)]
        right: Vectors = self.vectors[self._places(second)]
        return left, right

    def _places(self, sentences: Sequence[str]) -> NDArray[np.int64]:
        return np.array([self.place[sentence] for sentence in sentences], dtype=np.int64)


def sentence_vectors(
    encoder: SentenceTransformer, sentences: Iterable[str], compute: Compute, *, report: Report = silent
) -> SentenceVectors:
    """Encode each distinct sentence once."""
    place = {sentence: number for number, sentence in enumerate(dict.fromkeys(sentences))}
    return SentenceVectors(encode(encoder, list(place), compute, report=report), place)


def pair_cosines(
    encoder: SentenceTransformer,
    first: Sequence[str],
    second: Sequence[str],
    compute: Compute,
    *,
    report: Report = silent,
) -> PairCosines:
    """The cosine between the sentences of each pair; a sentence that is in many pairs is encoded once.

    Raises EncoderError where a vector is not finite or has no direction.
    """
    found = sentence_vectors(encoder, (*first, *second), compute, report=report)
    return PairCosines(found.cosines(first, second), len(found.place))


def encode(
    encoder: SentenceTransformer, sentences: Sequence[str], compute: Compute, *, report: Report = silent
) -> Vectors:
    """The vectors of n sentences, (n, d). The encoder's default prompt, if it has one, is put before each.

    compute: how many tokens go into a batch, and how many batches are computed at a time; neither changes the
    vectors by more than rounding. report counts sentences.
    """
    encoder.eval()
    # (n, d).
    vectors: Vectors = np.empty((len(sentences), encoder.get_embedding_dimension() or 0), dtype=np.float32)
    prompt = encoder.prompts.get(encoder.default_prompt_name or "") or None
    tokenizing = Lock()  # a tokenizer cannot serve two threads
    done, fitting = 0, Fitting()

    def tokenized(places: Places) -> Features:
        with tokenizing:
            features: Features = encoder.preprocess([sentences[index] for index in places], prompt=prompt)
            return features

    @torch.inference_mode()
    def passed(features: Features) -> Vectors:
        output = encoder(batch_to_device(features, encoder.device))
        vectors: Vectors = output["sentence_embedding"].float().cpu().numpy()
        return vectors

    def encoded(batch: tuple[Places, Features]) -> int:
        places, features = batch

        def of_part(part: Places) -> Vectors:
            # Tokenized again, so that a part is padded to its own longest sentence only.
            return passed(features if len(part) == len(places) else tokenized(part))

        vectors[places] = fitting.values(of_part, places, partial(report, done, len(sentences)))
        return len(places)

    # Tokens of each sentence as the encoder will see it: cut at its longest input.
    blocks = range(0, len(sentences), _SENTENCES_PER_BLOCK)
    # Of the tokenizer itself: special tokens count, padding does not.
    counts = [
        len(tokens)
        for block in (list(sentences[start : start + _SENTENCES_PER_BLOCK]) for start in blocks)
        for tokens in encoder.tokenizer(block, truncation=True, return_attention_mask=False)["input_ids"]
    ]
    lengths = np.array(counts, dtype=np.int64)  # (n,)
    batches = length_batches(lengths, tokens_per_batch=compute.tokens_per_batch)
    prepared = ((places, tokenized(places)) for places in batches)
    with closing(side_by_side(encoded, prepared, workers=compute.workers)) as sizes:
        for size in sizes:
            done += size
            report(done, len(sentences), "Encoding sentences")
    return vectors


def unit_vectors(vectors: Vectors) -> Vectors:
    """The vectors with length 1, (n, d), so that products are cosines.

    Raises EncoderError where a vector is not finite or has no direction.
    """
    unit: Vectors = vectors / _lengths(vectors).astype(np.float32)[:, None]
    return unit


def _lengths(vectors: Vectors) -> Scores:
    """(n,), in float64. Raises EncoderError where a vector is not finite or has no direction."""
    # A sum of squares in float64 cannot overflow for float32 numbers: (3.4e38)² = 1.2e77 is far below 1e308.
    lengths = np.sqrt(_dot(vectors, vectors))
    damaged = int(np.count_nonzero(~np.isfinite(lengths) | (lengths == 0)))
    if damaged:
        raise EncoderError(f"The encoder gives no usable vector for {damaged} of {len(vectors)} sentences.")
    return lengths


def _dot(left: Vectors, right: Vectors) -> Scores:
    # Added up in float64: a sum of d products in float32 would lose digits that ranks depend on.
    products: Scores = np.einsum("nd,nd->n", left, right, dtype=np.float64)
    return products
