"""An experiment: members, trained or not, that are evaluated on the same tests and compared with each other.

The engine of a kind names its members, such as each arm with each seed, and says how one is trained and what is stored
of it. What engines share is here: the shards and their files, the tests, and the differences with their p-values.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from pathlib import Path
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from curation.datasets.agreement import Difference as PairDifference
from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.writing import folder_remove, folder_replacing
from curation.models import Snapshot
from curation.statistics.correlation import Scores
from mlworkers.pipelines.disclosure import Disclosure, dataset_names, disclosure, suite_names_of
from mlworkers.pipelines.encoder_data import furthest_pairs, suite_words
from mlworkers.pipelines.seen import leaking_splits_refuse, seen_in_words
from mlworkers.pipelines.snapshots import table_of
from mlworkers.pipelines.suites import seen_before
from mlworkers.runs.jobs import Job
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.comparison import Between, ComparedEncoder, adjusted, compare, differences_of
from mlworkers.science.encoders.differences import Difference
from mlworkers.science.encoders.encoding import SentenceVectors
from mlworkers.science.encoders.measuring import Measured, Metric, correlation_measured
from mlworkers.science.encoders.rows import PairTable, Rows, unseen_rows
from mlworkers.science.encoders.seen import Seen, seen_pairs_refuse
from mlworkers.science.encoders.suites.catalogue import Read, Suite
from mlworkers.science.encoders.suites.evaluating import suite_cosines

TOLD, COSINES, ENCODER = "told.json", "cosines.npy", "encoder"  # the files of a member
NO_TRAINING = 1  # what a member without training counts for, beside the steps of trainings
RESAMPLED_BY = 1234  # the seed of resamples: not of any training

Member = TypeVar("Member")
Trained = TypeVar("Trained")
Key = TypeVar("Key")


@dataclass(frozen=True)
class Stage(Generic[Member, Trained]):
    """Members that are trained and stored one by one, each a shard of the run.

    name: of the folder of their folders.
    sizes: of each member, in steps of training.
    train(member, checkpoints, report): trains a member, from its last checkpoint if there is one.
    store(member, trained, folder, report): writes its files, evaluates it, and returns what its TOLD says.
    checkpoints: how the names of the folders of checkpoints begin.
    timed: whether TOLD has the seconds that a member took.
    """

    name: str
    members: Sequence[Member]
    sizes: Sequence[int]
    train: Callable[[Member, Path, Report], Trained]
    store: Callable[[Member, Trained, Path, Report], dict[str, Any]]
    checkpoints: str = ""
    timed: bool = True

    def carry_out(self, job: Job, message: str) -> list[Path]:
        """The folders of all members; those that are stored already are not done again."""

        def shard(number: int, path: Path, report: Report) -> None:
            def still(done: int, total: int, message: str) -> None:
                """Evaluation comes after all steps: it counts no further, but can still be stopped."""
                report(self.sizes[number], self.sizes[number], message)

            member, started = self.members[number], monotonic()
            kept = job.kept / "checkpoints" / f"{self.checkpoints}{path.name}"
            trained = self.train(member, kept, report)
            with folder_replacing(path, once=True) as beside:
                told = self.store(member, trained, beside, still)
                if self.timed:
                    told["seconds"] = round(monotonic() - started, 1)
                (beside / TOLD).write_text(json.dumps(told), encoding="utf-8")
            folder_remove(kept)

        return job.shards.all(self.name, self.sizes, shard, message=message)


def told_of(path: Path) -> dict[str, Any]:
    """What the folder of a member says of it."""
    told: dict[str, Any] = json_from((path / TOLD).read_text("utf-8"))
    return told


def spearman_measured(cosines: Scores, rows: Rows, *, resamples: int) -> Measured:
    """Of the cosines of n rows, (n,), with their human scores."""
    return correlation_measured(Metric.SPEARMAN, cosines, rows.values, resamples=resamples, seed=RESAMPLED_BY)


@dataclass(frozen=True)
class Tests:
    """What encoders are evaluated on: pairs of a dataset with human scores, and published suites.

    split: of the pairs; "" for all.
    seen: what any of the encoders was trained on before. Only the unseen pairs give the figures.
    """

    snapshot: Snapshot
    score_set: str
    split: str
    seen: Seen
    suites: Sequence[tuple[Suite, Read]] = ()

    @cached_property
    def table(self) -> PairTable:
        return table_of(self.snapshot)

    @cached_property
    def every(self) -> Rows:
        return self.table.rows(self.score_set, split=self.split or None)

    @cached_property
    def unseen(self) -> NDArray[np.bool_]:
        """Which of all pairs are unseen, (n,)."""
        return self.seen.pairs_unseen(self.every.first.tolist(), self.every.second.tolist())

    @cached_property
    def _divided(self) -> tuple[Rows, int]:
        return unseen_rows(self.every, self.seen)

    @property
    def rows(self) -> Rows:
        """The unseen pairs. Raises UserError where they are too few."""
        return self._divided[0]

    @property
    def left_out(self) -> int:
        return self._divided[1]

    @cached_property
    def judges(self) -> str:
        return self.table.judges(self.score_set)

    @property
    def name(self) -> str:
        return self._words(self.judges)

    def _words(self, judges: str) -> str:
        return suite_words(self.snapshot.dataset.slug, self.score_set, self.split, judges=judges)

    @property
    def result(self) -> dict[str, Any]:
        return {
            "test_snapshot": self.snapshot.number,
            "test_left_out": self.left_out,
            "training_data": seen_in_words(self.seen),
        }

    def seen_refuse(self) -> None:
        """Raises LeakError where pairs were seen because another split of their dataset was trained on."""
        pairs = int((~self.unseen).sum())
        slug = self.snapshot.dataset.slug
        seen_pairs_refuse(self.seen, dataset=slug, split=self.split, pairs=pairs, of=len(self.every))

    def leaks_refuse(self, *, dataset: str, trained: str) -> None:
        """The same, and where the split shares sentences with the one that a run trains on.

        dataset, trained: what the run trains on, and its split.
        """
        self.seen_refuse()
        if self.snapshot.dataset.slug == dataset:
            leaking_splits_refuse(self.snapshot, self.every, trained=trained, tested=self.split)

    def sentences(self, rows: Rows) -> Iterator[str]:
        """Those of the rows and of the suites."""
        yield from rows.sentences
        for _suite, read in self.suites:
            for part in (read.test, *([read.dev] if read.dev else [])):
                yield from (*part.first, *part.second)

    def cosines_store(self, vectors: SentenceVectors, rows: Rows, folder: Path) -> None:
        array_write(folder / COSINES, vectors.cosines(rows.first.tolist(), rows.second.tolist()))
        for suite, read in self.suites:
            for part, cosines in zip(("test", "dev"), suite_cosines(suite, read, vectors), strict=True):
                if cosines is not None:
                    array_write(folder / f"{suite.name}-{part}.npy", cosines)

    def suite_cosines(self, path: Path, suite: Suite) -> tuple[Scores, Scores | None]:
        """Those of a member on the test pairs of a suite and, where thresholds need them, on its dev pairs."""
        dev = path / f"{suite.name}-dev.npy"
        return array_read(path / f"{suite.name}-test.npy"), array_read(dev) if dev.is_file() else None

    def suite_notes(self) -> Iterator[str]:
        for suite, read in self.suites:
            yield from (f"{suite.label}: {note}" for note in read.notes)
            if seen := seen_before(read, self.seen):
                note = _(
                    "%(suite)s: %(seen)s test pairs hold a sentence that the baseline model was trained on."
                )
                yield note % {"suite": suite.label, "seen": intcomma(seen)}

    def disclosed(self, benchmark: str, *, marked: bool = False) -> Disclosure:
        """benchmark: those whose labellers chose what any of the encoders was trained on.

        marked: whether the name of the test has the mark of simulated annotators.
        """
        tested = suite_names_of(suite for suite, _read in self.suites)
        tested[self._words(self.judges if marked else "")] = dataset_names(self.snapshot.dataset)
        return disclosure(benchmark, tested)

    def furthest(self, of_seeds: Sequence[Scores]) -> list[PairDifference]:
        """The unseen pairs on which an arm is furthest from people, by its mean over seeds."""
        return furthest_pairs(self.rows, np.mean(of_seeds, axis=0), self.table.scale(self.score_set))


class Compared(NamedTuple):
    """The arms of an experiment on one test."""

    means: dict[str, ComparedEncoder]
    differences: dict[Between, Difference]

    def cell(self, label: str) -> dict[str, Any]:
        """What a result says of an arm, and of its difference from another arm, if there is one."""
        one = self.means[label]
        found = {
            "mean": one.mean.value,
            "low": one.mean.low,
            "high": one.mean.high,
            "sd": one.sd,
            "by_seed": [None if isnan(value) else value for value in one.seeds],
        }
        of_label = (one for pair, one in self.differences.items() if pair[0] == label)
        return found | next(map(difference_stored, of_label), {})


def arms_compare(
    measured: Mapping[Key, Mapping[str, Sequence[Measured]]],
    between: Callable[[Key, Iterable[str]], Sequence[Between]],
) -> dict[Key, Compared]:
    """The arms on each test; the p-values of all differences are adjusted together.

    measured: of each test and arm one figure for each seed. between(test, arms): which arms are compared there.
    """
    found = {
        (key, pair): one
        for key, of_arms in measured.items()
        for pair, one in differences_of(of_arms, between(key, of_arms)).items()
    }
    compared = {key: Compared(compare(of_arms), {}) for key, of_arms in measured.items()}
    for (key, pair), one in adjusted(found).items():
        compared[key].differences[pair] = one
    return compared


def difference_stored(one: Difference) -> dict[str, Any]:
    return {
        "difference": one.value,
        "difference_low": one.low,
        "difference_high": one.high,
        "difference_sd": one.sd,
        "p": one.p,
        "p_holm": one.p_holm,
        "turned_by": one.turned_by,
    }
