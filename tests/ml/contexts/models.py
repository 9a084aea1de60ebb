"""Tiny models with random weights, of every kind that can be asked."""

from typing import Any

import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    T5Config,
    T5ForConditionalGeneration,
)

from mlworkers.science.contexts.gaps import Form, LeftToRight
from mlworkers.science.contexts.language_model import ContextModel, context_model_of
from mlworkers.science.pretrained.compute import Compute
from mlworkers.science.pretrained.learned_tokenizer import tokenizer_learned

COMPUTE = Compute(torch.device("cpu"), torch.float32, 96, 2)
SPECIAL = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "mask_token": "<mask>"}
TEXTS = ["The dog came to the garden and slept.", "A cat likes the quiet kitchen very much."] * 4


def tokenizer_of(**special: str) -> Any:
    return tokenizer_learned(TEXTS, vocabulary=320, longest=128, special=special)


def bart(form: Form, *, part_tokens: int = 30) -> ContextModel:
    tokenizer = tokenizer_of(**SPECIAL)
    torch.manual_seed(1)
    model = BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(tokenizer),
            d_model=32,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            max_position_embeddings=128,
            bos_token_id=0,
            pad_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=2,
            init_std=0.3,
        )
    )
    return context_model_of(model.eval(), tokenizer, form, COMPUTE, part_tokens=part_tokens, about="bart")


def t5() -> ContextModel:
    tokenizer = tokenizer_of(pad_token="<pad>", eos_token="</s>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<extra_id_0>"]})
    torch.manual_seed(2)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=16,
        d_ff=64,
        num_layers=1,
        num_heads=2,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    model = T5ForConditionalGeneration(config)
    return context_model_of(model.eval(), tokenizer, Form.SENTINEL, COMPUTE, part_tokens=30, about="t5")


def gpt2(*, begins: bool = True) -> ContextModel:
    tokenizer = tokenizer_of(eos_token="</s>")
    torch.manual_seed(3)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_embd=32,
        n_layer=1,
        n_head=2,
        n_positions=128,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = GPT2LMHeadModel(config)
    asking = LeftToRight((0,) if begins else ())
    return ContextModel(model.eval(), tokenizer, asking, COMPUTE, 128, 30, "gpt2")
