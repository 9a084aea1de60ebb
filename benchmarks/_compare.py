"""What every benchmark shares: product and baseline measured side by side, and one JSON object as the last line."""

import argparse
import json
import os
import resource
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import perf_counter


@dataclass(frozen=True)
class Comparison:
    """The object of architecture section 7; `ratio` is how many times better the product is than the baseline."""

    name: str
    figure: float
    unit: str
    baseline: str
    baseline_figure: float
    ratio: float
    peak_mb: float
    cores: int
    device: str
    notes: str


def is_quick(description: str | None) -> bool:
    """Whether `--quick` was asked for: a smaller size, to see that a benchmark runs."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a smaller size, in seconds instead of minutes")
    return bool(parser.parse_args().quick)


def alternate(
    product: Callable[[], object], baseline: Callable[[], object], *, rounds: int
) -> tuple[float, float]:
    """The shortest seconds of each over so many rounds, in turn: what else the machine does slows both alike."""
    seconds = every_round(product, baseline, rounds=rounds)
    return min(seconds[0]), min(seconds[1])


def every_round(
    product: Callable[[], object], baseline: Callable[[], object], *, rounds: int
) -> tuple[list[float], list[float]]:
    """The seconds of each in every round, in turn."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for work, taken in zip((product, baseline), seconds, strict=True):
            started = perf_counter()
            work()
            taken.append(perf_counter() - started)
    return seconds


def spread_of_ratios(seconds: tuple[list[float], list[float]]) -> str:
    """How many times faster the product was in each round, from the lowest to the highest."""
    ratios = sorted(theirs / own for own, theirs in zip(*seconds, strict=True))
    return f"by round {', '.join(f'{ratio:.2f}' for ratio in ratios)} times"


def rates_compared(
    name: str,
    *,
    work: float,
    unit: str,
    seconds: float,
    baseline: str,
    baseline_seconds: float,
    notes: str,
    device: str = "cpu",
) -> Comparison:
    """Compare how much of the same work each does a second: `work` in units, such as pairs for pairs/s."""
    figure, baseline_figure = work / seconds, work / baseline_seconds
    ratio = figure / baseline_figure
    cores = len(os.sched_getaffinity(0))
    return Comparison(name, figure, unit, baseline, baseline_figure, ratio, peak_mb(), cores, device, notes)


def peak_mb() -> float:
    """The most memory this process has held, in MB (10^6 bytes)."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def print_comparison(comparison: Comparison) -> None:
    print(
        f"{comparison.name}: {comparison.figure:,.1f} {comparison.unit}, {comparison.ratio:.2f} times "
        f"{comparison.baseline} ({comparison.baseline_figure:,.1f})"
    )
    rounded = {
        key: round(value, 3) if isinstance(value, float) else value
        for key, value in asdict(comparison).items()
    }
    print(json.dumps(rounded))
