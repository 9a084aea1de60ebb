"""A tokenizer learned from texts on the spot, for a model that is made here."""

from collections.abc import Iterable, Mapping
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

END = "<|endoftext|>"
END_OF_TEXT = {"bos_token": END, "eos_token": END}


def tokenizer_learned(
    texts: Iterable[str],
    *,
    vocabulary: int,
    longest: int,
    special: Mapping[str, str] = END_OF_TEXT,
    lower: bool = False,
) -> PreTrainedTokenizerFast:
    """Byte-level BPE of at most `vocabulary` tokens, the 256 bytes among them: it knows every text.

    longest: tokens that its model takes. special: texts of special tokens by their roles; by default GPT-2's.
    lower: capitals and compatibility forms count as what they stand for, and the first word as those after a space;
    without it, texts are divided as by GPT-2. The same texts in the same order give the same tokenizer, which word
    pieces of the library do not.
    """
    tokenizer = Tokenizer(models.BPE())
    if lower:
        tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=lower)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=2,
        special_tokens=list(dict.fromkeys(special.values())),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    wrapped: Any = PreTrainedTokenizerFast
    made: PreTrainedTokenizerFast = wrapped(
        tokenizer_object=tokenizer,
        model_max_length=longest,
        clean_up_tokenization_spaces=False,
        **special,
    )
    return made
