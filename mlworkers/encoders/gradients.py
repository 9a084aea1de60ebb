"""Gradients of a loss of many sentences' vectors: their passes side by side, each on a core of its own.

Cores that share one small multiplication wait for the slowest of them, many times a second. So each core takes
sentences of its own through the encoder; the loss, which needs all vectors, is computed in between (as GradCache does,
Gao et al. 2021); then each core takes the gradient of its own vectors back. The sum is that of one pass, up to
rounding, and the same however fast each core was: the groups follow from the lengths, and dropout from a generator for
each.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from mlworkers.encoders.forward import TokenizedSentences, length_batches
from mlworkers.pretrained.compute import side_by_side
from mlworkers.training.schedule import Places


class DropoutFrom(TorchFunctionMode):
    """Dropout from a generator of one's own. Within this context, in this thread, modules draw what they drop from
    `generator` and not from torch's common one, whose next numbers go to whichever thread asks first.
    """

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self._generator = generator

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        # Torch calls this in place of each of its functions. All but two go through as they are.
        named = dict(kwargs or {})
        if func is functional.dropout:
            return self._dropout(*args, **named)
        if func is functional.scaled_dot_product_attention and _probability(args, named) > 0:
            return self._attention(*args, **named)
        return func(*args, **named)

    def _dropout(
        self, values: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Tensor:
        if not training or p == 0:
            return values
        # 1 with the probability 1 - p, else 0; what is kept grows by 1 / (1 - p), so that the expected value stays.
        kept = torch.empty_like(values).bernoulli_(1 - p, generator=self._generator)
        return values * kept.div_(1 - p)

    def _attention(  # noqa: PLR0917 - torch's own signature
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        """softmax(q kᵀ / √d + mask) v with dropout on the softmax: query (…, t, d), key and value (…, s, d)."""
        if enable_gqa:  # fewer heads of keys and values than of queries: each is used several times
            heads = query.shape[-3] // key.shape[-3]
            key, value = (side.repeat_interleave(heads, -3) for side in (key, value))
        # (…, t, d) @ (…, d, s) -> (…, t, s)
        scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
        if is_causal:
            # A token sees no later one.
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
            scores = scores.masked_fill(later, -math.inf)
        if attn_mask is not None:
            # A mask of bool says which tokens are seen; one of numbers is added to the scores.
            seen = attn_mask.dtype is torch.bool
            scores = scores.masked_fill(~attn_mask, -math.inf) if seen else scores + attn_mask
        return self._dropout(scores.softmax(-1), dropout_p) @ value  # (…, t, s) @ (…, s, d) -> (…, t, d)


def _probability(args: Sequence[Any], named: Mapping[str, Any]) -> float:
    return float(args[4] if len(args) > 4 else named.get("dropout_p", 0.0))


LossOf = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class SideBySide:
    """workers: passes at a time. tokens_per_pass: at most, padding included. autocast: in what a pass is computed."""

    encoder: SentenceTransformer
    tokenized: TokenizedSentences
    workers: int
    tokens_per_pass: int
    autocast: Callable[[], AbstractContextManager[object]]

    def backward(self, places: Places, loss_of: LossOf) -> Tensor:
        """Add the gradients of `loss_of(vectors)` to those of the encoder's weights; returns the loss.

        places: of b sentences; vectors: theirs, (b, d), in that order.
        """
        # 1. A group of sentences for each core, with a seed of its own for dropout.
        groups = _shared_out(self.tokenized.lengths[places], self.workers, self.tokens_per_pass)
        seeds = torch.randint(2**62, (len(groups),)).tolist()
        tasks = [(places, group, seed) for group, seed in zip(groups, seeds, strict=True)]
        # 2. Forward, side by side: (g, d) of each group, with the graph that leads back to the weights.
        passed = list(side_by_side(self._pass, tasks, workers=self.workers))
        # 3. The loss of all vectors (b, d), which are cut off from the graphs, and its slope dL/dv, (b, d).
        order = torch.from_numpy(np.concatenate([place for group in groups for place in group]))
        vectors = torch.cat([vector.detach() for vector in passed])[torch.argsort(order)].requires_grad_()
        loss = loss_of(vectors)
        (slopes,) = torch.autograd.grad(loss, [vectors])
        # 4. Back, side by side: by the chain rule a group adds dL/dv · dv/dw of its own vectors to the gradients dL/dw.
        shares = torch.split(slopes[order], [len(vector) for vector in passed])
        weights = [weight for weight in self.encoder.parameters() if weight.requires_grad]
        back = partial(_gradients, weights=weights)
        for found in side_by_side(back, zip(passed, shares, strict=True), workers=self.workers):
            _add(weights, found)
        return loss.detach()

    def _pass(self, task: tuple[Places, Sequence[Places], int]) -> Tensor:
        """The vectors of a group's sentences, batch after batch."""
        places, group, seed = task
        device = self.encoder.device
        generator = torch.Generator(device).manual_seed(seed)
        with self.autocast(), DropoutFrom(generator):
            found = [
                self.encoder(self.tokenized.features(places[batch], device))["sentence_embedding"]
                for batch in group
            ]
        return torch.cat(found).float()


def _shared_out(lengths: Places, workers: int, most: int) -> list[list[Places]]:
    """Batches of sentences of like length, of at most so many tokens; each worker gets as much as any other."""
    longest_first = np.argsort(-lengths, kind="stable")
    shares = [longest_first[worker::workers] for worker in range(min(workers, lengths.size))]
    return [[own[batch] for batch in length_batches(lengths[own], tokens_per_batch=most)] for own in shares]


def _gradients(task: tuple[Tensor, Tensor], *, weights: Sequence[Tensor]) -> tuple[Tensor | None, ...]:
    vectors, slopes = task
    return torch.autograd.grad([vectors], weights, [slopes], allow_unused=True)


def _add(weights: Sequence[Tensor], gradients: Sequence[Tensor | None]) -> None:
    sums, terms = [], []
    for weight, gradient in zip(weights, gradients, strict=True):
        if gradient is None:
            continue
        if weight.grad is None:
            weight.grad = gradient
        else:
            sums.append(weight.grad)
            terms.append(gradient)
    if sums:
        torch._foreach_add_(sums, terms)
