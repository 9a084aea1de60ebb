"""An encoder on a suite: each sentence is encoded once, and every figure comes from those vectors."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curation.statistics.correlation import Scores
from mlworkers.science.encoders.encoding import SentenceVectors
from mlworkers.science.encoders.seen import NOTHING_KNOWN, UNSEEN, Seen
from mlworkers.science.encoders.suites.catalogue import Read, Suite
from mlworkers.science.encoders.suites.figures import Figure, suite_figures
from mlworkers.science.encoders.suites.probe import probed

VectorsOf = Callable[[Iterable[str]], SentenceVectors]


@dataclass(frozen=True)
class Evaluated:
    """The figures of one suite, those of a probe last. notes: sentences for people."""

    figures: tuple[Figure, ...]
    notes: tuple[str, ...]
    sentences: int


def suite_evaluated(
    suite: Suite,
    read: Read,
    vectors_of: VectorsOf,
    *,
    resamples: int,
    seed: int,
    seen: Seen = NOTHING_KNOWN,
) -> Evaluated:
    """seen: what the encoder was trained on, for the figures on pairs without it.

    Raises ValueError where a part is missing that the suite cannot do without.
    """
    parts = [part for part in (read.test, read.dev) if part is not None]
    if suite.probe and read.train is not None:
        parts.append(read.train)
    # One pass for all parts of the suite.
    vectors = vectors_of(text for part in parts for text in (*part.first, *part.second))
    test, dev = suite_cosines(suite, read, vectors)
    unseen = suite_unseen(read, seen)  # (n,) bool or None
    figures = suite_figures(suite, read, test, dev, resamples=resamples, seed=seed, unseen=unseen)
    notes = list(read.notes)
    if suite.probe and read.train is not None:
        found = probed(suite, read, vectors, resamples=resamples, seed=seed, unseen=unseen)
        figures += [Figure(suite.name, "", measured, by="probe") for measured in found.figures]
        figures += [Figure(suite.name, UNSEEN, measured, by="probe") for measured in found.unseen]
        left_out = (
            f" {found.left_out} train pairs that stand among the dev or test pairs were left out."
            if found.left_out
            else ""
        )
        notes.append(
            f"The probe is a logistic regression on |u − v| and u · v of {found.trained_on:,} train pairs; C = "
            f"{found.chosen:g} was best on {found.chosen_on}.{left_out}"
        )
    elif suite.probe:
        notes.append(f"No probe was trained, because there is no train file; {suite.looks_for}.")
    return Evaluated(tuple(figures), tuple(notes), len(vectors.place))


def suite_cosines(suite: Suite, read: Read, vectors: SentenceVectors) -> tuple[Scores, Scores | None]:
    """The cosines of the test pairs and, where thresholds need them, of the dev pairs."""
    # Only accuracy and F1 have a threshold, which the dev pairs set.
    needs_dev = read.dev is not None and any(metric.needs_labels for metric in suite.task.metrics)
    dev = vectors.cosines(read.dev.first, read.dev.second) if needs_dev and read.dev is not None else None
    return vectors.cosines(read.test.first, read.test.second), dev


def suite_unseen(read: Read, seen: Seen) -> NDArray[np.bool_] | None:
    """Which test pairs hold no sentence that was seen, (n,); None where nobody knows."""
    return seen.pairs_unseen(read.test.first, read.test.second) if seen.known else None
