"""Where a training stood: weights and AdamW's averages in one safetensors file, whole or absent."""

from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from curation.files.writing import replacing


class CheckpointError(ValueError):
    """A checkpoint that does not belong to this training."""


_MOMENTS = ("exp_avg", "exp_avg_sq")


def checkpoint_write(path: Path, model: nn.Module, optimizer: torch.optim.AdamW, step: int) -> None:
    """Put the state after `step` steps in the place of what was there."""
    tensors = {}
    for name, weight in model.named_parameters():
        tensors[f"weight.{name}"] = weight.detach()
        for moment in _MOMENTS:
            tensors[f"{moment}.{name}"] = optimizer.state[weight][moment]
    with replacing(path) as file:
        file.write(save({name: tensor.cpu() for name, tensor in tensors.items()}, {"step": str(step)}))


def checkpoint_read(path: Path, model: nn.Module, optimizer: torch.optim.AdamW) -> int:
    """Take up what was written there. Returns the steps it had made, 0 where there is no such file.

    Raises CheckpointError where the file is of another architecture.
    """
    if not path.is_file():
        return 0
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, it is no dict
            step = int((file.metadata() or {})["step"])
    except (SafetensorError, KeyError, ValueError) as error:
        raise CheckpointError(f"{path.name} is no checkpoint; start the training anew.") from error
    _check_shapes(path, model, tensors)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(tensors[f"weight.{name}"])
            moments = {moment: tensors[f"{moment}.{name}"].to(weight.device) for moment in _MOMENTS}
            optimizer.state[weight] = {"step": torch.tensor(float(step), device=weight.device), **moments}
    return step


def _check_shapes(path: Path, model: nn.Module, tensors: dict[str, Tensor]) -> None:
    wanted = {f"weight.{name}": weight.shape for name, weight in model.named_parameters()}
    found = {name: tensor.shape for name, tensor in tensors.items() if name.startswith("weight.")}
    if wanted != found:
        raise CheckpointError(
            f"{path.name} is a checkpoint of another architecture; give the layers, width and vocabulary it was "
            "written with, or start the training anew."
        )
