"""Self-debiased decoding of many prompts at once, with every prompt's keys and values kept.

A row is one sentence that is being written. It is decoded once under its own label's prompt and once under each prompt
that it counters; all of them see the same words.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers.cache_utils import Cache, DynamicLayer

from mlworkers.science.synthesis.debiasing import debiased, drawn, nucleus
from mlworkers.science.synthesis.generator import Generator
from mlworkers.science.synthesis.plan import GenerationPlan

ROOM = 16  # positions; the library's own layer copies everything at every token


class RoomyLayer(DynamicLayer):  # type: ignore[misc]
    """A layer of the cache that copies its content every ROOM tokens, and writes in between into spare places."""

    keys: Tensor
    values: Tensor

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._spare: tuple[Tensor, ...] | None = None

    def update(
        self, key_states: Tensor, value_states: Tensor, *_args: Any, **_kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Append the keys and values of t tokens, (lines, heads, t, width) each. Returns those of all tokens."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        before = self.get_seq_length()
        after = before + key_states.shape[-2]
        if self._spare is None or self._spare[0].shape[-2] < after:
            # A copy of all keys and values at each of T tokens costs O(T^2) in total; one every ROOM tokens
            # divides that by ROOM.
            room = ROOM if before else 0  # a prompt is followed by a repetition, which copies anyway
            self._spare = tuple(
                states.new_empty(*states.shape[:2], after + room, states.shape[3])
                for states in (key_states, value_states)
            )
            for spare, held in zip(self._spare, (self.keys, self.values), strict=True):
                if before and held is not None:
                    spare[:, :, :before] = held
        for spare, new in zip(self._spare, (key_states, value_states), strict=True):
            spare[:, :, before:after] = new
        # Views of the spare tensors, (lines, heads, after, width): no copy.
        self.keys, self.values = (spare[:, :, :after] for spare in self._spare)
        return self.keys, self.values

    def batch_repeat_interleave(self, repeats: int) -> None:
        # The spare tensors have the old number of lines; the next update makes new ones.
        super().batch_repeat_interleave(repeats)
        self._spare = None

    def batch_select_indices(self, indices: Tensor) -> None:
        super().batch_select_indices(indices)
        self._spare = None


COMPACT_BELOW = 0.8  # share of rows still written, below which the others leave the batch

Prompts = tuple[list[int], ...]  # tokens of a label's own prompt, then of those that it counters


@torch.inference_mode()
def continued(
    generator: Generator, prompts: Sequence[Prompts], noise: Tensor, plan: GenerationPlan
) -> list[list[int]]:
    """The tokens that follow each of S prompts, `plan.samples` rows for each, in the order of the prompts.

    prompts: all with the same number of counter prompts. noise: (S x samples, max_tokens), uniform in [0, 1): a row is
    drawn with its own, and so depends on no other row. A row ends with the first token that holds a quote or a line
    break, or after max_tokens.
    """
    batch = _Batch(generator, prompts, plan.samples)  # (1 + C) · R lines, R = S · samples at first
    rows = torch.zeros(noise.shape, dtype=torch.long, device=generator.device)  # (R, max_tokens)
    lengths = torch.full((len(noise),), plan.max_tokens, device=generator.device)  # (R,)
    noise = noise.to(generator.device)
    for step in range(plan.max_tokens):
        # R rows are still written: logits (R, V) and (C, R, V) -> log_p (R, V) -> tokens, p (R, K) -> token (R,)
        log_p = debiased(*batch.logits, decay=plan.decay, floor=plan.floor)
        tokens, p = nucleus(log_p, top_k=plan.top_k, top_p=plan.top_p)
        token = drawn(tokens, p, noise[batch.rows, step])
        rows[batch.rows, step] = token  # batch.rows: which of the S x samples rows they are
        # A row's length is known when its first ending token is drawn.
        # Ended rows may stay in the batch and write on: only the first ending token sets their length.
        ended = generator.ends[token] & (lengths[batch.rows] == plan.max_tokens)
        lengths[batch.rows[ended]] = step + 1
        writing = lengths[batch.rows] > step + 1
        if step + 1 == plan.max_tokens or not writing.any():
            break
        token = batch.without(~writing, token)
        batch.append(token)
    return [row[:length] for row, length in zip(rows.tolist(), lengths.tolist(), strict=True)]


class _Batch:
    """The rows that are still written, under 1 + C prompts each: row r under prompt c is line c·R + r of the model."""

    def __init__(self, generator: Generator, prompts: Sequence[Prompts], samples: int) -> None:
        self._generator = generator
        self._blocks = len(prompts[0])
        self._cache = Cache(layer_class_to_replicate=RoomyLayer)
        # Prompt by prompt: line c · S + s.
        lines = [each[block] for block in range(self._blocks) for each in prompts]
        # Padding is before a prompt, so that all end together. The mask hides it: it may be any token.
        tokens, self._mask = (
            pad_sequence(rows, batch_first=True, padding_side="left").to(generator.device)
            for rows in (
                [torch.tensor(line) for line in lines],
                [torch.ones(len(line), dtype=torch.long) for line in lines],
            )
        )
        # The first true token of a line has position 0, however much padding is before it.
        self._positions = (self._mask.cumsum(dim=-1) - 1).clamp_(min=0)
        self.rows = torch.arange(len(prompts) * samples, device=generator.device)
        logits = self._forward(tokens)
        # Each prompt is read once, and its keys and values are copied for every sample.
        self._cache.batch_repeat_interleave(samples)
        self._mask = self._mask.repeat_interleave(samples, dim=0)
        self._positions = self._positions[:, -1:].repeat_interleave(samples, dim=0)
        self._logits = logits.repeat_interleave(samples, dim=0)

    @property
    def logits(self) -> tuple[Tensor, Tensor]:
        """Of the next token under the own prompts (R, V) and under the counter prompts (C, R, V)."""
        # Lines are ordered by prompt, then by row: ((1 + C) · R, V) -> (1 + C, R, V).
        blocks = self._logits.view(self._blocks, len(self.rows), -1)
        return blocks[0], blocks[1:]

    def without(self, ended: Tensor, token: Tensor) -> Tensor:
        """Let rows that ended leave, once they are enough to be worth a copy. Returns the tokens of those that stay."""
        staying = (~ended).nonzero().squeeze(1)  # places in the batch, not row numbers
        if len(staying) > COMPACT_BELOW * len(self.rows):
            return token
        # A row leaves under all of its prompts at once: line c · R + r for each c.
        lines = torch.cat([staying + block * len(self.rows) for block in range(self._blocks)])
        self._cache.batch_select_indices(lines)
        self._mask, self._positions = self._mask[lines], self._positions[lines]
        self.rows = self.rows[staying]
        return token[staying]

    def append(self, token: Tensor) -> None:
        """Give every row its next token, the same under each of its prompts."""
        lines = token.repeat(self._blocks)[:, None]
        # (lines, T) -> (lines, T + 1).
        self._mask = torch.cat([self._mask, self._mask.new_ones(len(lines), 1)], dim=1)
        self._positions = self._positions + 1
        self._logits = self._forward(lines)

    def _forward(self, tokens: Tensor) -> Tensor:
        """Logits of the token after the last one, (lines, V) in float32; tokens that are not text get none."""
        arguments = {"position_ids": self._positions, "logits_to_keep": 1}
        known = {name: value for name, value in arguments.items() if name in self._generator.arguments}
        output = self._generator.model(
            tokens, attention_mask=self._mask, past_key_values=self._cache, use_cache=True, **known
        )
        logits: Tensor = output.logits[:, -1].float()  # (lines, 1, V) -> (lines, V)
        # A logit of minus infinity is a probability of 0 under every prompt, so debiasing leaves it at 0.
        return logits.masked_fill(self._generator.barred, -torch.inf)
