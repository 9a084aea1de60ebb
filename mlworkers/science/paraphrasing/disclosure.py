"""What must be disclosed of data that was chosen by a labeller: the benchmark that the labeller was trained on.

ConPGS chooses paraphrases by a labeller trained on the STS benchmark, trains encoders on them, and evaluates these on
the STS benchmark (section 3.1, table 2). Whoever does so must say it.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from curation.files.json_text import json_from

STS_BENCHMARK = "STS-B"
# The STS benchmark's pairs are chosen from these (Cer et al. 2017, section 8).
MADE_INTO_STS_BENCHMARK = ("STS12", "STS13", "STS14", "STS15", "STS16")
# By how people and their files call them.
_CALLED = {
    STS_BENCHMARK: r"sts[\s_-]?b(?:ench(?:mark)?)?",
    **{name: rf"sts[\s_-]?(?:20)?{name[-2:]}" for name in MADE_INTO_STS_BENCHMARK},
    "SICK": r"sick(?:[\s_-]?[re])?",
    "MRPC": r"mrpc",
    "QQP": r"qqp",
    "PAWS": r"paws",
}
_BENCHMARKS = {
    name: re.compile(rf"(?<![^\W_])(?:{called})(?![^\W_])", re.IGNORECASE) for name, called in _CALLED.items()
}
_BETWEEN = ", "  # between benchmarks that one text lists
_ABOUT = "disclosure.json"


def benchmark_of(given: str, names: Iterable[str]) -> str:
    """The benchmarks that scores are from: those that were given, between commas, or else all known ones that a name
    says; "" for none.

    names: of the dataset, and of the sources of its pairs.
    """
    parts = [part.strip() for part in given.split(",") if part.strip()]
    if parts:
        return benchmarks_joined(*(_BETWEEN.join(_called(part)) or part for part in parts))
    return benchmarks_joined(*(name for text in names for name in _called(text)))


def _called(text: str) -> list[str]:
    return [name for name, called in _BENCHMARKS.items() if called.search(text)]


def benchmarks_in(text: str) -> list[str]:
    """The benchmarks in a text that `benchmarks_joined` made."""
    return [name for name in text.split(_BETWEEN) if name]


def benchmarks_joined(*texts: str) -> str:
    """The benchmarks in several such texts, each once."""
    return _BETWEEN.join(dict.fromkeys(name for text in texts for name in benchmarks_in(text)))


def benchmark_save(folder: Path, benchmark: str) -> None:
    """Say in a model's folder on which benchmarks' scores it, or the labeller behind its data, was trained. Nothing is
    said for "".
    """
    if not benchmark:
        return
    (folder / _ABOUT).write_text(json.dumps({"labels_from": benchmark}), encoding="utf-8")


def benchmark_behind(folder: Path) -> str:
    """What the folder of a model says; "" where it says nothing."""
    try:
        return str(json_from((folder / _ABOUT).read_text("utf-8"))["labels_from"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
