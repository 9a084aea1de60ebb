"""A byte-level BPE tokenizer learnt from the texts at hand: no text is unknown to it."""

from collections.abc import Iterable
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

END = "<|endoftext|>"


def tokenizer_learnt(texts: Iterable[str], *, vocabulary: int, longest: int) -> PreTrainedTokenizerFast:
    """A tokenizer of at most `vocabulary` tokens, the 256 bytes and END among them; splits as GPT-2's does.

    longest: tokens that its model takes. The same texts in the same order give the same tokenizer.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=2,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    wrapped: Any = PreTrainedTokenizerFast
    made: PreTrainedTokenizerFast = wrapped(
        tokenizer_object=tokenizer,
        bos_token=END,
        eos_token=END,
        model_max_length=longest,
        clean_up_tokenization_spaces=False,
    )
    return made
