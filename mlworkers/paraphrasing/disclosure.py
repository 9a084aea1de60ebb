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
_STS_BENCHMARK = re.compile(r"\bsts[\s_-]?b(?:ench(?:mark)?)?\b|\bsts[\s_-]?benchmark\b", re.IGNORECASE)
_ABOUT = "disclosure.json"


def benchmark_of(given: str, names: Iterable[str]) -> str:
    """The benchmark that scores are from: the one that was given, or STS-B where a name says so; else "".

    names: of the dataset, and of the sources of its pairs.
    """
    if given.strip():
        return STS_BENCHMARK if _STS_BENCHMARK.search(given) else given.strip()
    return STS_BENCHMARK if any(_STS_BENCHMARK.search(name) for name in names) else ""


def benchmark_save(folder: Path, benchmark: str) -> None:
    """Say in a model's folder on which benchmark's scores it, or the labeller behind its data, was trained. Nothing is
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
