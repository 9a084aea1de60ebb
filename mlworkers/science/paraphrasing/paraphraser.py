"""A paraphraser: an encoder-decoder that reads two tags before a sentence (ConPGS, section 3.4).

Its input is the text "<SIM95> <BLEU0_5> source", as that of the released model, so that `transformers` can use it.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tokenizers import AddedToken, processors
from transformers import BartConfig, BartForConditionalGeneration

from curation.files.json_text import json_from
from mlworkers.plans.fields import HEAD_WIDTH
from mlworkers.science.paraphrasing.paraphraser_plan import ParaphraserPlan
from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.pretrained.compute import Compute
from mlworkers.science.pretrained.encoder_decoder import load_encoder_decoder
from mlworkers.science.pretrained.learned_tokenizer import tokenizer_learned
from mlworkers.science.pretrained.loading import LOADING_FAILS, quiet_transformers
from mlworkers.science.pretrained.sources import ModelError

_ABOUT = "paraphraser.json"
# In this order their numbers are those that BART expects: 0, 1 and 2.
_SPECIAL = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>"}
_FEED_FORWARD = 4  # times the width
_NO_LIMIT = 1_000_000
_WAVES = 10_000.0  # Vaswani et al. 2017
_OTHERWISE = "name one such as facebook/bart-base, or leave the base model empty"


class Target(NamedTuple):
    """Names of a tag of similarity and a tag of BLEU, such as SIM95 and BLEU0_5."""

    similarity: str
    lexical: str


class TaggedPair(NamedTuple):
    source: str
    paraphrase: str
    target: Target


class SourceError(ValueError):
    """A sentence that cannot be paraphrased, or tags that the model does not know. One sentence."""


@dataclass(frozen=True)
class Paraphraser:
    """An encoder-decoder whose tokenizer knows the tags of `bounds`."""

    model: Any
    tokenizer: Any
    bounds: TagBounds
    compute: Compute

    @cached_property
    def context(self) -> int:
        """The most tokens of an input, tags and marks included."""
        config = self.model.config
        limits = (getattr(config, "max_position_embeddings", None), self.tokenizer.model_max_length)
        return min(limit or _NO_LIMIT for limit in limits)  # BART has 1,024

    @cached_property
    def marks(self) -> int:
        """How many tokens the tokenizer puts around a sentence."""
        return int(self.tokenizer.num_special_tokens_to_add())  # 2 of BART, <s> and </s>; 1 of T5

    @cached_property
    def first_mark(self) -> int | None:
        """The token that the tokenizer puts before a sentence; None where it puts none there."""
        first = self.sentence_tokens("a")[0]
        return first if self.marks > 1 and first == self.tokenizer.bos_token_id else None

    def input_tokens(self, source: str, target: Target) -> list[int]:
        """The tags and the sentence, as the model reads them."""
        return list(self.tokenizer(tagged_text(source, target), verbose=False)["input_ids"])

    def sentence_tokens(self, text: str) -> list[int]:
        """The sentence alone, with the tokenizer's marks around it."""
        return list(self.tokenizer(text_target=text, verbose=False)["input_ids"])

    def check_target(self, target: Target) -> None:
        """Raises SourceError, which lists the pairs of tags, for one that the model does not know."""
        try:
            self.bounds.check_pair(*target)
        except ValueError as error:
            raise SourceError(str(error)) from error

    def check_source(self, source: str) -> None:
        """Raises SourceError for a sentence that is empty, has one word, or does not fit into the context."""
        count = len(source.split())
        if count < 2:
            shown = f"“{source.strip()}” has one word" if count else "The sentence is empty"
            raise SourceError(f"{shown}; a paraphrase needs a sentence of two words or more.")
        tokens = len(self.input_tokens(source, self.any_target))  # any tags: each is one token
        if tokens > self.context:
            raise SourceError(
                f"The sentence has {tokens:,} tokens with its tags; the model takes {self.context:,}. Shorten it."
            )

    @property
    def any_target(self) -> Target:
        return Target(self.bounds.similarity[-1].name, self.bounds.lexical[0].name)

    def save(self, folder: Path) -> None:
        """As `transformers` loads it, with the bounds of its tags beside it."""
        with quiet_transformers():
            self.model.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)
        (folder / _ABOUT).write_text(json.dumps({"tags": self.bounds.as_dict()}), encoding="utf-8")


def tagged_text(source: str, target: Target) -> str:
    return f"<{target.similarity}> <{target.lexical}> {source}"


def tag_tokens(bounds: TagBounds) -> list[str]:
    """The text of each tag's token: with the paper's bounds <SIM70> to <BLEU40>, 14 of them."""
    return [f"<{tag.name}>" for tag in (*bounds.similarity, *bounds.lexical)]


