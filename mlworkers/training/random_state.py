"""Torch's random numbers, from which dropout is drawn: a stream of a training's own, which can be kept and restored."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor


@contextmanager
def random_states_apart(device: torch.device, *, seed: int) -> Iterator[None]:
    """Random numbers from a seed, on the processor and the device; afterwards, those that would have come anyway."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        yield


def random_state(device: torch.device) -> dict[str, Tensor]:
    """Where the random numbers stand."""
    state = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    return state


def random_restore(state: Mapping[str, Tensor], device: torch.device) -> None:
    """Go back to where they stood; what another kind of device drew means nothing here."""
    torch.set_rng_state(state["cpu"])
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], device)
