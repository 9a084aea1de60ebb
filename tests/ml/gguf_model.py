"""A small Llama in one GGUF file, written with the format's own library, and the same model in transformers."""

from pathlib import Path

import gguf
import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers.pre_tokenizers import ByteLevel
from transformers import LlamaConfig, LlamaForCausalLM

HEADS, KEY_HEADS, WIDTH, LAYERS = 4, 2, 64, 2
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<repo_name>"]
VOCABULARY = [*MARKS, *sorted(ByteLevel.alphabet()), "th", "the", "Ġthe"]
MERGES = ["t h", "th e", "Ġ the"]
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def llama() -> LlamaForCausalLM:
    torch.manual_seed(3)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(VOCABULARY),
            hidden_size=WIDTH,
            intermediate_size=128,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            num_key_value_heads=KEY_HEADS,
            max_position_embeddings=1024,
            rms_norm_eps=1e-5,
            tie_word_embeddings=True,
            initializer_range=0.2,
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        )
    ).eval()


def gguf_write(
    file: Path,
    model: LlamaForCausalLM,
    *,
    architecture: str = "llama",
    four_bits: bool = False,
    chat: str = CHAT,
) -> Path:
    """four_bits: the matrices in blocks of 32 numbers of four bits (Q4_0)."""
    writer = gguf.GGUFWriter(file, architecture)
    writer.add_context_length(1024)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(128)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(VOCABULARY))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(VOCABULARY)
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_token_types([control if token in MARKS else normal for token in VOCABULARY])
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    if chat:
        writer.add_chat_template(chat)
    for name, weights in model.state_dict().items():
        if name != "lm_head.weight":  # that of the embeddings
            _tensor_add(writer, _name_of(name), _rotated(name, weights.numpy()), four_bits=four_bits)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _tensor_add(writer: gguf.GGUFWriter, name: str, weights: NDArray[np.float32], *, four_bits: bool) -> None:
    if not four_bits or weights.ndim == 1:
        writer.add_tensor(name, weights)
        return
    kind = gguf.GGMLQuantizationType.Q4_0
    writer.add_tensor(name, gguf.quantize(weights, kind), raw_dtype=kind)


def _name_of(name: str) -> str:
    whole = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
    if name in whole:
        return whole[name]
    _model, _layers, layer, *rest = name.removesuffix(".weight").split(".")
    return f"blk.{layer}.{_NAMES['.'.join(rest)]}.weight"


def _rotated(name: str, weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of queries and keys as llama.cpp keeps them: the halves that rotate together lie beside each other."""
    heads = {"q_proj": HEADS, "k_proj": KEY_HEADS}.get(name.split(".")[-2])
    if heads is None:
        return weights
    # (heads, 2, d / 2, in) -> (heads, d / 2, 2, in)
    halves = weights.reshape(heads, 2, weights.shape[0] // heads // 2, weights.shape[1])
    return halves.swapaxes(1, 2).reshape(weights.shape).copy()
