"""Causal models of two random layers, with a tokenizer made on the spot: without a pad token, as GPT-2's."""

from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    BloomConfig,
    Gemma2Config,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    OPTConfig,
    PreTrainedConfig,
    PreTrainedTokenizerFast,
)

from mlworkers.science.pretrained.learned_tokenizer import tokenizer_learned
from mlworkers.science.synthesis.generator import Generator, generator_of

TEXTS = [
    'Task: Write two sentences that mean the same thing.\nSentence 1: "A dog runs."\nSentence 2: "A hound runs."',
    'A man is singing in the park. Two women are playing with a dog on the grass."\n',
]
CONTEXT = 128
SIZES: dict[type[PreTrainedConfig], dict[str, Any]] = {
    GPT2Config: {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": CONTEXT},
    OPTConfig: {
        "hidden_size": 32,
        "ffn_dim": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "word_embed_proj_dim": 32,
        "max_position_embeddings": CONTEXT,
        "init_std": 0.3,
        "pad_token_id": None,
    },
    LlamaConfig: {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
    },
    GPTNeoXConfig: {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    },
    BloomConfig: {"hidden_size": 32, "n_layer": 2, "n_head": 2},
    Gemma2Config: {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "sliding_window": 8,
        "pad_token_id": None,
    },
}
KINDS = list(SIZES)


def tiny_byte_pairs() -> PreTrainedTokenizerFast:
    return tokenizer_learned(TEXTS * 3, vocabulary=320, longest=CONTEXT)


def tiny_generator(kind: type[PreTrainedConfig] = GPT2Config, *, seed: int = 7) -> Generator:
    """Large random weights, so that different texts get clearly different logits."""
    tokenizer = tiny_byte_pairs()
    config = kind(
        **{"initializer_range": 0.3, "bos_token_id": 0, "eos_token_id": 0} | SIZES[kind],
        vocab_size=len(tokenizer),
    )
    torch.manual_seed(seed)
    return generator_of(AutoModelForCausalLM.from_config(config), tokenizer)
