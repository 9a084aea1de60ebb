"""Static word vectors: from a text file of word2vec or GloVe, or from the folder of a StaticEmbedding model.

No code of a model is run, and nothing is unpickled. Of a text file, only the vectors of words that are asked for are
kept, so that a file of any size fits into memory.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from curation.files.json_text import json_from
from curation.files.progress import Report, silent
from curation.statistics.correlation import Scores
from mlworkers.linguistics.relatedness.plan import RelatednessError

Vectors = NDArray[np.float32]
LONGEST_LINE = 1 << 18  # bytes; 4,096 numbers of 20 digits need a third of it
MOST_NUMBERS = 8192  # in a vector
_WEIGHTS = ("embedding.weight", "embeddings")  # of sentence-transformers, of model2vec
_LINES_BETWEEN_REPORTS = 20_000
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
    """The vectors of those words from a text file, or of any word from a StaticEmbedding folder.

    Raises RelatednessError.
    """
    if path.is_dir():
        return _static_embedding(path)
    if not path.is_file():
        raise RelatednessError(
            "There is no file of word vectors at %(path)s; give the path of a text file of word2vec or GloVe, or of a "
            "StaticEmbedding folder.",
            path=path,
        )
    return _text_file(path, {form for word in words for form in forms_of(word)}, report)


def _text_file(path: Path, wanted: Collection[str], report: Report) -> VectorTable:
    """Lines of a word and its numbers with spaces between; the first may say how many words and numbers there are."""
    found: dict[str, Vectors] = {}
    width, size = 0, path.stat().st_size
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file, path), 1):
            if number % _LINES_BETWEEN_REPORTS == 0:
                report(file.tell(), size, "Reading word vectors")
            text = line.decode("utf-8", "replace").strip()
            cells = text.split(" ")
            if number == 1 and len(cells) == 2 and all(cell.isdigit() for cell in cells):
                width = int(cells[1])
                continue
            width = width or len(cells) - 1
            if not 1 < width <= MOST_NUMBERS:
                raise _not_vectors(path, number)
            if text:
                # Some words of GloVe hold spaces.
                word, *numbers = text.rsplit(" ", width)
                if word in wanted and word not in found:
                    found[word] = _vector(numbers, width, path, number)
                elif not found and number <= 2:
                    _vector(numbers, width, path, number)  # so that another kind of file is found out at once
    if not found:
        raise RelatednessError(
            "%(file)s has a vector for no word of these pairs; choose word vectors of their language.",
            file=path.name,
        )
    return VectorTable(width, found)


def _lines(file: IO[bytes], path: Path) -> Iterator[bytes]:
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise _not_vectors(path, number)
        yield line


def _vector(numbers: Sequence[str], width: int, path: Path, line: int) -> Vectors:
    try:
        vector: Vectors = np.array([float(number) for number in numbers], dtype=np.float32)
    except ValueError:
        raise _not_vectors(path, line) from None
    if vector.size != width or not np.isfinite(vector).all():
        raise _not_vectors(path, line)
    return vector


def _not_vectors(path: Path, line: int) -> RelatednessError:
    return RelatednessError(
        "Line %(line)d of %(file)s is not a word and its numbers; give a text file of word2vec or GloVe (not the "
        "binary format, and not compressed).",
        line=line,
        file=path.name,
    )


def _static_embedding(folder: Path) -> TokenVectors:
    """The table and the tokenizer that sentence-transformers, or model2vec, saves."""
    place = _module_folder(folder)
    table_path, tokenizer_path = place / "model.safetensors", place / "tokenizer.json"
    if not table_path.is_file() or not tokenizer_path.is_file():
        raise _no_static_embedding(folder, "it lacks model.safetensors or tokenizer.json")
    try:
        tensors: dict[str, Any] = load_file(table_path)
        tokenizer = Tokenizer.from_file(str(tokenizer_path))
    except (SafetensorError, OSError, KeyError, TypeError) as error:
        raise _no_static_embedding(folder, "its weights are damaged") from error
    except Exception as error:  # the tokenizers library raises no other class
        raise _no_static_embedding(folder, "its tokenizer cannot be read") from error
    table = next((tensors[name] for name in _WEIGHTS if name in tensors), None)
    if table is None or table.ndim != 2 or len(table) < tokenizer.get_vocab_size():
        raise _no_static_embedding(folder, "its weights have no row for each token")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return TokenVectors(table.astype(np.float32), tokenizer)


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
        "%(folder)s is no StaticEmbedding model: %(because)s; give the folder of one, or a text file of word vectors.",
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
