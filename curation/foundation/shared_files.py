"""Files that web and workers share: whole files and folders in one store, beside this machine's SEMBLANCE_HOME.

Where no store is named (STORAGE_URL), SEMBLANCE_HOME is all there is, and nothing here does anything. Where one is,
whatever others may need is put there under its path relative to SEMBLANCE_HOME, and SEMBLANCE_HOME is a cache: code
goes on working with paths, and a file that is not here yet is fetched when its path is asked for.

In the store, `files/PATH` are the bytes, and `sums/PATH` lists the files that belong to PATH with their SHA-256. It is
written last and removed first: what has a list is whole.
"""

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from functools import wraps
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, ParamSpec, Protocol, TypeVar
from uuid import uuid4

from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import storages
from django.utils.translation import gettext as _

from curation.files.drafts import FileError
from curation.files.sums import FileSum, content_sum, is_of_file, sums_of, sums_read, sums_text
from curation.files.writing import folder_replacing, make_folder, replacing
from curation.foundation.errors import UserError, errors_shown

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")
ALIAS = "shared"  # in Django's STORAGES
PIECE = 1024**2  # bytes


class StorageError(UserError):
    """The store refuses, or has something else than what was put there. One sentence."""

    status = 500


class StorageAway(StorageError):  # noqa: N818 - the store is away
    """The store cannot be reached, or does not work now: the same may go well later."""

    status = 503


class DamagedError(StorageError):
    """The store has other bytes than those that were put there."""


class StoredObject(NamedTuple):
    name: str
    size: int
    changed: datetime


class Store(Protocol):
    """What is asked of a store, which is a storage of Django's; `talking` turns its errors into ours."""

    url: str

    def save(self, name: str, content: "File[Any]") -> str: ...
    def delete(self, name: str) -> None: ...
    def exists(self, name: str) -> bool: ...
    def fetch(self, name: str, into: IO[bytes]) -> None: ...
    def objects(self, folder: str) -> Iterator[StoredObject]: ...
    def bucket_require(self, *, hurried: bool = False) -> None: ...
    def bucket_make(self) -> bool: ...
    def talking(self) -> Any: ...


def shared_store() -> Store | None:
    """None where web and workers share SEMBLANCE_HOME."""
    if ALIAS not in settings.STORAGES:
        return None
    store: Any = storages[ALIAS]
    return store  # type: ignore[no-any-return]


# Whether what is being written here comes from the store, so that nobody sends it there again.
fetching: ContextVar[bool] = ContextVar("fetching", default=False)
_wait: ContextVar[Callable[[str], None] | None] = ContextVar("wait", default=None)


@contextmanager
def _set(variable: ContextVar[T], value: T) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def store_awaited(wait: Callable[[str], None]) -> Iterator[None]:
    """While the store is away, what the block asks of it waits: wait(sentence) is called before it asks again."""
    with _set(_wait, wait):
        yield


def _awaited(verb: Callable[P, R]) -> Callable[P, R]:
    @wraps(verb)
    def patient(*args: P.args, **names: P.kwargs) -> R:
        while True:
            try:
                return verb(*args, **names)
            except StorageAway as error:
                wait = _wait.get()
                if wait is None:
                    raise
                wait(str(error))

    return patient


@_awaited
def shared_put(path: Path) -> None:
    """Give others a file or folder of SEMBLANCE_HOME, which is whole and does not change any more."""
    store = shared_store()
    if store is None:
        return
    relative = path.relative_to(settings.SEMBLANCE_HOME).as_posix()
    sums = sums_of(path)
    with suppress(DamagedError):
        if shared_sums(relative) == sums:  # another worker was faster, and somebody may be reading it
            return
    with store.talking():
        store.delete(f"sums/{relative}")
        for one in sums:
            with (path / one.name).open("rb") as file:
                store.save(_object(relative, one), File(file))
        store.save(f"sums/{relative}", ContentFile(sums_text(sums).encode()))


@_awaited
def shared_path(relative: str, sha256: str = "") -> Path:
    """Where the file or folder lies here; fetched first where it does not. Nothing is there if the store has none.

    sha256: what the content has to be (`content_sum`), where that is known. Raises StorageError.
    """
    path = Path(settings.SEMBLANCE_HOME) / relative
    if shared_store() is not None and not path.exists():
        sums = shared_sums(relative)
        if sums is not None:
            if sha256 and content_sum(sums) != sha256:
                raise _damaged(relative, content_sum(sums), sha256)
            _fetched(relative, sums, path)
    return path


@_awaited
def shared_refreshed(relative: str) -> Path:
    """As `shared_path`, for what somebody else may have written again: a copy here that is older is replaced."""
    path = Path(settings.SEMBLANCE_HOME) / relative
    sums = shared_sums(relative)
    if sums is not None and not (path.exists() and sums_of(path) == sums):
        local_remove(path)
        _fetched(relative, sums, path)
    return path


