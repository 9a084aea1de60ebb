"""A folder of files that says what it holds: its manifest with checksums, and the folder as one zip."""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

from curation.files.drafts import FileError
from curation.files.json_text import json_from
from curation.files.writing import sha256_of

MANIFEST = "manifest.json"
# A zip of some kilobytes can unpack to gigabytes. A bundle's own manifest has about 200 bytes a file.
MOST_MANIFEST_BYTES = 4 * 1024**2
MOST_UNPACKED_BYTES = 8 * 1024**3
MOST_MEMBERS = 10_000
_PIECE = 1024**2
# What is read by its name, from a folder or out of a zip.
Contents = Mapping[str, Callable[[], IO[bytes]]]
# What reading a damaged, encrypted or unknown member of a zip raises, and a file on a disk.
_UNREADABLE = (OSError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile)
# A zip holds a time for each file, and nothing before 1980; the same files give the same zip.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def write_manifest(folder: Path, about: Mapping[str, Any]) -> dict[str, str]:
    """Write `manifest.json`: `about`, and the size and SHA-256 of each other file. Returns the checksums."""
    paths = [path for path in _files(folder) if path.name != MANIFEST]
    files = {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
        for path in paths
    }
    text = json.dumps({**about, "files": files}, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return {name: str(facts["sha256"]) for name, facts in files.items()}


def manifest_faults(place: Path) -> list[str]:
    """What is not as the manifest of a folder, or of a zip of one, says: a sentence each; none where it is whole.

    Files are read in pieces, so that their size costs time and no memory. Raises FileError where nothing can be opened
    there, it has no manifest, or it is larger than any bundle.
    """
    with _opened(place) as contents:
        stated = _stated(contents, place)
        there = contents.keys() - {MANIFEST}
        faults = [f"{name} is missing." for name in sorted(stated.keys() - there)]
        faults += [f"{name} is not in the manifest." for name in sorted(there - stated.keys())]
        allowance = _Allowance(MOST_UNPACKED_BYTES, f"The files of {place} unpack to")
        for name in sorted(stated.keys() & there):
            faults += _fault(name, contents[name], stated[name], allowance)
    return faults


class _Allowance:
    """How many bytes may still be read: counted as they come, since what a zip says of its sizes need not be true."""

    def __init__(self, most: int, what: str) -> None:
        self._most = self._left = most
        self._what = what

    def pieces(self, file: IO[bytes]) -> Iterator[bytes]:
        """The file's bytes. Raises FileError once more have been read than is allowed."""
        while piece := file.read(_PIECE):
            self._left -= len(piece)
            if self._left < 0:
                raise FileError(
                    f"{self._what} more than {_megabytes(self._most)}, which no bundle does; get the bundle again."
                )
            yield piece


def _megabytes(size: int) -> str:
    return f"{size / 1024**2:,.0f} MB"


def _fault(name: str, opening: Callable[[], IO[bytes]], sha256: str, allowance: _Allowance) -> Iterator[str]:
    found = hashlib.sha256()
    try:
        with opening() as file:
            for piece in allowance.pieces(file):
                found.update(piece)
    except _UNREADABLE:
        yield f"{name} cannot be read."
    else:
        if found.hexdigest() != sha256:
            yield f"{name} was changed."


def _stated(contents: Contents, place: Path) -> dict[str, str]:
    """The SHA-256 of each file by its name."""
    if MANIFEST not in contents:
        raise FileError(f"{place} has no {MANIFEST}, so it is no bundle; check the path.")
    allowance = _Allowance(MOST_MANIFEST_BYTES, f"{MANIFEST} of {place} unpacks to")
    try:
        with contents[MANIFEST]() as file:
            files = json_from(b"".join(allowance.pieces(file)))["files"]
        return {str(name): str(facts["sha256"]) for name, facts in files.items()}
    except FileError:
        raise
    except (*_UNREADABLE, ValueError, LookupError, TypeError, AttributeError) as error:
        raise FileError(
            f"{MANIFEST} of {place} states no checksums that can be read; get the bundle again."
        ) from error


@contextmanager
def _opened(place: Path) -> Iterator[Contents]:
    if place.is_dir():
        yield {path.relative_to(place).as_posix(): partial(_open, path) for path in _files(place)}
        return
    try:
        archive = zipfile.ZipFile(place)
    except (zipfile.BadZipFile, ValueError) as error:
        raise FileError(f"{place} is neither a folder nor a zip; give a bundle.") from error
    except OSError as error:
        raise FileError(f"{place} cannot be read: {error.strerror or error}; check the path.") from error
    with archive:
        if len(archive.infolist()) > MOST_MEMBERS:
            raise FileError(
                f"{place} holds more than {MOST_MEMBERS:,} files, which no bundle does; get the bundle again."
            )
        yield _zipped(archive)


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def _zipped(archive: zipfile.ZipFile) -> Contents:
    """Names below the folder that holds the manifest; what lies outside it keeps its whole name."""
    members = {info.filename: partial(archive.open, info) for info in archive.infolist() if not info.is_dir()}
    manifests = [name for name in members if name.split("/")[-1] == MANIFEST and name.count("/") < 2]
    folder = min(manifests, key=len, default="").removesuffix(MANIFEST)
    return {name.removeprefix(folder): opening for name, opening in members.items()}


def zip_folder(folder: Path, file: IO[bytes], *, name: str) -> None:
    """Write the folder's files as a zip in which they stand under `name`/; the same files, the same bytes."""
    with zipfile.ZipFile(file, "w") as archive:
        for path in _files(folder):
            inside = zipfile.ZipInfo(f"{name}/{path.relative_to(folder).as_posix()}", date_time=_NO_TIME)
            inside.compress_type = zipfile.ZIP_DEFLATED
            inside.external_attr = 0o644 << 16
            archive.writestr(inside, path.read_bytes())


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
