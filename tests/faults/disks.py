"""Small disks of the test's own, which can be full or read-only: of the site's files, and of its database."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.faults.servers import wait_until


class SmallDisk:
    """A tmpfs at `place`. mounted: False where nothing may be mounted; then it is a folder like any other."""

    def __init__(self, place: Path, megabytes: int, owner: str = "") -> None:
        self.place = place
        place.mkdir(parents=True, exist_ok=True)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
        may = shutil.which("mount") is not None and os.geteuid() == 0
        self.mounted = may and subprocess.run(mount, capture_output=True, check=False).returncode == 0
        if owner:
            shutil.chown(place, owner, owner)

    def remove(self) -> None:
        if self.mounted:
            subprocess.run(["umount", "--lazy", str(self.place)], check=True)

    @property
    def free(self) -> int:
        disk = os.statvfs(self.place)
        return disk.f_bavail * disk.f_frsize

    @contextmanager
    def full(self, *, leaving: int = 0) -> Iterator[None]:
        """Somebody else's file takes all of it but so many bytes, whatever is removed meanwhile."""
        try:
            self.fill(leaving=leaving)
            yield
        finally:
            self._filler.unlink()

    def fill(self, *, leaving: int = 0) -> None:
        with self._filler.open("ab") as file:
            while (missing := self.free - leaving) > 0:
                with suppress(OSError):  # others have taken some of it since
                    os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), missing)

    @contextmanager
    def read_only(self) -> Iterator[None]:
        wait_until(lambda: self._remount("ro"), f"{self.place} is read-only")
        try:
            yield
        finally:
            assert self._remount("rw")

    def _remount(self, how: str) -> bool:
        """False where somebody writes a file there at this moment."""
        remount = ["mount", "-o", f"remount,{how}", str(self.place)]
        return subprocess.run(remount, capture_output=True, check=False).returncode == 0

    @property
    def _filler(self) -> Path:
        return self.place / "somebody's file"
