"""A folder of files with a manifest of their checksums, read from the folder or from its zip."""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from io import FileIO
from pathlib import Path
from typing import IO, Any

from curation.files.drafts import FileError
from curation.files.json_text import json_from
from curation.files.writing import sha256_of

MANIFEST = "manifest.json"
# A zip of some kilobytes can unpack to gigabytes. A bundle's own manifest has about 200 bytes per file.
MOST_MANIFEST_BYTES = 4 * 1024**2
MOST_UNPACKED_BYTES = 8 * 1024**3
MOST_MEMBERS = 10_000
_PIECE = 1024**2
# Files by name, to be opened in a folder or in a zip.
FilesByName = Mapping[str, Callable[[], IO[bytes]]]
# What reading a damaged, encrypted or unknown member of a zip raises, and a file on a disk.
_UNREADABLE = (OSError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile)


def write_manifest(folder: Path, about: Mapping[str, Any]) -> dict[str, str]:
    """Write `manifest.json`: `about`, and the size and SHA-256 of each other file. Returns the checksums."""
    files = {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
        for path in _paths(folder)
        if path.name != MANIFEST
    }
    text = json.dumps({**about, "files": files}, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return {name: str(facts["sha256"]) for name, facts in files.items()}


def manifest_faults(bundle: Path) -> list[str]:
    """How a folder, or a zip of one, differs from its manifest: a sentence for each fault; none if it is complete.

    Files are read in pieces, so that a large one takes time but no memory. Raises FileError if nothing can be opened
    there, it has no manifest, or it is larger than any bundle.
    """
    with _opened(bundle) as files:
        listed = _listed_checksums(files, bundle)
        present = files.keys() - {MANIFEST}
        faults = [f"{name} is missing." for name in sorted(listed.keys() - present)]
        faults += [f"{name} is not in the manifest." for name in sorted(present - listed.keys())]
        limit = _ByteLimit(MOST_UNPACKED_BYTES, f"The files of {bundle} unpack to")
        for name in sorted(listed.keys() & present):
            digest = hashlib.sha256()
            try:
                with files[name]() as file:
                    for piece in limit.pieces(file):
                        digest.update(piece)
            except _UNREADABLE:
                faults.append(f"{name} cannot be read.")
                continue
            if digest.hexdigest() != listed[name]:
                faults.append(f"{name} was changed.")
        return faults


def manifest_names(folder: Path) -> set[str]:
    """The files that a folder's manifest lists. Raises FileError if it has none that can be read."""
    with _opened(folder) as files:
        return set(_listed_checksums(files, folder))


class _ByteLimit:
    """How many bytes may still be read: counted as they come, because the sizes that a zip states may be false."""

    def __init__(self, most: int, what: str) -> None:
        self._most = self._left = most
        self._what = what

    def pieces(self, file: IO[bytes]) -> Iterator[bytes]:
        """The file's bytes. Raises FileError once more have been read than is allowed."""
        while piece := file.read(_PIECE):
            self._left -= len(piece)
            if self._left < 0:
                most = f"{self._most / 1024**2:,.0f} MB"
                raise FileError(f"{self._what} more than {most}, which no bundle does; get the bundle again.")
            yield piece


def _listed_checksums(files: FilesByName, bundle: Path) -> dict[str, str]:
    """The SHA-256 of each file by its name, as the manifest lists it."""
    if MANIFEST not in files:
        raise FileError(f"{bundle} has no {MANIFEST}, so it is not a bundle; check the path.")
    limit = _ByteLimit(MOST_MANIFEST_BYTES, f"{MANIFEST} of {bundle} unpacks to")
    try:
        with files[MANIFEST]() as file:
            listed = json_from(b"".join(limit.pieces(file)))["files"]
        return {str(name): str(facts["sha256"]) for name, facts in listed.items()}
    except FileError:
        raise
    except (*_UNREADABLE, ValueError, LookupError, TypeError, AttributeError) as error:
        raise FileError(
            f"{MANIFEST} of {bundle} contains no checksums that can be read; get the bundle again."
        ) from error


@contextmanager
def _opened(bundle: Path) -> Iterator[FilesByName]:
    if bundle.is_dir():
        yield {path.relative_to(bundle).as_posix(): partial(FileIO, path) for path in _paths(bundle)}
        return
    try:
        archive = zipfile.ZipFile(bundle)
    except (zipfile.BadZipFile, ValueError) as error:
        raise FileError(f"{bundle} is neither a folder nor a zip; give a bundle.") from error
    except OSError as error:
        raise FileError(f"{bundle} cannot be read: {error.strerror or error}; check the path.") from error
    with archive:
        if len(archive.infolist()) > MOST_MEMBERS:
            raise FileError(
                f"{bundle} holds more than {MOST_MEMBERS:,} files, which no bundle does; get the bundle again."
            )
        # Names below the folder that holds the manifest; a file outside it keeps its whole name.
        members = {info.filename: info for info in archive.infolist() if not info.is_dir()}
        manifests = [name for name in members if name.split("/")[-1] == MANIFEST and name.count("/") < 2]
        folder = min(manifests, key=len, default="").removesuffix(MANIFEST)
        yield {name.removeprefix(folder): partial(archive.open, info) for name, info in members.items()}


def _paths(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
