"""A sentence encoder of two random layers, with a tokenizer made on the spot: what a test needs of a model."""

from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, BertModel, PreTrainedTokenizerFast

VOCABULARY = "a the dog cat bird man woman child runs sits sings plays is on in with grass mat tree ball"
WORDS = VOCABULARY.split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
DIMENSIONS = 32


def tiny_tokenizer(*, longest: int = 24) -> PreTrainedTokenizerFast:
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=longest,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def tiny_transformer(folder: Path, *, layers: int = 2, seed: int = 7) -> Path:
    """A bare transformer, saved as the transformers library saves one."""
    torch.manual_seed(seed)
    tokenizer = tiny_tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=DIMENSIONS,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * DIMENSIONS,
        max_position_embeddings=64,
        initializer_range=0.4,  # large, so that different sentences get clearly different vectors
    )
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def tiny_encoder(folder: Path, *, normalise: bool = True) -> Path:
    """A sentence encoder, saved as sentence-transformers saves one."""
    transformer = Transformer(str(tiny_transformer(folder / "transformer")))
    modules = [transformer, Pooling(DIMENSIONS, "mean"), *([Normalize()] if normalise else [])]
    encoder = SentenceTransformer(modules=modules, device="cpu")
    encoder.save(str(folder / "encoder"), create_model_card=False)
    return folder / "encoder"


def tiny_cross_encoder(folder: Path, *, values: int = 1, seed: int = 11) -> Path:
    """A transformer that reads two sentences together and gives that many values, as transformers saves one."""
    torch.manual_seed(seed)
    tokenizer = tiny_tokenizer(longest=48)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, tokenizer.convert_tokens_to_ids(name)) for name in ("[CLS]", "[SEP]")],
    )
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=DIMENSIONS,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * DIMENSIONS,
        max_position_embeddings=64,
        initializer_range=0.4,
        num_labels=values,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
