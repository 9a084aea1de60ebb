"""How surprising sentences are to a causal language model."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from curation.files.progress import Report
from mlworkers.science.encoders.forward import length_batches
from mlworkers.science.pretrained.compute import Fitting
from mlworkers.science.synthesis.generator import Generator

_TOKENS = {"cpu": 2048, "mps": 8192, "cuda": 32768}
FEWEST_TOKENS = 2
_IGNORED = -100  # of cross_entropy


class Surprise(NamedTuple):
    """Of n sentences, (n,) each: the sum of the negative log-probabilities of its tokens, in nats, and how many tokens
    there are. A sentence of fewer than two tokens, or one that is too long for the model, has NaN and 0.
    """

    nats: NDArray[np.float64]
    tokens: NDArray[np.float64]


def surprise_of(generator: Generator, sentences: Sequence[str], *, report: Report) -> Surprise:
    """The first token of a sentence is predicted from the token that begins texts, and where the model has none from
    the one that ends them, as GPT-2's <|endoftext|>; that token itself is not counted. report counts sentences.

    Where the model has neither, the first token of each sentence is not counted.
    """
    tokenizer: Any = generator.tokenizer
    begins = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    before = [] if begins is None else [int(begins)]
    rows = [tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"] for text in sentences]
    room = generator.context or 10**9
    # The beginning token takes a place of the context; sentences are never cut.
    # (n,) bool.
    counted = np.array([FEWEST_TOKENS <= len(row) <= room - len(before) for row in rows], dtype=bool)
    places = np.flatnonzero(counted)
    nats = np.full(len(rows), np.nan)  # (n,): -Σ_t log p(x_t | x_<t)
    tokens = np.zeros(len(rows))
    # (counted,), tokens that are read.
    lengths = np.array([len(rows[place]) + len(before) for place in places], dtype=np.int64)
    done, fitting = 0, Fitting()
    for batch in length_batches(lengths, tokens_per_batch=_TOKENS[generator.device.type]):
        chosen = places[batch]
        nats[chosen] = fitting.values(partial(_nats, generator), [before + rows[place] for place in chosen])
        # Predicted tokens: all of a row but its first, n of n with a beginning token and n - 1 without.
        tokens[chosen] = [len(rows[place]) + len(before) - 1 for place in chosen]
        done += len(chosen)
        report(done, len(sentences), "Measuring perplexity")
    return Surprise(nats, tokens)


@torch.inference_mode()
def _nats(generator: Generator, rows: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """The sum over the tokens of each of b rows but its first, (b,)."""
    longest = max(map(len, rows))
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    wanted = torch.full((len(rows), longest), _IGNORED)
    # Padding is at the end, where a causal model's earlier places never look, so the token 0 may stand there.
    mask = torch.zeros(len(rows), longest, dtype=torch.long)  # (b, t)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = torch.tensor(row)
        wanted[place, : len(row)] = ids[place, : len(row)]
        mask[place, : len(row)] = 1
    device = generator.device
    model: Any = generator.model
    logits = model(input_ids=ids.to(device), attention_mask=mask.to(device)).logits.float()  # (b, t, V)
    # Place t predicts token t + 1: logits (b, t - 1, V) -> (b, V, t - 1), classes in dimension 1.
    losses = cross_entropy(
        logits[:, :-1].transpose(1, 2), wanted[:, 1:].to(device), ignore_index=_IGNORED, reduction="none"
    )  # (b, t - 1)
    # Ignored places have loss 0 without reduction, so the sum is over the true tokens.
    summed: NDArray[np.float64] = losses.double().sum(1).cpu().numpy()  # (b,), nats
    return summed
