"""Losses that are not a sum over the rows of a batch, because they compare all of them with one another.

A batch whose rows do not fit into the memory together, or are shared by several processes, still has the loss and the
gradients of the whole: what the loss needs of each row comes first, without gradients; the gradient of the loss by it
then goes back through the row (Gao et al. 2021, arXiv:2101.06983), with the same dropout.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from mlworkers.science.training.checkpoints import random_restore, random_state
from mlworkers.science.training.group import ALONE, Group
from mlworkers.science.training.schedule import Places

Join = Callable[[Sequence[Tensor]], list[Tensor]]


@runtime_checkable
class WholeBatchLearner(Protocol):
    """What is trained by such a loss."""

    @property
    def module(self) -> nn.Module: ...

    @property
    def rows_kept(self) -> int:
        """At most so many rows keep what gradients need at a time; 0 for all."""

    def shares(self, batch: Places) -> Tensor:
        """What must be known of the whole batch before its rows are computed, a number for each, (b,)."""

    def outputs(self, batch: Places) -> list[Tensor]:
        """What the loss needs of some rows of a batch, (b, …) each."""

    def loss(self, outputs: Sequence[Tensor], batch: Places, shares: Tensor) -> Tensor:
        """The loss of a whole batch, a scalar."""


class Joining:
    """Joins what the processes of a group computed of one batch, once: a process that starts its rows again, because
    memory ran short, goes on with what was joined before.

    again: whether one did. In parts of another size its rows drop out other places than those that were joined, so the
    group has to repeat the step.
    """

    def __init__(self, group: Group, rows: int) -> None:
        self._group, self._rows = group, rows
        self._joined: list[Tensor] | None = None
        self.again = False

    def __call__(self, own: Sequence[Tensor]) -> list[Tensor]:
        self.again = self._joined is not None
        if self._joined is None:
            self._joined = self._group.joined(own, self._rows)
        return [tensor.clone() for tensor in self._joined]


def whole_backward(
    learner: WholeBatchLearner,
    batch: Places,
    shares: Tensor,
    *,
    rows: int,
    group: Group = ALONE,
    join: Join | None = None,
) -> Tensor:
    """Add the gradients of this process's rows of a batch, with at most so many at a time in the memory.

    join: how the whole batch's outputs come together in a group of several. Returns the loss of the whole batch, in
    the process that leads; 0 in others, so that the sum is the loss.
    """
    # With outputs z_i of the rows and weights θ, dL/dθ = Σ_i dL/dz_i · dz_i/dθ. The loss needs all z_i at
    # once, and they are small; the graph of dz_i/dθ is large, and is there for one part at a time.
    rows = min(rows, learner.rows_kept or rows)
    if join is None and rows >= len(batch):
        loss = learner.loss(learner.outputs(batch), batch, shares)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()
    own = group.part(len(batch))
    parts = [slice(start, min(start + rows, own.stop)) for start in range(own.start, own.stop, rows)]
    device = next(learner.module.parameters()).device
    states, found = [], []
    # First pass: all z_i. A single part keeps its graph and needs no second pass; several parts cost one more
    # forward pass of every row.
    with torch.set_grad_enabled(len(parts) == 1):
        for part in parts:
            states.append(random_state(device))  # dropout's state before each part
            found.append(learner.outputs(batch[part]))
    if not found:  # more processes than rows: only the shape is needed
        with torch.no_grad():
            found = [[output[:0] for output in learner.outputs(batch[:1])]]
    # (own rows, …) of each output.
    outputs = [torch.cat(output).detach() for output in zip(*found, strict=True)]
    # Leaves of a graph that holds the loss alone: its backward pass ends in dL/dz and not in the encoder.
    whole = [output.requires_grad_() for output in (join(outputs) if join else outputs)]
    loss = learner.loss(whole, batch, shares)  # every process computes it from all rows
    if group.leads:
        loss.backward()  # type: ignore[no-untyped-call]
        gradients = [output.grad for output in whole]  # dL/dz of all rows
    else:  # the loss may have its own weights, which count once
        gradients = list(torch.autograd.grad(loss, whole, allow_unused=True))
        loss = torch.zeros_like(loss)
    for part, state in zip(parts, states, strict=True):
        if len(parts) > 1:
            random_restore(state, device)
        # Second pass: the restored random state gives the same dropout, so the same z_i, now with a graph.
        again = found[0] if len(parts) == 1 else learner.outputs(batch[part])
        used = [(output, by[part]) for output, by in zip(again, gradients, strict=True) if by is not None]
        # The product of dL/dz_i with dz_i/dθ, added to the gradients of θ.
        torch.autograd.backward([output for output, _by in used], [by for _output, by in used])
    return loss.detach()
