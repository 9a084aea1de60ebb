"""How long work with files says where it stands."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Report(Protocol):
    """Called every so often with what is done. It may raise to stop the work."""

    def __call__(self, done: int, total: int, message: str) -> None: ...


def silent(done: int, total: int, message: str) -> None:
    """A report that nobody reads."""


__all__ = ["Report", "quiet", "silent"]


@contextmanager
def quiet(*libraries: str) -> Iterator[None]:
    """Hold back what libraries, named by their loggers, log below errors; afterwards restore their levels."""
    loggers = [logging.getLogger(library) for library in libraries]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
