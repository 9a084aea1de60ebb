"""Where torch's random numbers stand, from which dropout is drawn."""

from collections.abc import Mapping

import torch
from torch import Tensor


def random_state(device: torch.device) -> dict[str, Tensor]:
    """Of the processor and, where the device is a GPU, of that one."""
    state = {"cpu": torch.get_rng_state()}  # 5,056 bytes: the Mersenne Twister's
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)  # 16 bytes: Philox's seed and offset
    return state


def random_restore(state: Mapping[str, Tensor], device: torch.device) -> None:
    """Go back to where they stood; what another kind of device drew means nothing here."""
    torch.set_rng_state(state["cpu"])
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], device)
