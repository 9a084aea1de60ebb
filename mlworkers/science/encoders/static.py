"""Mean static vectors: a sentence is the mean of its tokens' rows in the encoder's own table of input embeddings.

Nothing is downloaded and no layer is computed, so this is what word vectors alone are worth, instead of GloVe.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sentence_transformers import SentenceTransformer

from mlworkers.science.encoders.encoding import EncoderError, SentenceVectors

_SENTENCES_PER_BLOCK = 4096


def static_vectors(encoder: SentenceTransformer, sentences: Iterable[str]) -> SentenceVectors:
    """The vectors of the distinct sentences; special tokens are left out.

    Raises EncoderError where the encoder begins with no transformer, or a sentence has no token.
    """
    if encoder.transformers_model is None:
        raise EncoderError(
            "The encoder does not begin with a transformer, so it has no table of input embeddings."
        )
    transformer: Any = encoder.transformers_model
    table = transformer.get_input_embeddings().weight.detach().float().cpu().numpy()  # (V, d)
    place = {sentence: number for number, sentence in enumerate(dict.fromkeys(sentences))}
    texts = list(place)
    vectors = np.empty((len(texts), table.shape[1]), dtype=np.float32)  # (n, d)
    for start in range(0, len(texts), _SENTENCES_PER_BLOCK):
        block = texts[start : start + _SENTENCES_PER_BLOCK]
        # Without [CLS] and [SEP].
        tokenized = encoder.tokenizer(block, add_special_tokens=False, truncation=True)["input_ids"]
        for number, tokens in enumerate(tokenized, start):
            if not tokens:
                raise EncoderError(f"The tokenizer finds no token in “{texts[number][:60]}”.")
            # (t, d) -> (d,). A token that occurs twice counts twice.
            vectors[number] = table[tokens].mean(axis=0)
    return SentenceVectors(vectors, place)
