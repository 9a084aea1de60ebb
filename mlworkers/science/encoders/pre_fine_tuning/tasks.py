"""Tasks that a model is fine-tuned on: sentences or pairs with a class or a score, each with the metric of its task."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curation.pairs.holding_out import NOTHING_HELD_OUT, HeldOut
from mlworkers.science.encoders.measuring import Measured, Metric, correlation_measured, decisions_measured

SUBSET = "subset"  # as the labels of a task: the subset of a pair is its class
FEWEST_TRAINED, FEWEST_TESTED = 8, 3
POSITIVE = ("1", "paraphrase", "equivalent", "duplicate")  # names of the class whose F1 is measured
GLUE = ("cola", "sst2", "mrpc", "qqp", "stsb", "mnli", "mnlimm", "qnli", "rte")
_WNLI = "wnli"
# Wang et al. 2018, table 1. Every other task has the accuracy, or both correlations.
_METRICS = {
    "cola": (Metric.MATTHEWS,),  # classes are unbalanced, and guessing scores 0
    "mrpc": (Metric.F1, Metric.ACCURACY),  # 68 % are positive (RISE, appendix E)
    "qqp": (Metric.F1, Metric.ACCURACY),
}
_OF_SCORES = (Metric.PEARSON, Metric.SPEARMAN)
Values = NDArray[np.float64]


class TaskError(ValueError):
    """The task cannot be trained or measured. One sentence."""


class TaskNames(NamedTuple):
    """dataset, labels: where its rows are, and what their labels are: a score set or SUBSET; both "" for files. name:
    the folder of its files, or the GLUE task that it is; "" where neither.
    """

    dataset: str
    labels: str
    name: str

    @property
    def label(self) -> str:
        """What people call it, different for every task of a run."""
        if not self.dataset:
            return self.name
        own = f"{self.dataset}, {self.labels}"
        return f"{self.name} ({own})" if self.name else own

    @property
    def glue(self) -> str:
        """The GLUE task, in lower case without marks, by its name or that of the dataset; "" where it is none.

        Raises TaskError for WNLI.
        """
        for text in (self.name, self.dataset):
            found = re.sub(r"[^a-z0-9]", "", text.casefold())
            if found == _WNLI:
                raise TaskError(
                    "WNLI is not a task here: its dev sentences are training sentences with other labels (the "
                    "questions about GLUE on gluebenchmark.com say so), so that figures on it mean nothing."
                )
            if found in GLUE:
                return found
        return ""


@dataclass(frozen=True)
class TaskRows:
    """n sentences, or pairs of them, and of each the number of its class or its score, (n,).

    Scores are in 0..1 over the training rows of a task.
    """

    first: tuple[str, ...]
    second: tuple[str, ...] | None
    values: Values

    def __len__(self) -> int:
        return len(self.first)

    def taken(self, chosen: ArrayLike) -> "TaskRows":
        """The rows at those places, or those that are marked."""
        marked = np.asarray(chosen)
        places = np.flatnonzero(marked) if marked.dtype == bool else marked.astype(np.int64)
        sides = [None if side is None else tuple(side[place] for place in places) for side in self.sides]
        return TaskRows(sides[0] or (), sides[1], self.values[places])

    @property
    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
        return self.first, self.second

    @property
    def sentences(self) -> list[str]:
        return list(dict.fromkeys([*self.first, *(self.second or ())]))

    def without(self, held_out: Container[str]) -> "TaskRows":
        """The rows that hold no held-out sentence."""
        marked = {text for text in self.sentences if text in held_out}
        second = self.second or self.first
        return self.taken(
            np.array(
                [a not in marked and b not in marked for a, b in zip(self.first, second, strict=True)], bool
            )
        )


@dataclass(frozen=True)
class Task:
    """classes: the names of the classes, in the order of their numbers; none where the rows have scores. train: None
    where the task is what models were pre-fine-tuned on, so that fine-tuning is skipped.

    left_out: training rows that share a sentence with a dev or test row, or hold a held-out one. seen: test rows that
    hold a sentence that the base model was trained on, which are left out too. notes: what must be said of the rows.
    """

    label: str
    classes: tuple[str, ...]
    metrics: tuple[Metric, ...]
    train: TaskRows | None
    dev: TaskRows
    test: TaskRows
    left_out: int = 0
    seen: int = 0
    notes: tuple[str, ...] = ()

    @property
    def values(self) -> int:
        """How many values a model gives for a row."""
        return len(self.classes) or 1


def metrics_of(names: TaskNames, classes: Sequence[str]) -> tuple[Metric, ...]:
    """The metrics of a task. Raises TaskError where its classes are not those that its metrics need."""
    glue = names.glue
    if not classes:
        return _OF_SCORES
    found = _METRICS.get(glue, (Metric.ACCURACY,))  # GLUE's own choice of metrics
    if found != (Metric.ACCURACY,) and len(classes) != 2:
        raise TaskError(f"{names.label} has {len(classes)} classes; the metrics of {glue} are for two.")
    if Metric.F1 in found and not set(classes) & set(POSITIVE):
        raise TaskError(
            f"F1 needs to know which class of {names.label} are the paraphrases; call it one of {', '.join(POSITIVE)}."
        )
    return found


def classes_in_order(names: Sequence[str]) -> tuple[str, ...]:
    """The distinct classes by their names; of two the one whose F1 is measured last, so that it has the number 1."""
    return tuple(sorted(set(names), key=lambda name: (name in POSITIVE, name)))  # False sorts before True


def task_made(
    names: TaskNames,
    *,
    classes: Sequence[str],
    train: TaskRows | None,
    dev: TaskRows,
    test: TaskRows,
    held_out: HeldOut = NOTHING_HELD_OUT,
    seen: Container[str] = NOTHING_HELD_OUT,
    notes: Sequence[str] = (),
) -> Task:
    """The task without test rows that hold a sentence that was seen, without dev rows that share a sentence, or a near
    copy of one, with a test row, and without training rows that share one with these or hold a held-out one.

    Raises TaskError where too little is left, or all labels of a part are equal.
    """
    unseen = test.without(seen)
    # The test stays whole, dev gives way to it, and training to both.
    tested = HeldOut.of(unseen.sentences)
    own_dev = dev.without(tested)  # dev pairs that share a sentence with the test are dropped
    # Without training rows (None) fine-tuning is skipped.
    kept = train and train.without(held_out | tested | HeldOut.of(own_dev.sentences))
    parts = (
        ("training", kept, FEWEST_TRAINED),
        ("dev", own_dev, FEWEST_TESTED),
        ("test", unseen, FEWEST_TESTED),
    )
    for what, rows, least in parts:
        if rows is not None:
            if len(rows) < least:
                raise TaskError(
                    f"{names.label} has {len(rows)} {what} rows whose sentences no other part has and no model has "
                    f"seen; {least} or more are needed."
                )
            # A constant side has no correlation, and one class no Matthews' correlation: both would be 0 / 0.
            if np.ptp(rows.values) == 0:
                kind = "class" if classes else "score"
                raise TaskError(
                    f"All {what} rows of {names.label} have the same {kind}, so there is nothing to measure."
                )
    return Task(
        names.label,
        tuple(classes),
        metrics_of(names, classes),
        kept,
        own_dev,
        unseen,
        left_out=len(train) - len(kept) if train and kept else 0,
        seen=len(test) - len(unseen),
        notes=tuple(notes),
    )


def dev_drawn(rows: TaskRows, share: float, *, seed: int) -> tuple[TaskRows, TaskRows]:
    """Training rows, and dev rows drawn from them: about that share, all rows of a first sentence on one side."""
    names, units = np.unique(np.array(rows.first, dtype=object), return_inverse=True)
    order = np.random.default_rng([seed, 11]).permutation(len(names))  # stream 11 of the seed
    # Whole units in random order, as long as their rows fit into the share; the first always is drawn.
    sizes = np.bincount(units, minlength=len(names))[order]  # rows of each first sentence
    drawn = order[np.cumsum(sizes) <= max(share * len(rows), sizes[0])]
    back = np.isin(units, drawn)
    return rows.taken(~back), rows.taken(back)


def decided(task: Task, predicted: Values) -> Values:
    """The score of each row, (n,), or the number of its likeliest class. predicted: what a model gives, (n, k)."""
    if not task.classes:
        return predicted[:, 0]
    # Softmax keeps the order of logits, so the largest logit is the likeliest class. (n, k) -> (n,).
    chosen: Values = predicted.argmax(axis=1).astype(np.float64)
    return chosen


def figures(task: Task, rows: TaskRows, found: Values, *, resamples: int, seed: int) -> list[Measured]:
    """The metrics of a task on n rows, by what was decided of each, (n,)."""
    return [_figure(metric, rows, found, resamples=resamples, seed=seed) for metric in task.metrics]


def _figure(metric: Metric, rows: TaskRows, found: Values, *, resamples: int, seed: int) -> Measured:
    measure = decisions_measured if metric.needs_labels else correlation_measured
    return measure(metric, found, rows.values, resamples=resamples, seed=seed)


def dev_score(task: Task, found: Values) -> float | None:
    """The mean of the task's metrics on its dev rows, as GLUE has it; None where one is undefined."""
    values = [one.value for one in figures(task, task.dev, found, resamples=0, seed=0)]
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None  # of F1 and accuracy, for example


def median_place(scores: Sequence[float | None]) -> int:
    """The place of the median of some scores; of an even number the lower of both in the middle.

    None is the lowest, and of equal scores the first comes first.
    """
    # ConPGS, appendix C, note 22: the median of 5 seeds, where Phang et al. (2018) take the best of 20.
    order = sorted(range(len(scores)), key=lambda place: (_number(scores[place]), place))
    return order[(len(order) - 1) // 2]  # an actual seed, not a mean of two


def _number(score: float | None) -> float:
    return float("-inf") if score is None else score
