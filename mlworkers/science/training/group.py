"""The processes that train one model together, on torch.distributed: each has the whole model and a part of each batch.

Every process takes its rows of a batch, and their gradients are added up, so that all take the same step. Nothing else
has to be sent: order, learning rate and dropout follow from the step's number.
"""

import os
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn

from mlworkers.science.training.ranks import PeerLost

# A process that ended is noticed at once; this is for one that hangs. Others wait while rank 0 evaluates.
_LONGEST_WAIT = timedelta(hours=1)


@dataclass(frozen=True)
class Group:
    """The processes as one of them sees them. A group of one sends nothing."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process writes checkpoints, evaluates and tells."""
        return self.rank == 0

    def part(self, rows: int) -> slice:
        """This process's rows of a batch of so many; none where there are fewer rows than processes."""
        # The bounds floor(r · rows / size) leave no gap, and the parts differ by one row at most.
        return slice(self.rank * rows // self.size, (self.rank + 1) * rows // self.size)

    def seed(self, seed: int, step: int) -> None:
        """Let torch's random numbers follow from the step and the rank, so that no two processes drop out the same.

        A group of one goes on with the numbers of the steps before.
        """
        if self.size > 1:
            # SeedSequence mixes its three numbers, so neighbouring steps and ranks get unrelated seeds. The
            # shift keeps 63 bits, which fit a signed integer of 64.
            drawn = np.random.SeedSequence([seed, step, self.rank]).generate_state(1, np.uint64)
            torch.manual_seed(int(drawn[0] >> np.uint64(1)))

    def joined(self, own: Sequence[Tensor], rows: int) -> list[Tensor]:
        """The whole batch's tensors, (rows, …), of which each process has its part."""
        part = self.part(rows)  # rows that are this rank's
        # All before the first is sent: a process whose memory runs short in between would send it twice.
        wholes = [tensor.new_zeros(rows, *tensor.shape[1:]) for tensor in own]
        for tensor, whole in zip(own, wholes, strict=True):
            # Every row is 0 in all processes but one, so the sum over processes is the whole batch.
            whole[part] = tensor  # (rows of this rank, …) into (rows, …)
            _add_up(whole)
        return wholes

    def summed(
        self, weights: Iterable[nn.Parameter], loss: Tensor, *, again: bool = False
    ) -> tuple[Tensor, bool]:
        """Add the gradients of all processes up, in place; returns the sum of their losses, and whether one of them
        wants the step to be repeated.

        A weight of which no process has a gradient goes without one. All go in one message.
        """
        if self.size == 1:
            return loss, again
        trained = list(weights)
        # A sum and not a mean: each process adds what its rows give to the gradient of the whole batch's
        # loss.
        gradients = [torch.zeros_like(one) if one.grad is None else one.grad for one in trained]
        # A gradient of zeros is not the same as none: AdamW would still decay the weight.
        there = torch.tensor([float(one.grad is not None) for one in trained])
        parts = [
            *(gradient.reshape(-1) for gradient in gradients),
            there.to(gradients[0]),
            loss.reshape(1).to(gradients[0]),
            # Above 0 after the sum if any process wants it.
            gradients[0].new_tensor([float(again)]),
        ]
        message = torch.cat(parts)  # (numbers of all weights + weights + 2,)
        _add_up(message)
        *sums, known, total, wanted = torch.split(message, [part.numel() for part in parts])
        for weight, gradient, known_of in zip(trained, sums, known.tolist(), strict=True):
            weight.grad = gradient.view_as(weight) if known_of else None
        return total.squeeze(0), bool(wanted)


ALONE = Group()


@contextmanager
def group_joined(rank: int, size: int, folder: Path, device: torch.device) -> Iterator[Group]:
    """Be one of the processes that meet in the folder, until the block ends.

    NCCL carries what GPUs send one another, and gloo what processors do; both open connections of this machine alone.
    """
    if device.type == "cuda":
        torch.cuda.set_device(device)
    loopback = [name for _number, name in socket.if_nameindex() if name.startswith("lo")]
    for library in ("GLOO", "NCCL") if loopback else ():
        os.putenv(f"{library}_SOCKET_IFNAME", loopback[0])
    backend = "nccl" if device.type == "cuda" and dist.is_nccl_available() else "gloo"
    with _others_needed():
        dist.init_process_group(
            backend,
            init_method=(folder / "meeting").as_uri(),
            rank=rank,
            world_size=size,
            timeout=_LONGEST_WAIT,
        )
    yield Group(rank, size)
    dist.destroy_process_group()


def _add_up(tensor: Tensor) -> None:
    with _others_needed():
        dist.all_reduce(tensor)  # the sum over ranks, in place, on every rank


@contextmanager
def _others_needed() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise PeerLost(str(error)) from error
