"""How long work with files reports its progress."""

from typing import Protocol


class Report(Protocol):
    """Called every so often with what is done. It may raise to stop the work."""

    def __call__(self, done: int, total: int, message: str) -> None: ...


def silent(done: int, total: int, message: str) -> None:
    """A report that nobody reads."""
