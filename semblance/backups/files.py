"""The files of an installation, held as they are while the site goes on: by a second name, which takes no room.

A file that Semblance has written is never changed, only replaced or removed, or, for logs, continued. So a link to
it keeps what it was.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from curation.files.sums import sum_of_folder
from curation.foundation.shared_files import (
    DamagedError,
    StorageError,
    shared_names,
    shared_path,
    shared_put,
    shared_remove,
    shared_store,
)
from curation.models import ImportBatch, Snapshot
from mlworkers.models import Artifact
from semblance.backups.archive import FileCopy
from semblance.folder import FILES

# What Semblance writes and other people refer to. Messages to workers are not copied: runs are rows, and the sweep
# invites again. Nor are bundles of campaigns: they are made again from the rows.
KEPT_FOLDERS = ("imports", "runs", "snapshots")
TRANSIENT_FOLDERS = ("broker", "bundles", "converted")


class Reference(NamedTuple):
    """A file or folder that a row names, and the SHA-256 that it should have (none: it is not known)."""

    path: str
    sha256: str

    @property
    def entry(self) -> str:
        """What the file storage has it as: an upload goes there with its folder."""
        return str(PurePosixPath(self.path).parent) if self.path.startswith("imports/") else self.path


class HeldFiles:
    """Links to every file of an installation's folders, in a folder beside them."""

    def __init__(self, home: Path, beside: Path) -> None:
        self._home = home
        self._beside = beside
        self.links_left_out: list[str] = []

    def hold(self) -> None:
        """Hold what is there now, in addition to what is held already."""
        for name in KEPT_FOLDERS:
            for path in _files_in(self._home / name):
                relative = path.relative_to(self._home)
                if path.is_symlink():
                    if str(relative) not in self.links_left_out:
                        self.links_left_out.append(str(relative))
                    continue
                held = self._beside / relative
                if not held.exists():
                    held.parent.mkdir(parents=True, exist_ok=True)
                    with suppress(FileNotFoundError):  # removed in the meantime
                        # Some network folders know no links, and none leads to another disk; there it is a copy.
                        try:
                            os.link(path, held, follow_symlinks=False)
                        except FileNotFoundError:
                            raise
                        except OSError:
                            shutil.copyfile(path, held)

    def missing(self, references: list[Reference]) -> list[str]:
        return [one.path for one in references if not (self._beside / one.path).exists()]

    def each(self) -> Iterator[tuple[str, Path]]:
        """The path of each file relative to SEMBLANCE_HOME, and where to read it."""
        for path in sorted(_files_in(self._beside)):
            yield path.relative_to(self._beside).as_posix(), path


@contextmanager
def files_held(home: Path) -> Iterator[HeldFiles]:
    with TemporaryDirectory(prefix=".backup-", dir=home) as beside:
        yield HeldFiles(home, Path(beside))


def references_now() -> list[Reference]:
    """What the rows of the database say lies in the folders."""
    artifacts = Artifact.objects.filter(removed_at=None).order_by("pk").values_list("path", "sha256")
    snapshots = Snapshot.objects.order_by("pk").values_list("path", "sha256")
    waiting = ImportBatch.objects.exclude(path="").exclude(state=ImportBatch.State.DONE).order_by("pk")
    named = [Reference(path, sha256) for path, sha256 in (*artifacts, *snapshots)]
    return [*named, *(Reference(path, "") for path in waiting.values_list("path", flat=True))]


def files_missing(home: Path) -> tuple[list[str], int]:
    """The paths that rows name and that are not there, and how many rows name one."""
    named = references_now()
    missing = [one for one in named if not (home / one.path).exists()]
    if missing and shared_store() is not None:
        stored = {name for folder in KEPT_FOLDERS for name in shared_names(folder)}
        missing = [one for one in missing if one.entry not in stored]
    return [one.path for one in missing], len(named)


def references_fetch() -> None:
    """Fetch from the file storage what rows name and is not on this machine. Raises StorageError where it is away."""
    for one in references_now() if shared_store() else ():
        with suppress(DamagedError):  # it is missing then, which the backup says
            shared_path(one.entry, one.sha256)


def references_put(home: Path) -> None:
    """Put what rows name into the file storage, if there is one, which is empty: all of it, or nothing."""
    try:
        for one in references_now() if shared_store() else ():
            if (home / one.entry).exists():
                shared_put(home / one.entry)
    except BaseException:
        with suppress(StorageError):
            for folder in KEPT_FOLDERS:
                shared_remove(folder)
        raise


def damaged_of(references: list[Reference], copies: Sequence[FileCopy]) -> list[str]:
    """The files and folders whose content is not what their rows say, by the checksums of the copies."""
    known = [one for one in references if one.sha256]
    sums = {copy.path: copy.sha256 for copy in copies}
    within: dict[str, list[tuple[str, str]]] = {one.path: [] for one in known if one.path not in sums}
    # As paths are sorted where the sums of rows are made (`sums_of`): `a/x` before `a-b/x`.
    for path, sha256 in sorted(sums.items(), key=lambda found: PurePosixPath(found[0])):
        for parent in PurePosixPath(path).parents:
            if (folder := str(parent)) in within:
                within[folder].append((str(PurePosixPath(path).relative_to(parent)), sha256))
    for folder, lines in within.items():
        if lines:
            sums[folder] = sum_of_folder(lines)
    return [one.path for one in known if sums.get(one.path, one.sha256) != one.sha256]


def others_in(home: Path) -> list[str]:
    """What lies in SEMBLANCE_HOME and was not written by Semblance, by name."""
    ours = {*KEPT_FOLDERS, *TRANSIENT_FOLDERS}
    names = (path for path in home.iterdir() if path.name not in ours and not path.name.startswith("."))
    return sorted(path.name for path in names if not any(path.match(pattern) for pattern in FILES))


def folders_in_use(home: Path) -> list[str]:
    """The folders of Semblance's that hold a file, here or in the file storage."""
    return [
        name for name in KEPT_FOLDERS if next(_files_in(home / name), None) is not None or shared_names(name)
    ]


def _files_in(folder: Path) -> Iterator[Path]:
    for place, _folders, names in os.walk(folder):
        for name in names:
            if not name.endswith(".part"):  # still being written
                yield Path(place, name)