def shared_sums(relative: str) -> list[FileSum] | None:
    """The files that the store has of it; None where there is no store, or it has none."""
    store = shared_store()
    if store is None:
        return None
    content = BytesIO()
    try:
        store.fetch(f"sums/{relative}", content)
    except FileNotFoundError:
        return None
    try:
        return sums_read(content.getvalue().decode())
    except ValueError as error:
        raise DamagedError(
            _("The list of the files of %(path)s in the file storage %(url)s is damaged."),
            path=relative,
            url=store.url,
        ) from error


def shared_names(folder: str) -> list[str]:
    """The paths of everything that the store has below a folder of SEMBLANCE_HOME."""
    return [one.name.removeprefix("sums/") for one in shared_objects(f"sums/{folder}")]


@_awaited
def shared_objects(folder: str) -> list[StoredObject]:
    """What the store has below `files/…` or `sums/…`; nothing where there is no store."""
    store = shared_store()
    return [] if store is None else list(store.objects(folder))


@_awaited
def shared_remove(relative: str) -> None:
    """Remove a file or folder, and everything below it, from the store. What lies here is the caller's."""
    store = shared_store()
    if store is None:
        return
    with store.talking():
        for kind in ("sums", "files"):
            # What is below goes first: some stores take the name for that of a folder, and keep full ones.
            for name in [*(one.name for one in store.objects(f"{kind}/{relative}")), f"{kind}/{relative}"]:
                store.delete(name)


def shared_forget(objects: Iterable[StoredObject]) -> None:
    """Remove these objects from the store."""
    store = shared_store()
    if store is not None:
        with store.talking():
            for one in objects:
                store.delete(one.name)


def shared_try() -> None:
    """Write, read and remove a small object. Raises StorageError where that does not work."""
    store = shared_store()
    if store is None:
        return
    store.bucket_require()
    name, read = f"files/trials/{uuid4().hex}", BytesIO()
    with store.talking():
        store.save(name, ContentFile(b"semblance"))
        store.fetch(name, read)
        store.delete(name)
    if read.getvalue() != b"semblance":
        raise DamagedError(
            _("The file storage %(url)s gives other bytes than it was given. Check its disks."), url=store.url
        )


def shared_problem() -> StorageError | None:
    """Why the store does not answer now; None where it does, or where there is none. It waits two seconds at most."""
    store = shared_store()
    try:
        if store is not None:
            store.bucket_require(hurried=True)
    except StorageError as error:
        return error
    return None


def local_remove(path: Path) -> None:
    """Remove a file or folder from this machine."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _fetched(relative: str, sums: Sequence[FileSum], path: Path) -> None:
    """Put the files here, whole or not at all. What came damaged is fetched a second time."""
    with errors_shown(FileError), _set(fetching, True):
        make_folder(path.parent)
        try:
            _fetch(relative, sums, path)
        except DamagedError:
            _fetch(relative, sums, path)


def _fetch(relative: str, sums: Sequence[FileSum], path: Path) -> None:
    if is_of_file(sums):
        with replacing(path) as file:
            _copied(relative, sums[0], file)
        return
    with folder_replacing(path, once=True) as folder:
        for one in sums:
            place = folder / one.name
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as file:
                _copied(relative, one, file)


def _copied(relative: str, one: FileSum, into: IO[bytes]) -> None:
    store = shared_store()
    assert store is not None  # noqa: S101 - sums exist only with a store
    name = _object(relative, one)
    writer = _Summing(into)
    try:
        store.fetch(name, writer)  # type: ignore[arg-type]
    except FileNotFoundError:
        sentence = _("The file storage %(url)s has lost %(name)s. Restore it from a backup of the bucket.")
        raise DamagedError(sentence, url=store.url, name=name) from None
    if writer.sha256 != one.sha256:
        raise _damaged(name, writer.sha256, one.sha256)


class _Summing:
    """A file that is written, and the SHA-256 of what was written. Pieces come in order."""

    def __init__(self, into: IO[bytes]) -> None:
        self._into = into
        self._digest = hashlib.sha256()

    def write(self, piece: bytes) -> int:
        self._digest.update(piece)
        return self._into.write(piece)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


def _damaged(name: str, found: str, expected: str) -> DamagedError:
    sentence = _(
        "%(name)s in the file storage is not what was put there: its SHA-256 begins with %(found)s, not with "
        "%(expected)s. Restore it from a backup of the bucket."
    )
    return DamagedError(sentence, name=name, found=found[:12], expected=expected[:12])


def _object(relative: str, one: FileSum) -> str:
    return f"files/{PurePosixPath(relative) / one.name}"
