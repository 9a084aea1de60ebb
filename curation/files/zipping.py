"""A folder as one zip file: the same files make the same bytes, and memory holds one block of a folder of any size."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

BLOCK = 1024**2
_LARGE = 2**31 - 1  # bytes; a larger entry needs the format's longer numbers


def files_in(folder: Path) -> list[Path]:
    """Every file below the folder by name; no links, and nothing behind one."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    whole = folder.resolve()
    return [path for path in files if path.resolve() == whole / path.relative_to(folder)]


def zip_folder(folder: Path, file: IO[bytes], *, name: str) -> None:
    """Write the folder's files, compressed, to an open file. Their names in the zip begin with `name`/."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for _block in _blocks_written(archive, folder, name):
            pass


def zip_blocks(folder: Path) -> Iterator[bytes]:
    """The zip in blocks, made while they are read. Files are stored as they are: weights do not compress."""
    passing = _Passing()
    with zipfile.ZipFile(passing, "w", zipfile.ZIP_STORED) as archive:
        for _block in _blocks_written(archive, folder, folder.name):
            yield passing.taken()
    yield passing.taken()


def _blocks_written(archive: zipfile.ZipFile, folder: Path, name: str) -> Iterator[None]:
    for path in files_in(folder):
        # Its date is the format's first, so that only names and contents shape the zip.
        inside = zipfile.ZipInfo(f"{name}/{path.relative_to(folder).as_posix()}")
        inside.compress_type = archive.compression
        inside.external_attr = 0o644 << 16
        large = path.stat().st_size > _LARGE
        with path.open("rb") as source, archive.open(inside, "w", force_zip64=large) as entry:
            while block := source.read(BLOCK):
                entry.write(block)
                yield


class _Passing:
    """The file that a zip is written to: what came since the last look is handed on."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []

    def write(self, block: bytes, /) -> int:
        self._blocks.append(bytes(block))
        return len(block)

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """Nothing is left to close: `taken` has handed everything on."""

    def taken(self) -> bytes:
        blocks, self._blocks = self._blocks, []
        return b"".join(blocks)
