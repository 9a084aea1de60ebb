"""How libraries load a model: quietly, with one sentence if it fails, and only weights that config.json describes."""

import logging
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers.utils import logging as transformers_logging

from mlworkers.science.pretrained.sources import ModelError

LOADING_FAILS = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    RuntimeError,
    ImportError,
    SafetensorError,
    StrictDataclassError,
)
_LAYER = re.compile(r"(?<=\.)\d+(?=\.)")  # its number, in the name of a weight


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


def loading_failed(folder: Path, error: BaseException) -> ModelError:
    """In the library's own words, as far as they are one line; a heading with the line below it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    brief = (" ".join(lines[:2]) if lines[0].endswith(":") else lines[0]).rstrip(".")
    if "ignore_mismatched_sizes" in str(error):  # its words point to a report that nobody sees
        brief = "its config.json describes weights of other shapes than its files hold"
    return ModelError(f"The model in {folder} cannot be loaded: {brief}.")


def check_loaded(known: Collection[str], told: Mapping[str, Collection[str]]) -> None:
    """Refuse weights other than those that config.json describes: the libraries fill what is missing with random
    numbers, leave out layers of which config.json knows nothing, and go on.

    known: the names of the model's weights. told: the libraries' report of loading. Raises ValueError.
    """
    # Sentence vectors are pooled from token vectors; the pooler of BERT's own pretraining is not used.
    missing = sorted(name for name in told["missing_keys"] if "pooler." not in name)
    if missing:
        raise ValueError(f"it lacks {len(missing)} of its weights, first {missing[0]}")
    # What belongs to no layer, such as the head of a pretraining, is rightly left out. Names in the files may begin
    # with that of the whole model.
    layers = tuple({f".{_LAYER.sub('#', name)}" for name in known if _LAYER.search(name)})
    beyond = sorted(name for name in told["unexpected_keys"] if f".{_LAYER.sub('#', name)}".endswith(layers))
    if beyond:
        raise ValueError(f"its config.json leaves out {len(beyond)} of its weights, first {beyond[0]}")
