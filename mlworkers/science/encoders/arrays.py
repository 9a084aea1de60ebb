"""Arrays of numbers as files: whole or absent, and never unpickled."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.files.writing import replacing


def array_write(path: Path, values: NDArray[np.floating]) -> None:
    """Raises FileError where the disk is full."""
    with replacing(path) as file:
        np.save(file, values, allow_pickle=False)  # a pickle could run code when it is read


def array_read(path: Path) -> NDArray[Any]:
    values: NDArray[Any] = np.load(path, allow_pickle=False)
    return values
