"""The random numbers of one row, which follow from what the row is and not from when it is written."""

import hashlib

import numpy as np
from numpy.typing import NDArray

_BITS = 53  # of a double's fraction
_SEED_BITS = 31  # what every server takes for a seed


def uniform_draws(count: int, *, seed: int, source: str, label: str, sample: int) -> NDArray[np.float64]:
    """(count,), uniform in [0, 1): the first numbers of the row's own stream, the same on every machine.

    Philox (Salmon et al. 2011) computes them from a key and a counter; the key is a hash of the arguments. NumPy
    promises that its raw numbers never change.
    """
    key = int.from_bytes(_digest(seed, source, label, sample), "little")
    raw = np.random.Philox(key=key).random_raw(count)
    # The 53 highest bits are an integer that a double holds exactly; times 2^-53 it is k / 2^53, below 1. All
    # 64 bits would be rounded, and the largest of them to 1.
    return (raw >> np.uint64(64 - _BITS)).astype(np.float64) * 2.0**-_BITS


def row_seed(*, seed: int, source: str, label: str, sample: int) -> int:
    """A seed of the row's own, for a server that draws itself."""
    return int.from_bytes(_digest(seed, source, label, sample), "little") >> (128 - _SEED_BITS)


def _digest(seed: int, source: str, label: str, sample: int) -> bytes:
    # The source comes last: it alone may hold the character between the parts.
    name = f"{seed}\0{label}\0{sample}\0{source}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(name, digest_size=16).digest()
