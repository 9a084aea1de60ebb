"""A language model that says how well sentences fit into contexts, in nats per token."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from transformers.modeling_outputs import BaseModelOutput

from curation.files.json_text import json_from
from mlworkers.science.contexts.gaps import (
    LEAST_PART,
    Form,
    Infilling,
    LeftToRight,
    Question,
    Row,
    Tokens,
    parts_cut,
)
from mlworkers.science.contexts.kept_values import KEY_BYTES
from mlworkers.science.pretrained.compute import Compute, Fitting
from mlworkers.science.pretrained.encoder_decoder import is_encoder_decoder, load_encoder_decoder
from mlworkers.science.pretrained.sources import ModelError
from mlworkers.science.synthesis.generator import load_generator

ABOUT = "context_model.json"  # beside a model that is trained here
MASK = "<mask>"
_OTHERWISE = "name one such as facebook/bart-base, or a causal model"
_WHOLE = ("bart", "mbart")  # kinds of model that write the whole text
_IGNORED = -100
_NO_LIMIT = 1_000_000


@dataclass(frozen=True)
class ContextModel:
    """A language model, and how it is asked. about: what its answers follow from, beside the questions.

    context: the most tokens that it takes. part_tokens: the most of each of the three parts of a text. fitting: what
    remembers how much fits into memory.
    """

    model: Any
    tokenizer: Any
    asking: Infilling | LeftToRight
    compute: Compute
    context: int
    part_tokens: int
    about: str = ""
    fitting: Fitting = field(default_factory=Fitting, repr=False, compare=False)

    @property
    def terms(self) -> tuple[str, ...]:
        return self.asking.terms

    @cached_property
    def pad(self) -> int:
        return int(self.tokenizer.pad_token_id or 0)

    @cached_property
    def room(self) -> int:
        """The most tokens of each part of a text. Raises ModelError where that is next to nothing."""
        # The three parts (left, sentence, right) get equal room, whichever is to be written.
        room = min(self.part_tokens, (self.context - self.asking.marks) // 3)
        if room < LEAST_PART:
            raise ModelError(
                f"The model takes {self.context} tokens, too few for a sentence in a context; choose another model."
            )
        return room

    def tokens(self, text: str) -> list[int]:
        """Of a part of a text, which continues the part before it."""
        if not text:
            return []
        found: list[int] = self.tokenizer(f" {text}", add_special_tokens=False, verbose=False)["input_ids"]
        return found

    def fits(self, sentence: str) -> bool:
        """Whether a sentence has no more tokens than a part may have; it is never cut."""
        return len(self.tokens(sentence)) <= self.room

    def rows(self, questions: Sequence[Question]) -> list[list[Row]]:
        """The passes that each question needs. Contexts are cut to `room` on both sides, sentences never."""
        known: dict[str, list[int]] = {}

        def tokens(text: str) -> list[int]:
            if text not in known:
                known[text] = self.tokens(text)
            return known[text]

        rows = []
        for sentence, context in questions:
            left, right = parts_cut(
                tokens(" ".join(context.left)), tokens(" ".join(context.right)), most=self.room
            )
            # 3 rows for gaps, 1 from left to right.
            rows.append(self.asking.rows(left, tuple(tokens(sentence)), right))
        return rows

    def key(self, row: Row) -> bytes:
        """The hash of all that a pass's numbers follow from."""
        told = repr((self.about, row.read, row.before, row.writes)).encode()
        # 128 bits: n keys collide with chance n² / 2^129.
        return blake2b(told, digest_size=KEY_BYTES).digest()

    def values(self, rows: Sequence[Row]) -> NDArray[np.float64]:
        """The mean log-probability of a token of each run that is to be written, in nats, (b, 2); the second is NaN
        where a row has one run alone.

        A run without tokens, such as what is after the last sentence of a text, has 0 whatever the sentence. A run
        whose one token begins a text has NaN (not known) from a model without a token that begins texts.
        Rows that read the same share one pass of the encoder. What is in a batch changes the last bits, so that they
        differ where memory was too short for all rows at once.
        """
        return self.fitting.values(self._values, rows)

    @torch.inference_mode()
    def _values(self, rows: Sequence[Row]) -> NDArray[np.float64]:
        if isinstance(self.asking, Infilling):
            return self._infilled(rows)
        given, wanted, mask = self._decoded(rows, shifted=False)
        logits = self.model(input_ids=given, attention_mask=mask, use_cache=False).logits
        return self._means(rows, logits, wanted)

    def _infilled(self, rows: Sequence[Row]) -> NDArray[np.float64]:
        places: dict[Tokens, int] = {}
        of_row = [places.setdefault(row.read, len(places)) for row in rows]
        read, mask = self._padded(list(places))  # (distinct, t)
        # (distinct, t, d).
        encoded = self.model.get_encoder()(input_ids=read, attention_mask=mask).last_hidden_state
        chosen = torch.tensor(of_row, device=encoded.device)
        given, wanted, decoder_mask = self._decoded(rows, shifted=True)
        logits = self.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=encoded[chosen]),
            attention_mask=mask[chosen],  # each row attends to its own input, (b, t)
            decoder_input_ids=given,
            decoder_attention_mask=decoder_mask,
            use_cache=False,
        ).logits  # (b, u, V)
        return self._means(rows, logits, wanted)

    def _padded(self, rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Tokens and mask, padded at the end, (b, t) each."""
        device = self.compute.device
        tokens = pad_sequence([torch.tensor(row, dtype=torch.long) for row in rows], True, self.pad)
        lengths = torch.tensor([len(row) for row in rows])
        mask = torch.arange(tokens.shape[1]) < lengths[:, None]  # (t,) < (b, 1) -> (b, t)
        return tokens.to(device), mask.long().to(device)

    def _decoded(self, rows: Sequence[Row], *, shifted: bool) -> tuple[Tensor, Tensor, Tensor]:
        """What the decoder is given (b, u), the token that it is to write at each place (b, u), and the mask (b, u).

        shifted: the decoder's first token is given, and every row has one; else a row without any begins with its
        first token, which then counts nothing.
        """
        # Teacher forcing: the logits at place t are of token t + 1. The input is all tokens but the last, and
        # the target all but the first; the targets within `before` are ignored.
        whole = [[*row.before, *(token for run in row.writes for token in run)] for row in rows]
        skipped = [len(row.before) - 1 for row in rows]
        wanted = [
            torch.tensor([_IGNORED] * max(skip, 0) + tokens[max(skip, 0) + 1 :])
            for tokens, skip in zip(whole, skipped, strict=True)
        ]
        given, mask = self._padded([tokens[:-1] for tokens in whole])  # (b, u) each: all tokens but the last
        return given, pad_sequence(wanted, True, _IGNORED).to(self.compute.device), mask

    def _means(self, rows: Sequence[Row], logits: Tensor, wanted: Tensor) -> NDArray[np.float64]:
        # Only logits with a target are converted to float32: (targets, V) instead of (b, u, V).
        learned = wanted != _IGNORED
        losses = torch.zeros(wanted.shape, dtype=torch.float64)  # (b, u); double, because prefix sums cancel
        losses[learned.cpu()] = (
            cross_entropy(logits[learned].float(), wanted[learned], reduction="none").double().cpu()
        )
        # With prefix sums, (b, u + 1), the loss of the places start … end - 1 is sums[end] - sums[start].
        sums = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(losses.numpy(), axis=1)], axis=1)
        found = np.full((len(rows), 2), np.nan)
        for place, row in enumerate(rows):
            # The first token of the first run is predicted at the last place of `before`. Where there is no
            # such place, start is -1 and the first token is not counted.
            start = len(row.before) - 1
            for number, run in enumerate(row.writes):
                end = start + len(run)
                counted = end - max(start, 0)
                total = sums[place, end] - sums[place, max(start, 0)]
                # The mean log p of a token of the run: (1 / |run|) Σ log p(token | what is before it), as in
                # Eq. 3. An empty run adds the same 0 to every sentence; a token without a probability is no 0.
                if counted or not run:
                    found[place, number] = -total / max(counted, 1)
                start = end
        return found


def load_context_model(folder: Path, compute: Compute, *, part_tokens: int, about: str = "") -> ContextModel:
    """The model in a folder: one trained here, an encoder-decoder with a mask token such as BART's or T5's, or a causal
    model. Raises ModelError.
    """
    if not is_encoder_decoder(folder):
        generator = load_generator(folder, compute)
        tokenizer: Any = generator.tokenizer
        # GPT-2's <|endoftext|> is both.
        begins = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        # Without any, the first token of a text has no probability.
        asking = LeftToRight(() if begins is None else (int(begins),))
        return ContextModel(
            generator.model, tokenizer, asking, compute, generator.context or _NO_LIMIT, part_tokens, about
        )
    model, tokenizer = load_encoder_decoder(folder, otherwise=_OTHERWISE)
    form = _form(folder, model, tokenizer)
    return context_model_of(
        model.to(compute.device).eval(), tokenizer, form, compute, part_tokens=part_tokens, about=about
    )


def context_model_of(
    model: Any, tokenizer: Any, form: Form, compute: Compute, *, part_tokens: int, about: str = ""
) -> ContextModel:
    """A loaded encoder-decoder, ready to be asked."""
    starts: Tokens = (int(model.config.decoder_start_token_id),)
    begins: Tokens = ()
    mask = tokenizer.mask_token_id
    if form is Form.SENTINEL:
        mask = tokenizer.convert_tokens_to_ids("<extra_id_0>")
        starts += (int(mask),)  # T5 writes “<extra_id_0> missing text”
    elif tokenizer.bos_token_id is not None:
        begins = (int(tokenizer.bos_token_id),)
        starts += begins if form is Form.WHOLE else ()  # BART writes “</s><s> whole text”
    ends = () if tokenizer.eos_token_id is None else (int(tokenizer.eos_token_id),)
    limits = (getattr(model.config, "max_position_embeddings", None), tokenizer.model_max_length)
    context = min(limit or _NO_LIMIT for limit in limits)  # T5's configuration names none
    asking = Infilling(form, (int(mask),), begins, ends, starts)
    return ContextModel(model, tokenizer, asking, compute, context, part_tokens, about)


def about_save(folder: Path, *, language: str, informs: bool) -> None:
    """Note beside a model that it writes what is missing alone, the language of the text that it learned from, and
    whether it is better than frequencies of tokens.
    """
    told = {"form": Form.GAP.value, "language": language, "informs": informs}
    (folder / ABOUT).write_text(json.dumps(told), encoding="utf-8")


class Told(NamedTuple):
    """What a model trained here says of itself; language is "" and informs None for others."""

    language: str = ""
    informs: bool | None = None


def told_by(folder: Path) -> Told:
    """What the note in a model's folder says; `Told()` where there is no note, or one that cannot be read."""
    try:
        told = json_from((folder / ABOUT).read_text("utf-8"))
        return Told(str(told.get("language", "")), told.get("informs"))
    except (OSError, ValueError, AttributeError):
        return Told()


def _form(folder: Path, model: Any, tokenizer: Any) -> Form:
    """Raises ModelError for a model without a mask token."""
    try:
        return Form(json_from((folder / ABOUT).read_text("utf-8"))["form"])
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{folder / ABOUT} does not say what the model writes.") from error
    if "<extra_id_0>" in tokenizer.get_vocab():
        return Form.SENTINEL
    if tokenizer.mask_token_id is None:
        raise ModelError(
            f"The model in {folder} has no mask token, so it cannot be asked what is missing in a text; {_OTHERWISE}."
        )
    return Form.WHOLE if model.config.model_type in _WHOLE else Form.GAP
