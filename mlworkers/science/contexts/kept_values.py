"""Numbers that took long to compute, by the content that they belong to, in a file to which they are only added."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

KEY_BYTES = 16
# 16 + 2 · 8 = 32 bytes, little-endian.
_RECORD = np.dtype([("key", np.uint8, KEY_BYTES), ("values", "<f8", 2)])


class KeptValues:
    """At most two numbers for each key of 16 bytes. A process that is killed loses what it was computing, and no more:
    an unfinished record at the end of the file is cut off when it is opened again.

    One process at a time adds to a file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._values: dict[bytes, tuple[float, float]] = {}
        if path.exists():
            whole = path.stat().st_size // _RECORD.itemsize * _RECORD.itemsize  # bytes of complete records
            with path.open("r+b") as file:
                file.truncate(whole)
            for record in np.fromfile(path, dtype=_RECORD):
                self._values[record["key"].tobytes()] = tuple(record["values"].tolist())

    def __contains__(self, key: bytes) -> bool:
        return key in self._values

    def __getitem__(self, key: bytes) -> tuple[float, float]:
        return self._values[key]

    def __len__(self) -> int:
        return len(self._values)

    def add(self, rows: Iterable[tuple[bytes, tuple[float, float]]]) -> None:
        """Put them on the disk, and then into memory."""
        new = list(rows)
        records = np.empty(len(new), dtype=_RECORD)
        for place, (key, values) in enumerate(new):
            records[place] = (np.frombuffer(key, np.uint8), values)
        with self._path.open("ab") as file:
            file.write(records.tobytes())
        self._values.update(new)
