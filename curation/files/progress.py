"""How long work with files reports its progress."""

from typing import Protocol


class Report(Protocol):
    """Called every so often with what is done. It may raise to stop the work."""

    def __call__(self, done: int, total: int, message: str) -> None: ...


def silent(done: int, total: int, message: str) -> None:
    """A report that nobody reads."""


class Interrupted(Exception):  # noqa: N818 - not an error of the work
    """Something that is not the work's doing ended it, such as a process that was killed; it can go on. One line."""
