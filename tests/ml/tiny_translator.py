"""Translation models with random weights, FSMT and Marian, with tokenizers that are trained on the spot."""

import io
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import sentencepiece
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    FSMTConfig,
    FSMTForConditionalGeneration,
    FSMTTokenizer,
    MarianConfig,
    MarianMTModel,
    MarianTokenizer,
)

TEXTS = {
    "en": [
        f"The {who} {does} on the {where}."
        for who, does, where in product(("dog", "cat", "bird"), ("runs", "sits"), ("grass", "mat"))
    ],
    "de": [
        f"Der {who} {does} auf dem {where}."
        for who, does, where in product(("Hund", "Kater", "Vogel"), ("rennt", "sitzt"), ("Gras", "Teppich"))
    ],
}
WIDTH = 32
# Large, so that different sentences get clearly different translations.
SPREAD = 0.4


def tiny_marian(folder: Path, source: str = "en", target: str = "de", *, seed: int = 5) -> Path:
    """A Marian model of one vocabulary, as published ones are: padding is the last token and begins a search."""
    pieces = []
    for name, language in (("source.spm", source), ("target.spm", target)):
        trained = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(TEXTS[language]), model_writer=trained, vocab_size=64, hard_vocab_limit=False,
            model_type="bpe", bos_id=-1, eos_id=1, unk_id=0, minloglevel=2,
        )  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(trained.getvalue())
        read = sentencepiece.SentencePieceProcessor(model_proto=trained.getvalue())
        pieces += [read.IdToPiece(number) for number in range(read.GetPieceSize())]
    tokens = list(dict.fromkeys(["</s>", "<unk>", *pieces, "<pad>"]))
    (folder / "vocab.json").write_text(json.dumps({token: number for number, token in enumerate(tokens)}))
    tokenizer = MarianTokenizer(
        str(folder / "source.spm"), str(folder / "target.spm"), str(folder / "vocab.json"), source_lang=source,
        target_lang=target, model_max_length=64,
    )  # fmt: skip
    pad = tokens.index("<pad>")
    torch.manual_seed(seed)
    config = MarianConfig(
        vocab_size=len(tokens), d_model=WIDTH, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=WIDTH, decoder_ffn_dim=WIDTH, max_position_embeddings=64,
        pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad, bad_words_ids=[[pad]], forced_eos_token_id=0,
        init_std=SPREAD, scale_embedding=True, static_position_embeddings=True, activation_function="swish",
    )  # fmt: skip
    model = MarianMTModel(config)
    model.generation_config.bad_words_ids = [[pad]]
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def tiny_fsmt(folder: Path, source: str = "en", target: str = "de", *, seed: int = 5) -> Path:
    """An FSMT model, whose source and target have vocabularies of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabularies, merges = {}, []
    for name, language in (("vocab-src.json", source), ("vocab-tgt.json", target)):
        tokens, learned = _bpe(TEXTS[language])
        vocabulary = ["<s>", "<pad>", "</s>", "<unk>", *tokens]
        vocabularies[language] = len(vocabulary)
        (folder / name).write_text(json.dumps({token: number for number, token in enumerate(vocabulary)}))
        merges += learned
    (folder / "merges.txt").write_text("".join(f"{first} {second} 1\n" for first, second in merges))
    tokenizer = FSMTTokenizer(
        langs=[source, target], src_vocab_file=str(folder / "vocab-src.json"),
        tgt_vocab_file=str(folder / "vocab-tgt.json"), merges_file=str(folder / "merges.txt"), model_max_length=64,
    )  # fmt: skip
    torch.manual_seed(seed)
    config = FSMTConfig(
        langs=[source, target], src_vocab_size=vocabularies[source], tgt_vocab_size=vocabularies[target],
        d_model=WIDTH, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=WIDTH, decoder_ffn_dim=WIDTH, max_position_embeddings=64, init_std=SPREAD,
    )  # fmt: skip
    FSMTForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _bpe(texts: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """The tokens and merges of a byte-pair encoding whose words end with </w>."""
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(vocab_size=80, end_of_word_suffix="</w>", show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    learned = json.loads(tokenizer.to_str())["model"]
    merges = [tuple(pair) for pair in learned["merges"]]
    # The trainer numbers its letters differently in every process.
    joined = dict.fromkeys("".join(pair) for pair in merges)
    return [*sorted(learned["vocab"].keys() - joined.keys()), *joined], merges
