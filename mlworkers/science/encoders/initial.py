"""A small encoder with random weights, and a tokenizer learned from the sentences that it is to encode."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tokenizers import processors
from transformers import BertConfig, BertModel

from mlworkers.plans.fields import HEAD_WIDTH
from mlworkers.science.encoders.initial_plan import InitialEncoderPlan
from mlworkers.science.pretrained.learned_tokenizer import tokenizer_learned
from mlworkers.science.pretrained.loading import quiet_transformers

FIRST, LAST = "[CLS]", "[SEP]"
SPECIAL = {"pad_token": "[PAD]", "cls_token": FIRST, "sep_token": LAST}
FEED_FORWARD = 4  # times the width, as in BERT


class InitialEncoder(NamedTuple):
    parameters: int
    tokens: int  # of its tokenizer


def encoder_initialised(texts: Iterable[str], plan: InitialEncoderPlan, folder: Path) -> InitialEncoder:
    """Write a BERT with random weights as safetensors, and its tokenizer, into `folder`.

    Both follow from the texts, their order and the plan alone.
    """
    tokenizer = tokenizer_learned(
        texts, vocabulary=plan.vocabulary, longest=plan.context, special=SPECIAL, lower=True
    )
    marks = [(name, tokenizer.convert_tokens_to_ids(name)) for name in (FIRST, LAST)]
    around = processors.TemplateProcessing(
        single=f"{FIRST} $A {LAST}",
        pair=f"{FIRST} $A {LAST} $B:1 {LAST}:1",  # for a labeller, which reads both sentences of a pair
        special_tokens=marks,
    )
    tokenizer.backend_tokenizer.post_processor = around
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=plan.width,
        num_hidden_layers=plan.layers,
        num_attention_heads=plan.width // HEAD_WIDTH,  # each head has the same width
        intermediate_size=FEED_FORWARD * plan.width,  # a layer has about 12 · width² weights
        max_position_embeddings=plan.context,  # learned positions: longer input is impossible
        pad_token_id=tokenizer.pad_token_id,
    )
    # The weights come from a stream of their own: the caller's random numbers go on as if none were drawn.
    with torch.random.fork_rng(), quiet_transformers():
        torch.manual_seed(plan.seed)
        model: Any = BertModel(config)
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return InitialEncoder(sum(weight.numel() for weight in model.parameters()), len(tokenizer))
