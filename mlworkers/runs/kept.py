"""What attempts of a run share (`kept`) in the file storage, so that a worker on another machine goes on with it.

Whatever is written there whole goes into the storage before its writer goes on, and what is removed goes from it. So
the storage has what the disk of a worker that is killed has. Without a storage all this is the folder alone.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from curation.files.writing import watched
from curation.foundation.shared_files import (
    DamagedError,
    fetching,
    local_remove,
    shared_names,
    shared_path,
    shared_put,
    shared_refreshed,
    shared_remove,
    shared_store,
    store_awaited,
)
from mlworkers.runs.storage import home_relative, kept_folder

SECONDS_BETWEEN_TRIES = 2.0
OWN = ("assistants",)  # below `kept`, but nobody else reads it
SHARDS = "shards"


@contextmanager
def kept_shared(run_id: int, report: Callable[[str], object]) -> Iterator[None]:
    """Share what the block writes below the run's folder, and fetch first what others have written.

    While the storage is away the block waits: report(sentence) says so, and may end the block by an error.
    """
    if shared_store() is None:
        yield
        return

    def wait(sentence: str) -> None:
        report(sentence)
        time.sleep(SECONDS_BETWEEN_TRIES)

    with store_awaited(wait), watched(_Sharing(run_id)):
        kept_fetch(run_id)
        yield


class _Sharing:
    def __init__(self, run_id: int) -> None:
        self._folder = kept_folder(run_id)

    def written(self, path: Path) -> None:
        if self._is_shared(path) and not fetching.get():
            shared_put(path)

    def removed(self, path: Path) -> None:
        if self._is_shared(path):
            shared_remove(home_relative(path))

    def _is_shared(self, path: Path) -> bool:
        if not path.is_relative_to(self._folder):
            return False
        parts = path.relative_to(self._folder).parts
        return parts[:1] != OWN and not any(part.endswith(".part") for part in parts)


def kept_fetch(run_id: int, *, shards: bool = False) -> None:
    """Fetch what attempts of the run share, shards only on demand: they are fetched as they are needed.

    Whatever lies there would be the same had this worker written it, so what is here stays. If something is damaged,
    all of it goes: the run begins again, which gives the same result.
    """
    kept = home_relative(kept_folder(run_id))
    try:
        for name in shared_names(kept):
            if shards or not name.startswith(f"{kept}/{SHARDS}/"):
                shared_path(name)
    except DamagedError:
        local_remove(kept_folder(run_id))
        shared_remove(kept)


def kept_remove(run_id: int) -> None:
    """Raises StorageError, with what is here still there, where the storage cannot be asked."""
    shared_remove(home_relative(kept_folder(run_id)))
    local_remove(kept_folder(run_id))


def kept_newest(path: Path) -> Path:
    """A file of `kept` as the storage has it, whose writers need not have written the same."""
    if shared_store() is not None:
        with suppress(DamagedError):
            shared_refreshed(home_relative(path))
    return path


def shard_here(path: Path) -> bool:
    """Whether a shard's result is on this machine, or could be fetched. One that is damaged is forgotten."""
    if not path.exists() and shared_store() is not None:
        try:
            shared_path(home_relative(path))
        except DamagedError:
            shared_remove(home_relative(path))
    return path.exists()


def shard_give(path: Path) -> None:
    """Give others a shard that was found here: the worker that wrote it may have been killed before it did."""
    if shared_store() is not None:
        shared_put(path)
