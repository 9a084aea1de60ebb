"""The files of an artefact for whoever downloads it: a folder is one zip file, written while it is read, so that memory
holds one block, whatever the folder weighs.
"""

import zipfile
from collections.abc import Iterator
from pathlib import Path

from mlworkers.models import Artifact
from mlworkers.runs.storage import home_path, run_folder

BLOCK = 1024**2
_LARGE = 2**31 - 1  # bytes; a larger entry needs the format's longer numbers


def artifact_path(artifact: Artifact) -> Path:
    """The file or folder of an artefact. Raises ValueError for one that leads out of its run's own folder, and
    FileNotFoundError where it is gone.
    """
    path = home_path(artifact.path)
    folder = run_folder(artifact.run_id).resolve()
    if path == folder or not path.is_relative_to(folder):
        raise ValueError(f"{artifact.path} lies outside the folder of run {artifact.run_id}.")
    if not path.exists():
        raise FileNotFoundError(artifact.path)
    return path


class _Passing:
    """Where the zip file is written to: what came since the last look is handed on."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []

    def write(self, block: bytes, /) -> int:
        self._blocks.append(bytes(block))
        return len(block)

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """Whoever reads has had everything."""

    def taken(self) -> bytes:
        blocks, self._blocks = self._blocks, []
        return b"".join(blocks)


def zip_of(folder: Path) -> Iterator[bytes]:
    """The blocks of a zip file of every file in the folder, stored as they are: weights do not compress.

    Links are left out, so that nothing from elsewhere comes along. Dates are the format's first, so that the same
    folder makes the same bytes. Names begin with the folder's own.
    """
    passing = _Passing()
    with zipfile.ZipFile(passing, "w", zipfile.ZIP_STORED) as archive:
        for file in files_of(folder):
            name = f"{folder.name}/{file.relative_to(folder).as_posix()}"
            yield from _entry(archive, passing, file, zipfile.ZipInfo(name))
    yield passing.taken()


def files_of(folder: Path) -> list[Path]:
    """Every file below the folder by name; no links, and nothing behind one."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    whole = folder.resolve()
    return [path for path in found if path.resolve() == whole / path.relative_to(folder)]


def _entry(archive: zipfile.ZipFile, passing: _Passing, file: Path, info: zipfile.ZipInfo) -> Iterator[bytes]:
    large = file.stat().st_size > _LARGE
    with file.open("rb") as source, archive.open(info, "w", force_zip64=large) as entry:
        while block := source.read(BLOCK):
            entry.write(block)
            yield passing.taken()
