"""Loading a causal language model safely, and what decoding must know of its vocabulary."""

import inspect
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from jinja2 import TemplateError
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from mlworkers.science.pretrained.compute import Compute
from mlworkers.science.pretrained.loading import (
    LOADING_FAILS,
    check_loaded,
    loading_failed,
    quiet_transformers,
)
from mlworkers.science.pretrained.sources import ModelError, causal_problem, check_folder
from mlworkers.science.synthesis.prompts import QUOTE

_PLACE = "PLACE-OF-THE-MESSAGE"  # in a chat template
_NO_LIMIT = 1_000_000  # what tokenizers say instead of a longest text is far beyond
ENDING = (QUOTE, "\n")  # a quote ends the sentence; one with a line break is dropped, whatever follows


class PromptTooLongError(ValueError):
    """A source sentence that does not fit into the model's context."""


@dataclass(frozen=True)
class Generator:
    """A causal model with its tokenizer.

    ends: (V,), whether a token's text holds a quote or a line break.
    barred: (V,), tokens that are not text.
    context: the tokens that the model takes at most, None where it has no limit.
    arguments: what its forward takes.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    ends: Tensor
    barred: Tensor
    context: int | None
    arguments: frozenset[str]

    @property
    def device(self) -> torch.device:
        return self.ends.device

    def prompt_tokens(self, prompt: str, *, room: int) -> list[int]:
        """The prompt as tokens. Raises PromptTooLongError where `room` more would not fit into the context."""
        tokens: list[int] = self.tokenizer(prompt, verbose=False)["input_ids"]
        if len(tokens) > 1 and tokens[-1] == self.tokenizer.eos_token_id:
            tokens.pop()  # some tokenizers end every text
        self._check_room(prompt, tokens, room)
        return tokens

    def chat_tokens(self, message: str, *, room: int, opening: str = QUOTE) -> list[int]:
        """A user's message in the model's chat template, and what opens its answer, as tokens.

        What the message holds is text, also where it looks like a token of the template. Raises ModelError where the
        model has no such template, PromptTooLongError as `prompt_tokens`.
        """
        before, after = self._template
        tokens = [
            *self._tokens(before, split=False),
            *self._tokens(message, split=True),
            *self._tokens(after + opening, split=False),
        ]
        self._check_room(message, tokens, room)
        return tokens

    def plain_tokens(self, text: str) -> list[int]:
        """A text as tokens, with none before or after it."""
        return self._tokens(text, split=True)

    def _tokens(self, text: str, *, split: bool) -> list[int]:
        """split: whether what looks like one of the model's marks is text."""
        tokens: list[int] = self.tokenizer(
            text, add_special_tokens=False, split_special_tokens=split, verbose=False
        )["input_ids"]
        return tokens

    @cached_property
    def _template(self) -> tuple[str, str]:
        """What stands before and after a user's message that the model is to answer."""
        if not self.tokenizer.chat_template:
            raise ModelError(
                "The model has no chat template; switch “Chat template” off, or take a model that was made for chats."
            )
        chat = [{"role": "user", "content": _PLACE}]
        try:
            text = self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        except (TemplateError, TypeError, ValueError) as error:
            raise ModelError(f"The model's chat template fails: {error}; take another model.") from error
        before, found, after = str(text).partition(_PLACE)
        if not found or _PLACE in after:  # it must be there once
            raise ModelError(
                "The model's chat template does not hold a message as it is; take another model."
            )
        return before, after

    def _check_room(self, prompt: str, tokens: list[int], room: int) -> None:
        # The answer's tokens take places of the context too.
        if self.context is not None and len(tokens) + room > self.context:
            spaced = " ".join(prompt.split())
            shortened = spaced if len(spaced) <= 80 else f"{spaced[:80]}…"
            raise PromptTooLongError(
                f"“{shortened}” has {len(tokens)} tokens, and with {room} for the answer they exceed the "
                f"model's context of {self.context}; leave the sentence out, or take a model with a longer context."
            )

    def text(self, tokens: list[int]) -> str:
        written = self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return str(written)


def load_generator(folder: Path, compute: Compute) -> Generator:
    """The causal language model in a folder: safetensors alone, and no code from the folder.

    Raises ModelError where the folder holds something else, or lacks weights or tokenizer.
    """
    _check_causal(check_folder(folder))
    with quiet_transformers():
        try:
            loaded: Any = AutoModelForCausalLM.from_pretrained(
                folder,
                dtype=compute.dtype,  # logits are brought to float32 when they are read
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
            check_loaded(loaded[0].state_dict().keys(), loaded[1])
            model = loaded[0].to(compute.device)
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except LOADING_FAILS as error:
            raise loading_failed(folder, error) from error
    return generator_of(model, tokenizer)


def generator_of(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Generator:
    """A loaded model, ready to decode. Raises ModelError where model and tokenizer do not belong together."""
    arguments = frozenset(inspect.signature(model.forward).parameters)
    if "past_key_values" not in arguments:
        raise ModelError(
            f"{type(model).__name__} keeps no keys and values of earlier tokens; name a transformer that does."
        )
    untyped: Any = model.eval()
    size = untyped.get_output_embeddings().weight.shape[0]
    known = len(tokenizer)
    if known > size or set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        raise ModelError(
            f"The tokenizer knows {known} tokens and the model {size}; they do not belong together, or the "
            "tokenizer's files are missing."
        )
    # (V,) texts of single tokens.
    texts = tokenizer.batch_decode([[token] for token in range(known)], clean_up_tokenization_spaces=False)
    # (V,): the rows of the output layer may be more than the tokens of the tokenizer; the rest have no text.
    ends = [any(ending in text for ending in ENDING) for text in texts] + [False] * (size - known)
    # A row ends with a quote or a line break, and never with the model's own end token, which is barred with
    # all other marks.
    barred = torch.zeros(size, dtype=torch.bool)  # (V,)
    config, device = model.config.get_text_config(), model.device
    end = config.eos_token_id
    end_tokens = [] if end is None else [end] if isinstance(end, int) else list(end)
    marks = (token for token, mark in tokenizer.added_tokens_decoder.items() if mark.special)  # named or not
    barred[[*tokenizer.all_special_ids, *marks, *end_tokens, *range(known, size)]] = True
    # The shorter of what the positions and the tokenizer allow; models of relative positions have no limit.
    limits = (getattr(config, "max_position_embeddings", None), tokenizer.model_max_length)
    context = min((limit for limit in limits if limit is not None and limit < _NO_LIMIT), default=None)
    return Generator(model, tokenizer, torch.tensor(ends).to(device), barred.to(device), context, arguments)


def _check_causal(folder: Path) -> None:
    try:
        problem = causal_problem(folder)
    except (OSError, ValueError) as error:
        raise loading_failed(folder, error) from error
    if problem:
        raise ModelError(problem)
