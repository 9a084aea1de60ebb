"""How long work says where it stands, and how the libraries under it are kept quiet."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from curation.files.progress import Report, silent

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
