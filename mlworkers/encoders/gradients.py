"""Gradients of a loss of many sentences' vectors: their passes side by side, each on a core of its own.

Cores that share one small multiplication wait for the slowest of them, many times a second. So each core takes
sentences of its own through the encoder; the loss, which needs all vectors, is computed in between (as GradCache does,
Gao et al. 2021); then each core takes the gradient of its own vectors back. The sum is that of one pass, up to
rounding, and the same however fast each core was: the groups follow from the lengths, and dropout from a generator for
each.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor

from mlworkers.compute import side_by_side
from mlworkers.encoders.batching import length_batches
from mlworkers.encoders.dropout import DropoutFrom
from mlworkers.encoders.forward import TokenizedSentences
from mlworkers.training.schedule import Places

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
        groups = _shared_out(self.tokenized.lengths[places], self.workers, self.tokens_per_pass)
        seeds = torch.randint(2**62, (len(groups),)).tolist()
        tasks = [(places, group, seed) for group, seed in zip(groups, seeds, strict=True)]
        passed = list(side_by_side(self._pass, tasks, workers=self.workers))
        order = torch.from_numpy(np.concatenate([place for group in groups for place in group]))
        vectors = torch.cat([vector.detach() for vector in passed])[torch.argsort(order)].requires_grad_()
        loss = loss_of(vectors)
        (slopes,) = torch.autograd.grad(loss, [vectors])
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
