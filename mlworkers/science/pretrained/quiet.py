"""The libraries that fetch, load and write models, kept quiet: what they have to say comes out as one error."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from transformers.utils import logging as transformers_logging


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


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """No bars and no log lines of transformers and sentence-transformers."""
    bars: Any = transformers_logging  # its functions have no types
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        with quiet("transformers", "sentence_transformers"):
            yield
    finally:
        if shown:
            bars.enable_progress_bar()
