"""The vectors of many sentences in a folder, and the nearest of them to a query by their cosine: exactly, and fast.

The folder holds the vectors v of length 1, and of each a copy in whole numbers of 8 bits: v = s·c + e, with the scale
s, the codes c and what the rounding leaves, e. A search rounds the query in the same way, q = q̂ + r, and multiplies the
codes, a quarter of the bytes, with its code, which gives s·(c·q̂). By Cauchy and Schwarz

    |q·v - s·(c·q̂)| <= |r|·|v| + |q̂|·|e|,

so only the vectors whose upper bound reaches the k-th largest lower bound can be among the k nearest. For these some
hundreds s·(c·q) is computed, where only |q|·|e| is left. The few that remain are read from the disk and compared in
float64: the answer is that of a comparison with all vectors.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from curation.files.json_text import json_from
from mlworkers.science.encoders.encoding import Vectors, unit_vectors

Numbers = NDArray[np.int64]
_VECTORS, _CODES, _SCALES, _ERRORS = "vectors.npy", "codes.npy", "scales.npy", "errors.npy"
_NUMBERS, _FACTS = "sentences.npy", "index.json"
_LARGEST = 127
# More than rounding can move a product or a length: by float32, and by the numbers on the disk.
# Numbers near 1 are rounded by at most 2^-24 = 6e-8 in float32 and 2^-11 = 5e-4 in float16.
_SLACK = {"float32": 1e-5, "float16": 1e-3}
_ROWS_PER_BLOCK = 8192  # of vectors, or of codes, that are read one by one
_BOUNDS_PER_BLOCK = 16384  # so that they stay in a core's cache


class SentenceIndexError(ValueError):
    """The index cannot be made or read. One sentence."""


@dataclass(frozen=True)
class IndexFacts:
    """How many vectors there are, their length, and the type of their numbers."""

    sentences: int
    dimensions: int
    number_format: str  # "float32" or "float16"


class Neighbours(NamedTuple):
    """The numbers of sentences, (k,), the nearest first, those of equal cosines in the order of the index; cosines."""

    sentences: Numbers
    cosines: NDArray[np.float64]


def index_write(
    folder: Path, numbers: Numbers, blocks: Iterable[Vectors], *, dimensions: int, number_format: str
) -> IndexFacts:
    """Write an index into an empty folder. numbers: of the n sentences, (n,). blocks: their vectors in that order, of
    any length but 0, (b, dimensions) each. number_format: "float32" or "float16", of the vectors on the disk.

    Raises EncoderError for a vector without a direction, SentenceIndexError for another number of vectors than n.
    """
    count = len(numbers)
    shapes = {
        _VECTORS: ((count, dimensions), np.dtype(number_format)),
        _CODES: ((count, dimensions), np.dtype(np.int8)),
        _SCALES: ((count,), np.dtype(np.float32)),
        _ERRORS: ((count,), np.dtype(np.float32)),
    }
    files = {
        name: np.lib.format.open_memmap(folder / name, mode="w+", dtype=kind, shape=shape)
        for name, (shape, kind) in shapes.items()
    }
    start = 0
    for block in blocks:
        rows = slice(start, start + len(block))
        if rows.stop > count or block.shape[1] != dimensions:
            raise SentenceIndexError(f"The vectors are not {count:,} of {dimensions} numbers each.")
        stored = unit_vectors(block).astype(number_format)
        codes, scales = _coded(stored.astype(np.float64))  # (b, d) int8 and (b,): 1 byte a number
        files[_VECTORS][rows], files[_CODES][rows], files[_SCALES][rows] = stored, codes, scales
        # The rounding errors are e = v - s · c, of the vectors as they are stored, (b, d); only |e| is kept,
        # (n,).
        left = stored.astype(np.float64) - scales[:, None].astype(np.float64) * codes
        files[_ERRORS][rows] = np.sqrt(np.einsum("nd,nd->n", left, left))
        start = rows.stop
    if start != count:
        raise SentenceIndexError(f"There are vectors for {start:,} of {count:,} sentences.")
    for file in files.values():
        file.flush()
    np.save(folder / _NUMBERS, np.asarray(numbers, dtype=np.int64))
    facts = IndexFacts(count, dimensions, number_format)
    (folder / _FACTS).write_text(json.dumps(asdict(facts)), "utf-8")
    return facts


@dataclass(frozen=True)
class SentenceIndex:
    """An index in a folder. Its codes are mapped from the disk."""

    folder: Path

    @cached_property
    def facts(self) -> IndexFacts:
        """Raises SentenceIndexError where the folder holds no index."""
        try:
            return IndexFacts(**json_from((self.folder / _FACTS).read_text("utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise SentenceIndexError(f"There is no index of sentences in {self.folder}.") from error

    def nearest(self, query: Vectors, *, most: int) -> Neighbours:
        """The sentences with the highest cosine to a query (d,) of any length but 0; fewer where there are no more.

        Raises EncoderError for a query without a direction, SentenceIndexError for one of another length.
        """
        if query.shape != (self.facts.dimensions,):
            raise SentenceIndexError(
                f"The query has {query.size} numbers and the vectors of the index {self.facts.dimensions}; encode it "
                "by the encoder of the index."
            )
        unit = unit_vectors(query[None])[0].astype(np.float64)  # (d,)
        candidates = self._candidates(unit, min(most, self.facts.sentences))  # a superset of the answer
        cosines = np.concatenate([*self._exact(unit, candidates), np.empty(0)])
        # By falling cosine, then by place; lexsort sorts by its last key first.
        order = np.lexsort((candidates, -cosines))[:most]
        return Neighbours(self._numbers[candidates[order]], np.clip(cosines[order], -1.0, 1.0))

    def _candidates(self, query: NDArray[np.float64], most: int) -> Numbers:
        """The places of all vectors that may be among the `most` nearest, in rising order."""
        if most >= self.facts.sentences:
            return np.arange(self.facts.sentences)
        places = self._by_rounded_query(query, most)
        close = np.empty(len(places))
        for start in range(0, len(places), _ROWS_PER_BLOCK):
            rows = slice(start, start + _ROWS_PER_BLOCK)
            codes = self._codes[torch.from_numpy(places[rows])].numpy()
            close[rows] = (codes @ query) * self._scales[places[rows]]  # s (c · q), with q unrounded
        slack = _SLACK[self.facts.number_format]
        # The exact query is left to bound: q·v = s (c·q) + e·q, and |e·q| <= |e| because |q| = 1.
        bound = self._errors[places].astype(np.float64) * (1 + slack) + slack
        # At least `most` vectors have a cosine of `least` or more. One whose upper bound is lower is not
        # among the nearest; equality is kept for ties.
        least = np.partition(close - bound, -most)[-most]
        return places[np.flatnonzero(close + bound >= least)]

    def _by_rounded_query(self, query: NDArray[np.float64], most: int) -> Numbers:
        """The same by the rounded query: some more, in one pass over all codes."""
        (code,), (scale,) = _coded(query[None])
        rounded = code * np.float64(scale)
        slack = _SLACK[self.facts.number_format]
        # The bound has two terms: |r| · |v|, the same for all because |v| = 1 up to the slack, and |q̂| ·
        # |e|.
        outside = np.float32(np.linalg.norm(query - rounded) * (1 + slack) + slack)
        length = np.float32(np.linalg.norm(rounded) * (1 + slack))
        # At once, for torch's threads wait for each other at the end of each product.
        # Products of codes are added up without rounding: their sum is at most 127² d, which is below 2³¹ for
        # up to 133,000 dimensions.
        products = torch._int_mm(self._codes, torch.from_numpy(code).reshape(-1, 1)).numpy()[:, 0]
        lowest = np.full(most, -np.inf, np.float32)  # the largest lower bounds so far
        found: list[Numbers] = []
        uppers: list[NDArray[Any]] = []
        for start in range(0, len(products), _BOUNDS_PER_BLOCK):
            rows = slice(start, start + _BOUNDS_PER_BLOCK)
            close = products[rows].astype(np.float32) * self._scales[rows]
            close *= scale  # s (c · q̂), with q̂ = scale · code
            bound = self._errors[rows] * length + outside
            places = np.flatnonzero(close + bound >= lowest[0])
            close, bound = close[places], bound[places]
            found.append(places + start)
            uppers.append(close + bound)
            # The `most` largest lower bounds so far; after the partition, place 0 holds the smallest of them.
            # It only rises, so a vector that an early block passes may still fall below it, and the last line
            # looks again.
            lowest = np.partition(np.concatenate([lowest, close - bound]), -most)[-most:]
        # Places and upper bounds of what passed its block.
        every, highest = np.concatenate(found), np.concatenate(uppers)
        return every[np.flatnonzero(highest >= lowest[0])]

    def _exact(self, query: NDArray[np.float64], places: Numbers) -> Iterator[NDArray[np.float64]]:
        """The cosines at those places; of vectors in float16, whose length is not quite 1, too."""
        for start in range(0, len(places), _ROWS_PER_BLOCK):
            rows = self._vectors_at(places[start : start + _ROWS_PER_BLOCK])
            yield (rows @ query) / np.sqrt(np.einsum("nd,nd->n", rows, rows))

    def _vectors_at(self, places: Numbers) -> NDArray[np.float64]:
        """Read one by one: mapped, each would take many pages around it into the memory."""
        kind = np.dtype(self.facts.number_format)
        size = kind.itemsize * self.facts.dimensions
        path = self.folder / _VECTORS
        before = path.stat().st_size - size * self.facts.sentences  # the file's head
        with path.open("rb", buffering=0) as file:
            rows = [os.pread(file.fileno(), size, before + size * place) for place in places.tolist()]
        return np.frombuffer(b"".join(rows), dtype=kind).reshape(len(places), -1).astype(np.float64)

    @cached_property
    def _codes(self) -> torch.Tensor:
        # "c": writing would not change the file, and torch wants no array that refuses it.
        return torch.from_numpy(np.load(self.folder / _CODES, mmap_mode="c"))

    @cached_property
    def _scales(self) -> NDArray[np.float32]:
        return self._read(_SCALES)

    @cached_property
    def _errors(self) -> NDArray[np.float32]:
        return self._read(_ERRORS)

    @cached_property
    def _numbers(self) -> Numbers:
        return self._read(_NUMBERS)

    def _read(self, name: str) -> NDArray[Any]:
        values: NDArray[Any] = np.load(self.folder / name)
        return values


def _coded(vectors: NDArray[np.float64]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """The codes of n vectors (n, d), none of them 0, and the scale of each, (n,)."""
    scales = (np.abs(vectors).max(axis=1) / _LARGEST).astype(np.float32)
    # The largest coordinate becomes ±127, and rounding moves each by s / 2 at most, so |e| <= s √d / 2.
    codes = np.rint(vectors / scales[:, None].astype(np.float64)).clip(-_LARGEST, _LARGEST)
    return codes.astype(np.int8), scales