def load_paraphraser(folder: Path, compute: Compute) -> Paraphraser:
    """The paraphraser in a folder. Without a file of bounds its tags must be the paper's. Raises ModelError."""
    model, tokenizer = load_encoder_decoder(folder, otherwise=_OTHERWISE)
    try:
        bounds = TagBounds(**json_from((folder / _ABOUT).read_text("utf-8"))["tags"])
    except FileNotFoundError:
        bounds = TagBounds()
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError(f"{folder / _ABOUT} does not hold the bounds of tags.") from error
    unknown = [tag for tag in tag_tokens(bounds) if tag not in tokenizer.get_vocab()]
    if unknown:
        raise ModelError(
            f"The model in {folder} knows no tag {unknown[0]}; train it with “Train a paraphraser”."
        )
    return Paraphraser(model.to(compute.device).eval(), tokenizer, bounds, compute)


def paraphraser_further(folder: Path, bounds: TagBounds, compute: Compute) -> Paraphraser:
    """The base model in a folder with the tags added: the rows of new tags are the mean of all rows.

    Raises ModelError where it is not an encoder-decoder, or its decoder cannot take new tokens.
    """
    model, tokenizer = load_encoder_decoder(folder, otherwise=_OTHERWISE)
    tags = [tag for tag in tag_tokens(bounds) if tag not in tokenizer.get_vocab()]
    if tags:
        with quiet_transformers():
            try:
                known = len(tokenizer)
                _tags_add(tokenizer, tags)
                rows = model.get_input_embeddings().weight.shape[0]  # may be more than tokens: padded tables
                if len(tokenizer) > rows:
                    # New rows are set below.
                    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)

                # Set the rows first … last - 1 of the embeddings to the mean of those before. Raises ValueError
                # where the encoder and the decoder have tables of different sizes.
                last = len(tokenizer)
                tables = [model.get_input_embeddings().weight]
                output = model.get_output_embeddings()
                if output is not None and output.weight is not tables[0]:
                    tables.append(output.weight)
                decoder = model.get_decoder().get_input_embeddings().weight
                if any(len(table) < last for table in (*tables, decoder)):
                    raise ValueError("the tables differ in size")
                with torch.no_grad():
                    for table in tables:
                        # In the output table, a new token's logit is then the mean of the old logits, so that
                        # it starts out neither likely nor impossible.
                        table[known:last] = table[:known].mean(0)  # (V, d) -> (d,), for every new row
            except (*LOADING_FAILS, NotImplementedError, AttributeError) as error:
                raise ModelError(
                    f"The decoder of the model in {folder} cannot take new tokens; choose one whose encoder and "
                    "decoder share their vocabulary, such as BART or T5."
                ) from error
    return Paraphraser(model.to(compute.device), tokenizer, bounds, compute)


def paraphraser_initialised(
    texts: Sequence[str], bounds: TagBounds, plan: ParaphraserPlan, compute: Compute
) -> Paraphraser:
    """A small BART with random weights; its tokenizer is learned from the texts. Both follow from texts and plan."""
    tokenizer = tokenizer_learned(texts, vocabulary=plan.vocabulary, longest=plan.context, special=_SPECIAL)
    marks = [(name, tokenizer.convert_tokens_to_ids(name)) for name in ("<s>", "</s>")]
    # As BART's tokenizer: two marks.
    around = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=marks)
    tokenizer.backend_tokenizer.post_processor = around
    _tags_add(tokenizer, tag_tokens(bounds))
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=plan.width,
        encoder_layers=plan.layers,
        decoder_layers=plan.layers,
        encoder_attention_heads=plan.width // HEAD_WIDTH,
        decoder_attention_heads=plan.width // HEAD_WIDTH,
        encoder_ffn_dim=_FEED_FORWARD * plan.width,
        decoder_ffn_dim=_FEED_FORWARD * plan.width,
        max_position_embeddings=plan.context,
        bos_token_id=tokenizer.bos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.eos_token_id,
        forced_eos_token_id=tokenizer.eos_token_id,
    )
    with torch.random.fork_rng(), quiet_transformers():
        torch.manual_seed(plan.seed)
        model: Any = BartForConditionalGeneration(config)  # weights N(0, init_std²)
    # The positions of the encoder and of the decoder begin as waves (Vaswani et al. 2017).
    for part in (model.get_encoder(), model.get_decoder()):
        table = part.embed_positions.weight
        places, width = table.shape
        # Wave i has the angular rate 10000^(-2i / width); sines and cosines alternate, as in the paper.
        rates = torch.exp(torch.arange(0, width, 2) * (-math.log(_WAVES) / width))
        angles = torch.arange(places)[:, None] * rates  # (places, width / 2)
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(places, width)
        with torch.no_grad():
            table.copy_(
                waves * (model.config.init_std * math.sqrt(2))
            )  # a wave of height 1 has a spread of √½
    return Paraphraser(model.to(compute.device), tokenizer, bounds, compute)


def _tags_add(tokenizer: Any, tags: Sequence[str]) -> None:
    # The space after a tag belongs to it, so that the sentence is divided as it would be without tags.
    added = [AddedToken(tag, rstrip=True, normalized=False, special=True) for tag in tags]
    tokenizer.add_tokens(added, special_tokens=True)
