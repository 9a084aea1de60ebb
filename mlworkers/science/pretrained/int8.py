"""Multiplications in whole numbers of 8 bits: an encoder that a processor computes faster, and rounds more.

Weights are rounded once, each row of a layer by its own scale. What enters a layer is rounded when it comes, each token
by its own scale. Sums are exact, in 32 bits, and everything between the layers stays float32. One scale for all tokens
of a batch, as torch.ao.quantization has, is as fast and loses four times as much agreement (log of experiments, W-03).
"""

import torch
from torch import Tensor, nn

_LARGEST = 127


class Int8Linear(nn.Module):
    """A linear layer for inference, with inputs (..., in) and outputs (..., out) in float32."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach()  # (out, in)
        scale = _scale(weight)
        self.scale = nn.Buffer(scale.squeeze(1))  # (out,)
        self.weight = nn.Buffer((weight / scale).round().to(torch.int8).t())  # (in, out)
        self.bias = layer.bias

    def forward(self, inputs: Tensor) -> Tensor:
        """Round each token's inputs (..., in) to int8 with its own scale and multiply in integers; (..., out)."""
        tokens = inputs.reshape(-1, inputs.shape[-1])  # (..., in) -> (t, in)
        scale = _scale(tokens)
        sums = torch._int_mm((tokens / scale).round().to(torch.int8), self.weight)  # (t, out), int32
        outputs = sums.to(tokens.dtype) * scale * self.scale
        if self.bias is not None:
            outputs = outputs + self.bias
        return outputs.reshape(*inputs.shape[:-1], -1)


def int8_layers_set(module: nn.Module) -> None:
    """Replace every linear layer inside the module by its rounded form."""
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, Int8Linear(child))
        else:
            int8_layers_set(child)


def _scale(rows: Tensor) -> Tensor:
    """What 1 stands for in each row of numbers, (n, d) -> (n, 1); never 0."""
    return (rows.abs().amax(dim=1, keepdim=True) / _LARGEST).clamp_min(torch.finfo(rows.dtype).tiny)
