"""An installation's folder is private: it holds password hashes, the secret key and what people write."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

# What an installation makes. Anything else in the folder is its owner's, and is left as it is.
FILES = ("*.sqlite3*", "secret_key", "beat-schedule*")
FOLDERS = ("broker", "bundles", "imports", "runs", "snapshots")


def folder_private(home: Path, *, umask: int) -> None:
    """Make the folder if it is missing, and close to others what an installation made in it before.

    umask: the permissions that nobody else gets, here as for every file that this process makes from now on.
    Inside a closed folder nothing can be reached, so that usually only the first start looks at every file.
    Links are not followed, and what belongs to another user of the machine is left to them.
    """
    os.umask(umask)
    home.mkdir(parents=True, exist_ok=True)
    if not _is_open(home, umask):
        return
    # Only where nobody uses the folder for anything else: not /tmp (its sticky bit), not /srv with its other folders.
    others = (path for path in home.iterdir() if path.name not in FOLDERS and path.is_dir())
    if not home.stat().st_mode & stat.S_ISVTX and not any(_is_open(path, umask) for path in others):
        _close(home, umask)
    for path in _made_in(home):
        _close(path, umask)


def _is_open(path: Path, umask: int) -> bool:
    return bool(path.stat().st_mode & umask)


def _made_in(home: Path) -> Iterator[Path]:
    for pattern in FILES:
        yield from home.glob(pattern)
    for name in FOLDERS:
        folder = home / name
        yield folder
        if not folder.is_symlink():
            for folder_path, folders, files in os.walk(folder):
                yield from (Path(folder_path) / each for each in (*folders, *files))


def _close(path: Path, umask: int) -> None:
    try:
        status = path.lstat()
        if status.st_uid == os.geteuid() and not stat.S_ISLNK(status.st_mode):
            path.chmod(stat.S_IMODE(status.st_mode) & ~umask)
    except FileNotFoundError:
        pass  # messages and the database's -wal come and go
    except OSError as error:
        # On a read-only disk the site starts all the same, and reads what is there.
        if error.errno != errno.EROFS:
            raise
