"""Files and folders that are there whole or not at all: written beside, synced to the disk, renamed into place."""

import errno
import fcntl
import glob
import hashlib
import io
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Protocol, TextIO
from uuid import uuid4

from curation.files.drafts import FileError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
# What libraries say that give no number: Rust's, SQLite, and numpy and torch, which only see that less was written.
_SENTENCES = (*(re.escape(os.strerror(number)) for number in _FULL), "disk is full")
_SAYS_FULL = re.compile(
    "|".join((*_SENTENCES, r"\d+ requested and \d+ written", r"unexpected pos \d+ vs \d+"))
)
_FULL_SHOWN = "The disk is full, so {} was not written; free some space and try again."
_SAYS_READ_ONLY = re.compile(re.escape(os.strerror(errno.EROFS)))
_READ_ONLY_SHOWN = "The disk is read-only, so {} was not written; make it writable and try again."
_TAKEN = frozenset({errno.ENOTEMPTY, errno.EEXIST})


class Watcher(Protocol):
    """Is told what came into its place, whole, and what was removed: before the writer goes on."""

    def written(self, path: Path) -> None: ...
    def removed(self, path: Path) -> None: ...


_watchers: list[Watcher] = []


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Tell the watcher, until the block ends, of every file and folder of this process."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write, which takes the place of `path` once it is whole; an error leaves nothing of it.

    Raises FileError where the disk is full or the place cannot be written, or holds something other than a file.
    """
    with _shown(path):
        folder = path.is_dir()
        # A rename would put a file in the place of a device, such as /dev/stdout, for all who use it. /dev/stdout may
        # lead to a file, and is a link of the system's all the same.
        other = path.parent == Path("/dev") or (path.exists() and not path.is_file())
    if folder or not path.name:
        raise FileError(f"{path} is a folder; give the name of a file in it.")
    if other:
        raise FileError(f"{path} is a device or a pipe, and only files are written whole; give another path.")
    leftovers_remove(path)
    with _shown(path):
        while True:
            beside = path.with_name(f".{path.name}.{uuid4().hex}.part")
            file = beside.open("xb")
            # Locked for as long as it is open. Some network folders know no locks; there nobody takes a file for
            # abandoned either.
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_nlink:
                break
            file.close()  # before it was locked, somebody took it for abandoned
    try:
        # Whoever writes may fail in its own ways, which are not this file's; a full disk is.
        with _disk_shown(path, OSError), file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            with _shown(path):
                beside.replace(path)
                sync_folder(path.parent)
        tell_written(path)
    finally:
        beside.unlink(missing_ok=True)


def leftovers_remove(path: Path) -> None:
    """Remove files of processes that were killed while they wrote `path`; a process that still writes holds a lock."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError), part.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


@contextmanager
def folder_replacing(path: Path, *, once: bool = False) -> Iterator[Path]:
    """An empty folder to fill, which takes the place of `path` once it is whole; an error leaves nothing of it.

    once: whether a folder stays that another process has put there in the meantime (several write the same). Otherwise
    it gives way, and is gone for a moment: a folder cannot be exchanged in one step.
    Raises FileError where the disk is full, whichever library found out, or the place cannot be written.
    """
    beside = path.with_name(f".{path.name}.{uuid4().hex}.part")
    with _shown(path):
        beside.mkdir()
    try:
        with _disk_shown(path):
            yield beside
            for folder_path, _folders, files in os.walk(beside):
                for name in files:
                    with (Path(folder_path) / name).open("rb") as file:
                        os.fsync(file.fileno())
                sync_folder(Path(folder_path))
        with _shown(path):
            try:
                beside.rename(path)
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
                if not once:
                    older = path.with_name(f".{path.name}.{uuid4().hex}.part")
                    path.rename(older)
                    beside.rename(path)
                    shutil.rmtree(older, ignore_errors=True)
            sync_folder(path.parent)
        tell_written(path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def folder_remove(path: Path) -> None:
    """Remove a folder, if it is there."""
    shutil.rmtree(path, ignore_errors=True)
    tell_removed(path)


def tell_written(path: Path) -> None:
    """Tell the watchers of this process of what came into its place, here or in a process that works for it."""
    for watcher in tuple(_watchers):
        watcher.written(path)


def tell_removed(path: Path) -> None:
    """Tell them of what went."""
    for watcher in tuple(_watchers):
        watcher.removed(path)


def disk_is_full(error: BaseException | None) -> bool:
    """Whether the error, of whichever library, or one behind it says that a disk or a quota is full."""
    return _is_behind(error, _FULL, _SAYS_FULL)


def disk_is_read_only(error: BaseException | None) -> bool:
    """Whether the error, of whichever library, or one behind it says that a disk takes no writes at all."""
    return _is_behind(error, frozenset({errno.EROFS}), _SAYS_READ_ONLY)


def _is_behind(error: BaseException | None, numbers: frozenset[int], sentences: re.Pattern[str]) -> bool:
    while error is not None:
        if getattr(error, "errno", None) in numbers or sentences.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


@contextmanager
def _disk_shown(path: Path, kind: type[Exception] = Exception) -> Iterator[None]:
    """Turn a disk that takes nothing into a FileError; the caller may fail in its own ways, which are not the
    file's.
    """
    try:
        yield
    except kind as error:
        if isinstance(error, FileError):
            raise
        if disk_is_full(error):
            raise FileError(_FULL_SHOWN.format(path.name)) from error
        if disk_is_read_only(error):
            raise FileError(_READ_ONLY_SHOWN.format(path.name)) from error
        raise


@contextmanager
def _shown(path: Path) -> Iterator[None]:
    """Turn what the system says into a FileError."""
    try:
        yield
    except OSError as error:
        raise FileError(_sentence(error, path)) from error


@contextmanager
def as_text(file: IO[bytes]) -> Iterator[TextIO]:
    """The file as UTF-8 text, whose line ends are written as they are."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    try:
        yield text
    finally:
        text.detach()  # writes what is left, and leaves the file open to be synced


def make_folder(folder: Path) -> None:
    """Make a folder and those above it. Raises FileError where the disk is full or the place cannot be written."""
    with _shown(folder):
        folder.mkdir(parents=True, exist_ok=True)


def sync_folder(folder: Path) -> None:
    """Make a rename in the folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sentence(error: OSError, path: Path) -> str:
    if error.errno in _FULL:
        return _FULL_SHOWN.format(path.name)
    if error.errno == errno.EROFS:
        return _READ_ONLY_SHOWN.format(path.name)
    if error.errno == errno.ENOTDIR:
        return f"{path.parent} is not a folder, so {path.name} was not written; choose another place."
    if error.errno == errno.ENOENT and not path.parent.is_dir():
        missing = f"The folder {path.parent} does not exist"
        return f"{missing}, so {path.name} was not written; make the folder first."
    return f"{path.name} cannot be written: {error.strerror or error}; choose another place."


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, 64 hexadecimal digits; read in pieces, so that a file of any size will do."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_several(sums: Sequence[str]) -> str:
    """The checksum of files by theirs, in any order: that of a single file, else of all of them together."""
    return sums[0] if len(sums) == 1 else hashlib.sha256("".join(sorted(sums)).encode()).hexdigest()
