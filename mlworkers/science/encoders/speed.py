"""Sentences a second of an encoder, with batches of like length and without (Sun et al. 2022, Table 1)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import batch_to_device

from curation.files.progress import Report
from mlworkers.science.encoders.encoding import Vectors, encode
from mlworkers.science.pretrained.compute import Compute


class Pace(NamedTuple):
    """Sentences a second: the median of some rounds, the slowest, and the fastest."""

    median: float
    slowest: float
    fastest: float


def paces_measured(
    encoder: SentenceTransformer,
    sentences: Sequence[str],
    compute: Compute,
    *,
    batch_size: int,
    rounds: int,
    now: Callable[[], float],
    report: Report,
) -> tuple[Pace, Pace]:
    """With batches of like length, and with batches in order. Both compute one batch at a time, and nothing differs but
    the batches. report counts sentences, of which each way encodes all in each round.
    """
    # The paper's Surrogate-base gains from 48 to 91 sentences a second on a processor and from 1,514 to 2,175
    # on a GPU.
    alone = replace(compute, workers=1)  # otherwise only one of the ways would use all cores
    ways: tuple[Callable[[], Vectors], ...] = (
        lambda: encode(encoder, sentences, alone),
        lambda: encode_in_order(encoder, sentences, batch_size=batch_size),
    )
    encode(encoder, sentences[:batch_size], alone)  # the first pass is slower
    seconds: tuple[list[float], list[float]] = ([], [])
    for done in range(rounds):
        # The ways take turns, so that a machine that becomes slower or faster changes both.
        for way, taken in zip(ways, seconds, strict=True):
            started = now()
            way()
            taken.append(now() - started)
        report((done + 1) * len(sentences), rounds * len(sentences), "Encoding sentences")
    paces = []
    for taken in seconds:
        rates = [len(sentences) / one if one else float("inf") for one in taken]
        # One round that other work slowed down moves a mean and hardly a median.
        paces.append(Pace(float(np.median(rates)), min(rates), max(rates)))
    by_length, in_order = paces
    return by_length, in_order


def encode_in_order(encoder: SentenceTransformer, sentences: Sequence[str], *, batch_size: int) -> Vectors:
    """The vectors of n sentences, (n, d), in batches as they come: each is padded to the longest of its batch."""
    encoder.eval()
    prompt = encoder.prompts.get(encoder.default_prompt_name or "") or None
    parts = []
    for start in range(0, len(sentences), batch_size):
        # Padded to the longest of the batch.
        features = encoder.preprocess(list(sentences[start : start + batch_size]), prompt=prompt)
        with torch.inference_mode():
            output = encoder(batch_to_device(dict(features), encoder.device))
        parts.append(output["sentence_embedding"].float().cpu().numpy())
    vectors: Vectors = np.concatenate(parts)
    return vectors
