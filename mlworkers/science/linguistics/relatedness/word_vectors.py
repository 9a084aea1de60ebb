"""Static word vectors: from a file of word2vec or GloVe, or from the folder of a StaticEmbedding model.

No code of a model is run, and nothing is unpickled.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from curation.files.json_text import json_from
from curation.files.progress import Report, silent
from curation.statistics.correlation import Scores
from mlworkers.science.linguistics.relatedness.plan import RelatednessError
from mlworkers.science.linguistics.relatedness.vector_files import Vectors, vectors_read

_WEIGHTS = ("embedding.weight", "embeddings")  # of sentence-transformers, of model2vec
_PAIRS_PER_BLOCK = 8192


class WordVectors(Protocol):
    """The vectors of words."""

    @property
    def width(self) -> int:
        """The length of a vector."""

    def of_word(self, word: str) -> Vectors:
        """The vectors of a word, or of the parts that its tokenizer finds in it, (k, width); (0, width) for none."""


class VectorTable:
    """Vectors by word. A word is looked for as it is written, then in lower case, then capitalised."""

    def __init__(self, width: int, vectors: Mapping[str, Vectors]) -> None:
        self.width = width
        self._vectors = vectors
        self._none: Vectors = np.empty((0, width), dtype=np.float32)

    def of_word(self, word: str) -> Vectors:
        for form in forms_of(word):
            if (found := self._vectors.get(form)) is not None:
                return found[None, :]
        return self._none


class TokenVectors:
    """Vectors of the tokens that a StaticEmbedding model finds in a word."""

    def __init__(self, table: Vectors, tokenizer: Any) -> None:
        self.width = table.shape[1]
        self._table = table
        self._tokenizer = tokenizer
        self._known: dict[str, Vectors] = {}

    def of_word(self, word: str) -> Vectors:
        if word not in self._known:
            self._known[word] = self._table[self._tokenizer.encode(word, add_special_tokens=False).ids]
        return self._known[word]


def forms_of(word: str) -> tuple[str, ...]:
    """The forms in which a word is looked for, in their order."""
    return word, word.lower(), word.lower().capitalize()


def mean_vectors(vectors: WordVectors, sentences: Sequence[Sequence[str]]) -> Vectors:
    """The mean of the vectors of each sentence's words, (n, width); NaN for a sentence of which no word is known."""
    means: Vectors = np.full((len(sentences), vectors.width), np.nan, dtype=np.float32)
    for number, words in enumerate(sentences):
        found = [vectors.of_word(word) for word in words]
        if sum(map(len, found)):
            means[number] = np.concatenate(found).mean(axis=0)
    return means


def cosines_of(means: Vectors, left: NDArray[np.int64], right: NDArray[np.int64]) -> Scores:
    """The cosine of the vectors at those places, (n,); NaN where one is missing or has the length 0."""
    cosines = np.empty(left.size)
    for start in range(0, left.size, _PAIRS_PER_BLOCK):
        block = slice(start, start + _PAIRS_PER_BLOCK)
        one, other = (means[side[block]].astype(np.float64) for side in (left, right))
        lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
        lengths[lengths == 0] = np.nan
        cosines[block] = np.clip((one * other).sum(axis=1) / lengths, -1.0, 1.0)
    return cosines


def word_vectors_read(path: Path, words: Collection[str], *, report: Report = silent) -> WordVectors:
    """The vectors of those words from a file, or of any word from a StaticEmbedding folder.

    Raises RelatednessError.
    """
    if path.is_dir():
        # The table and the tokenizer that sentence-transformers, or model2vec, saves.
        place = _module_folder(path)
        table_path, tokenizer_path = place / "model.safetensors", place / "tokenizer.json"
        if not table_path.is_file() or not tokenizer_path.is_file():
            raise _no_static_embedding(path, "it lacks model.safetensors or tokenizer.json")
        try:
            tensors: dict[str, Any] = load_file(table_path)
            tokenizer = Tokenizer.from_file(str(tokenizer_path))
        except (SafetensorError, OSError, KeyError, TypeError) as error:
            raise _no_static_embedding(path, "its weights are damaged") from error
        except Exception as error:  # the tokenizers library raises no other class
            raise _no_static_embedding(path, "its tokenizer cannot be read") from error
        table = next((tensors[name] for name in _WEIGHTS if name in tensors), None)
        if table is None or table.ndim != 2 or len(table) < tokenizer.get_vocab_size():
            raise _no_static_embedding(path, "its weights have no row for each token")
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return TokenVectors(table.astype(np.float32), tokenizer)
    if not path.is_file():
        raise RelatednessError(
            "There is no file of word vectors at %(path)s; give the path of a file of word2vec or GloVe, or of a "
            "StaticEmbedding folder.",
            path=path,
        )
    return VectorTable(
        *vectors_read(path, {form for word in words for form in forms_of(word)}, report=report)
    )


def _module_folder(folder: Path) -> Path:
    file = folder / "modules.json"
    if not file.is_file():
        return folder
    try:
        modules = [
            (str(one["type"]).rpartition(".")[2], str(one["path"])) for one in json_from(file.read_text())
        ]
    except (ValueError, TypeError, LookupError) as error:
        raise _no_static_embedding(folder, "its modules.json cannot be read") from error
    kinds = [kind for kind, _path in modules]
    if kinds[:1] != ["StaticEmbedding"] or set(kinds[1:]) - {"Normalize"}:
        raise _no_static_embedding(folder, f"its modules are {', '.join(kinds) or 'none'}")
    inside = (folder / modules[0][1]).resolve()
    if not inside.is_relative_to(folder.resolve()):
        raise _no_static_embedding(folder, "its modules.json names a folder outside it")
    return inside


def _no_static_embedding(folder: Path, because: str) -> RelatednessError:
    return RelatednessError(
        "%(folder)s is not a StaticEmbedding model: %(because)s; give the folder of one, or a file of word vectors.",
        folder=folder.name,
        because=because,
    )


Lookup = Callable[[str], Vectors | None]


class LookedUp:
    """Vectors that something else looks up, such as a pipeline: in the forms of `forms_of`."""

    def __init__(self, width: int, lookup: Lookup) -> None:
        self.width = width
        self._lookup = lookup
        self._none: Vectors = np.empty((0, width), dtype=np.float32)

    def of_word(self, word: str) -> Vectors:
        for form in forms_of(word):
            if (found := self._lookup(form)) is not None:
                return np.asarray(found, dtype=np.float32)[None, :]
        return self._none
