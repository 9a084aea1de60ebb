"""A chat model whose answers follow from its chat template alone: a Markov chain, written as the weights of a Llama.

Its embeddings are one-hot, its attention and feed-forward layers add nothing, and its last layer holds the logarithms
of the chain, so each token is drawn by the token before it alone. The first one is drawn by the last mark of the
template; a server that does not use the template gets the answer `UNTEMPLATED`.
"""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

UNTEMPLATED = "The chat template was not used."
_UNKNOWN, _END, _SAME, _OTHER = "[UNK]", "<|end|>", "<|same|>", "<|other|>"
_CONTEXT = 512
_TEMPLATE = (
    "{% for message in messages %}{{ message.role }} {{ message.content }} {% endfor %}"
    "{% if add_generation_prompt and messages[-1].role == 'user' %}"
    "{% if 'mean the same thing' in messages[-1].content %}" + _SAME + "{% else %}" + _OTHER + "{% endif %}"
    "{% endif %}"
)


def _answers(begin: str, verbs: str, places: str) -> dict[str, list[str]]:
    """The chain of the answers that begin so: each token with those that may follow it."""
    verb, place, end = (
        [f" {each}" for each in verbs.split()],
        [f" {each}." for each in places.split()],
        '"}',
    )
    return {begin: verb, **dict.fromkeys(verb, place), **{each: [end] for each in place}, end: [_END]}


_CHAIN = {
    _UNKNOWN: [UNTEMPLATED],
    UNTEMPLATED: [_END],
    _END: [_END],
    _SAME: ['{"sentence": "A dog'],
    _OTHER: ['{"sentence": "A train'],
    **_answers('{"sentence": "A dog', "barks runs sits sleeps swims", "alone inside outside"),
    **_answers('{"sentence": "A train', "arrives leaves moves stops turns", "late slowly today"),
}


def chat_model_write(folder: Path) -> Path:
    """Asked for the same meaning, the model writes of a dog, otherwise of a train, as the JSON that we ask for."""
    places = {token: place for place, token in enumerate(_CHAIN)}
    _tokenizer(places).save_pretrained(folder)
    count, end = len(places), places[_END]
    config = LlamaConfig(
        vocab_size=count,
        hidden_size=32 * -(-count // 32),
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=_CONTEXT,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
    )
    model = LlamaForCausalLM(config)
    model.generation_config.do_sample = (
        True  # otherwise the server takes the likeliest token, whatever is asked for
    )
    logits = torch.full((count, count), -100.0)  # (token, token before it)
    for before, following in _CHAIN.items():
        logits[[places[token] for token in following], places[before]] = 0.0
    with torch.no_grad():
        model.model.embed_tokens.weight.copy_(torch.eye(count, config.hidden_size))
        model.model.layers[0].self_attn.o_proj.weight.zero_()
        model.model.layers[0].mlp.down_proj.weight.zero_()
        # The norm before the last layer turns the 1 of a one-hot vector into the root of the width.
        model.lm_head.weight[:, :count] = logits / config.hidden_size**0.5
    model.save_pretrained(folder)
    return folder


def _tokenizer(places: dict[str, int]) -> PreTrainedTokenizerFast:
    backend = Tokenizer(models.WordLevel(places, unk_token=_UNKNOWN))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        unk_token=_UNKNOWN,
        eos_token=_END,
        pad_token=_END,
        additional_special_tokens=[_SAME, _OTHER],
        model_max_length=_CONTEXT,
        chat_template=_TEMPLATE,
    )
