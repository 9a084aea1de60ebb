"""The figures of one encoder on one suite: on the whole test set, on each source of its pairs, and by a probe."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curation.statistics.correlation import Scores
from mlworkers.science.encoders.measuring import (
    Measured,
    Metric,
    classification_measured,
    correlation_measured,
    mean_measured,
    threshold_tuned,
)
from mlworkers.science.encoders.scored_pairs import FEWEST_PAIRS, JudgedPairs
from mlworkers.science.encoders.seen import UNSEEN
from mlworkers.science.encoders.suites.catalogue import Read, Suite, Task

WHOLE = ""  # the part that is the whole test set; of STS12 to STS16 this is the “all” aggregation
MEAN_OF_SOURCES = "mean of sources"
MEAN_OF_YEARS = "STS12–16, mean of years"
YEARS = ("sts12", "sts13", "sts14", "sts15", "sts16")


@dataclass(frozen=True)
class Figure:
    """suite: its name. part: WHOLE, UNSEEN, one source, a mean of parts, or a probe, which `by` names."""

    suite: str
    part: str
    measured: Measured
    by: str = "cosine"


METRIC_NAMES = {
    Metric.SPEARMAN: "Spearman",
    Metric.PEARSON: "Pearson",
    Metric.ACCURACY: "accuracy",
    Metric.F1: "F1",
}


def figure_as_json(figure: Figure) -> dict[str, Any]:
    """A figure as an object: undefined values are None."""
    measured, interval = figure.measured, figure.measured.interval
    return {
        "suite": figure.suite,
        "part": figure.part,
        "by": figure.by,
        "metric": measured.metric.value,
        "value": measured.value,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "threshold": measured.threshold,
        "n": measured.pairs,
    }


def suite_figures(
    suite: Suite,
    read: Read,
    test: Scores,
    dev: Scores | None,
    *,
    resamples: int,
    seed: int,
    unseen: NDArray[np.bool_] | None = None,
) -> list[Figure]:
    """The figures of the cosines of the test pairs (n,) and of the dev pairs, which set the thresholds.

    The whole test set comes first, then its pairs without a sentence that the encoder has seen, where it is known which
    these are (unseen, (n,)); then each source with enough pairs, then the mean of the sources. Raises ValueError where
    thresholds are needed and there are no dev pairs.
    """
    figures = []
    for metric in suite.task.metrics:
        threshold = None
        if metric.needs_labels:
            if dev is None or read.dev is None:
                raise ValueError(f"{suite.label} has no dev pairs to tune thresholds on.")
            threshold = threshold_tuned(metric, dev, read.dev.values)  # accuracy and F1 have different ones
        whole = _measured(metric, test, read.test.values, threshold, resamples=resamples, seed=seed)
        figures.append(Figure(suite.name, WHOLE, whole))
        if unseen is not None:
            # The threshold is the one of the whole test set: it comes from the dev pairs alone.
            values = np.array(read.test.values)[unseen]
            if enough(values):
                few = _measured(metric, test[unseen], values, threshold, resamples=resamples, seed=seed)
                figures.append(Figure(suite.name, UNSEEN, few))
        figures += _by_source(suite, metric, read.test, test, threshold, resamples=resamples, seed=seed)
    return figures


def enough(values: NDArray[np.float64]) -> bool:
    """Whether pairs with these scores or labels have a figure."""
    return values.size >= FEWEST_PAIRS and bool(np.ptp(values) > 0)


def years_figures(figures: Sequence[Figure]) -> list[Figure]:
    """The mean of STS12 to STS16 for each metric, where all five were measured: of their “all” figures, unweighted.

    The years may have been resampled with one seed. Where all five have a figure of their unseen pairs, the mean of
    these follows.
    """
    found = []
    for metric in Task.SCORES.metrics:
        for part, named in ((WHOLE, MEAN_OF_YEARS), (UNSEEN, UNSEEN)):
            years = [
                figure.measured
                for name in YEARS
                for figure in figures
                if (figure.suite, figure.part, figure.measured.metric, figure.by)
                == (name, part, metric, "cosine")
            ]
            if len(years) == len(YEARS):  # a mean of fewer years would not be comparable
                # Each year weighs 1/5, whatever its size.
                found.append(Figure("sts12-16", named, mean_measured(resampled_apart(years))))
    return found


def resampled_apart(parts: Sequence[Measured]) -> list[Measured]:
    """The same figures, each with its resamples, (resamples,), in another order, for a mean over parts.

    Suites that are resampled with one seed draw the same places in a resample if they are of equal size. Resample r of
    a part then stands beside resample r + 1 of the part before it, which was drawn independently.
    """
    return [replace(part, drawn=np.roll(part.drawn, place)) for place, part in enumerate(parts)]


def _by_source(
    suite: Suite,
    metric: Metric,
    pairs: JudgedPairs,
    cosines: Scores,
    threshold: float | None,
    *,
    resamples: int,
    seed: int,
) -> list[Figure]:
    sources = np.array(pairs.sources)  # (n,)
    names = dict.fromkeys(pairs.sources)
    if len(names) < 2:
        return []
    values = np.array(pairs.values)  # (n,)
    figures = []
    for number, name in enumerate(names):
        rows = np.flatnonzero(sources == name)  # (n_k,)
        if rows.size < FEWEST_PAIRS or np.ptp(values[rows]) == 0:
            continue
        # Each source draws separate resamples, so that a mean of sources does not draw them together.
        measured = _measured(
            metric, cosines[rows], values[rows], threshold, resamples=resamples, seed=seed + number + 1
        )
        figures.append(Figure(suite.name, name or "without a source", measured))
    if metric in Task.SCORES.metrics and len(figures) > 1:
        figures.append(Figure(suite.name, MEAN_OF_SOURCES, mean_measured([one.measured for one in figures])))
    return figures


def _measured(
    metric: Metric,
    cosines: ArrayLike,
    values: ArrayLike,
    threshold: float | None,
    *,
    resamples: int,
    seed: int,
) -> Measured:
    if threshold is None:
        return correlation_measured(metric, cosines, values, resamples=resamples, seed=seed)
    return classification_measured(
        metric, cosines, values, threshold=threshold, resamples=resamples, seed=seed
    )
