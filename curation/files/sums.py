"""What a file or a folder holds, as the name, the SHA-256 and the size of each file."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from curation.files.writing import sha256_of


class FileSum(NamedTuple):
    """name: relative to the folder; empty where a single file is meant. size: in bytes."""

    name: str
    sha256: str
    size: int


def sums_of(path: Path) -> list[FileSum]:
    """Of a file, or of every file in a folder, by name."""
    if path.is_file():
        return [FileSum("", sha256_of(path), path.stat().st_size)]
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return [
        FileSum(file.relative_to(path).as_posix(), sha256_of(file), file.stat().st_size) for file in files
    ]


def is_of_file(sums: Sequence[FileSum]) -> bool:
    return len(sums) == 1 and not sums[0].name


def content_sum(sums: Sequence[FileSum]) -> str:
    """The SHA-256 of a file; of a folder, that of the list of its files' names and sums."""
    if is_of_file(sums):
        return sums[0].sha256
    return sum_of_folder((one.name, one.sha256) for one in sums)


def sum_of_folder(sums: Iterable[tuple[str, str]]) -> str:
    """Of the names and sums of its files, in the order in which `sums_of` has them."""
    return hashlib.sha256("".join(f"{sha256}  {name}\n" for name, sha256 in sums).encode()).hexdigest()


def sums_text(sums: Iterable[FileSum]) -> str:
    """One line for each file: SHA-256, size, name."""
    return "".join(f"{one.sha256} {one.size} {one.name}\n" for one in sums)


def sums_read(text: str) -> list[FileSum]:
    """What `sums_text` wrote. Raises ValueError where it is something else."""
    if text and not text.endswith("\n"):
        raise ValueError("the list of sums is cut off")
    found = []
    for line in text.split("\n")[:-1]:
        sha256, size, name = line.split(" ", 2)
        found.append(FileSum(name, sha256, int(size)))
    return found
