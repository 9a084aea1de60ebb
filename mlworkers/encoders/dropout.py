"""Dropout from a generator of one's own, so that passes on several cores at a time drop the same whoever is faster."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode


class DropoutFrom(TorchFunctionMode):
    """Within it, in this thread, modules draw what they drop from `generator` and not from torch's common one."""

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
        if enable_gqa:
            heads = query.shape[-3] // key.shape[-3]
            key, value = (side.repeat_interleave(heads, -3) for side in (key, value))
        scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
        if is_causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
            scores = scores.masked_fill(later, -math.inf)
        if attn_mask is not None:
            hidden = attn_mask.dtype is torch.bool
            scores = scores.masked_fill(~attn_mask, -math.inf) if hidden else scores + attn_mask
        return self._dropout(scores.softmax(-1), dropout_p) @ value


def _probability(args: Sequence[Any], named: Mapping[str, Any]) -> float:
    return float(args[4] if len(args) > 4 else named.get("dropout_p", 0.0))
