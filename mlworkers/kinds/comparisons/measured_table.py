"""The figures of a comparison: of its own test, and of source datasets x weightings x suites, as RISE's table 3.

All differences of one comparison are tested together, whatever the source, the suite and the metric.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.statistics.correlation import Scores
from mlworkers.pipelines.experiment import RESAMPLED_BY, Compared, arms_compare, difference_stored
from mlworkers.science.encoders.comparison import Between, ComparedEncoder, compare, undefined
from mlworkers.science.encoders.differences import Difference
from mlworkers.science.encoders.measuring import Measured, Metric, correlation_measured
from mlworkers.science.encoders.plan import BASELINES, ComparisonPlan, Weighting
from mlworkers.science.encoders.seen import ALL, UNSEEN
from mlworkers.science.encoders.suites.catalogue import Read, Suite
from mlworkers.science.encoders.suites.figures import WHOLE, Figure, suite_figures, years_figures

BASELINE = "baseline"  # the source of rows that are not trained
SHUFFLES = tuple(each for each in Weighting if each.controlled)
Column = tuple[str, Metric]  # a suite, or "" for the comparison's own test, and what is measured on it
Marks = NDArray[np.bool_]
Cosines = Mapping[str, tuple[Scores, Scores | None]]  # by suite: of the test pairs and of the dev pairs
Cells = dict[tuple[str, Column], dict[str, list[Measured]]]  # by source and column: of each label
_Between = Callable[[Iterable[str]], list[Between]]


@dataclass(frozen=True)
class Results:
    """main: the result of the first source on the comparison's own test. table: the other cells, an entry each."""

    main: dict[str, Any]
    table: list[dict[str, Any]]
    warnings: list[str]


@dataclass
class SuiteTable:
    """Takes the encoders one after the other. human: the scores of all own test pairs (n,); test: its name.

    own_unseen: which of these no row has seen, (n,), and unseen: which pairs of each suite; None where nobody knows.
    The figures of the own test are those of its unseen pairs, and those of a suite are of all its pairs; the others
    stand beside them.
    """

    plan: ComparisonPlan
    human: Scores
    test: str
    suites: Sequence[tuple[Suite, Read]]
    own_unseen: Marks | None = None
    unseen: Mapping[str, Marks | None] = field(default_factory=dict)
    _beside: Cells = field(default_factory=dict)
    _cells: Cells = field(default_factory=dict)

    @property
    def added(self) -> frozenset[str]:
        """The labels of rows that only the table shows."""
        return frozenset(
            f"base, {name}" if name in BASELINES else name[:40] for name in self.plan.baseline_names
        )

    @property
    def _has_table(self) -> bool:
        return bool(self.suites or self.plan.baseline_names or len(self.plan.all_sources) > 1)

    def add(self, label: str, source: str, cosines: Scores, by_suite: Cosines) -> list[Figure]:
        """Measure an encoder; returns its figures on the suites. cosines: of all own test pairs, (n,)."""
        known = self.own_unseen is not None
        unseen = np.ones(len(self.human), dtype=bool) if self.own_unseen is None else self.own_unseen
        own = self._correlations(cosines[unseen], self.human[unseen])
        of_all = self._correlations(cosines, self.human) if known else []
        for measured in own:
            self._keep(self._cells, label, source, "", measured)
        for measured in of_all:
            self._keep(self._beside, label, source, "", measured)
        figures: list[Figure] = []
        for suite, read in self.suites:
            test, dev = by_suite[suite.name]
            figures += suite_figures(
                suite,
                read,
                test,
                dev,
                resamples=self.plan.bootstrap,
                seed=RESAMPLED_BY,
                unseen=self.unseen.get(suite.name),
            )
        figures += years_figures(figures)
        for figure in figures:
            if figure.part == UNSEEN:
                self._keep(self._beside, label, source, figure.suite, figure.measured)
            elif figure.part == WHOLE or figure.suite == "sts12-16":
                self._keep(self._cells, label, source, figure.suite, figure.measured)
        figures = [*(Figure(self.test[:200], ALL, measured) for measured in of_all), *figures]
        if source in ("", self.plan.dataset) and label not in self.added:
            return figures
        return [*(Figure(self.test[:200], WHOLE, measured) for measured in own), *figures]

    def _correlations(self, cosines: Scores, human: Scores) -> list[Measured]:
        return [
            correlation_measured(metric, cosines, human, resamples=self.plan.bootstrap, seed=RESAMPLED_BY)
            for metric in (Metric.SPEARMAN, Metric.PEARSON)
        ]

    def results(self, between: _Between) -> Results:
        """All figures with their differences. between: which labels are compared, from those there are."""
        first = (self.plan.dataset, ("", Metric.SPEARMAN))
        wanted = {key for key in self._cells if key[0]} if self._has_table else {first}
        labelled = {
            key: {**self._cells.get(("", key[1]), {}), **self._cells[key]}
            for key in self._cells
            if key in wanted
        }
        compared = arms_compare(
            labelled, lambda _key, labels: between([label for label in labels if label not in self.added])
        )
        main = {label: one for label, one in compared[first].means.items() if label not in self.added}
        of_first = compared[first].differences
        table = [self._entry(key, one) for key, one in compared.items()]
        return Results(
            main={
                "encoders": {label: _figures("spearman", one) for label, one in main.items()},
                "from_plain": differences_from([Weighting.PLAIN], of_first),
                "from_shuffle": differences_from(SHUFFLES, of_first),
                **self._all_pairs(first),
            },
            table=table if self._has_table else [],
            warnings=list(undefined(main)),
        )

    @staticmethod
    def _keep(cells: Cells, label: str, source: str, suite: str, measured: Measured) -> None:
        cell = cells.setdefault((source, (suite, measured.metric)), {})
        cell.setdefault(label[:40], []).append(measured)

    def _beside_of(self, key: tuple[str, Column]) -> dict[str, Any]:
        """Of the same column the figures of the other pairs; nothing where nobody knows which are unseen."""
        source, column = key
        measured = {**self._beside.get(("", column), {}), **self._beside.get((source, column), {})}
        if not measured:
            return {}
        pairs = next(iter(measured.values()))[0].pairs
        figures = {label: _figures("value", one) for label, one in compare(measured).items()}
        return {"beside": {"part": UNSEEN if column[0] else ALL, "pairs": pairs, "encoders": figures}}

    def _all_pairs(self, key: tuple[str, Column]) -> dict[str, Any]:
        """The rows of the first test on all of its pairs."""
        found = self._beside_of(key).get("beside")
        if found is None:
            return {}
        return {
            "all_pairs": {
                label: {
                    "pairs": found["pairs"],
                    "spearman": one["value"],
                    "low": one["low"],
                    "high": one["high"],
                }
                for label, one in found["encoders"].items()
                if label not in self.added
            }
        }

    def _entry(self, key: tuple[str, Column], compared: Compared) -> dict[str, Any]:
        source, (suite, metric) = key
        read = next((read for one, read in self.suites if one.name == suite), None)
        own = len(self.human) if self.own_unseen is None else int(self.own_unseen.sum())
        pairs = len(read.test) if read else own
        if suite == "sts12-16":
            pairs = sum(len(each.test) for one, each in self.suites if one.name.startswith("sts1"))
        own_dataset = self.plan.test_dataset or self.plan.dataset
        return {
            "source": source,
            "suite": suite,
            "metric": metric.value,
            "pairs": pairs,
            "in_domain": (source, suite) in self.plan.domains if suite else source == own_dataset,
            "encoders": {label: _figures("value", one) for label, one in compared.means.items()},
            "from_plain": differences_from([Weighting.PLAIN], compared.differences),
            "from_shuffle": differences_from(SHUFFLES, compared.differences),
            **self._beside_of(key),
        }


def _figures(name: str, one: ComparedEncoder) -> dict[str, Any]:
    return {name: one.mean.value, "low": one.mean.low, "high": one.mean.high, "sd": one.sd}


def differences_from(
    references: Collection[str], differences: Mapping[Between, Difference]
) -> dict[str, Any]:
    """Of each label that was compared with one of those."""
    return {
        label: difference_stored(one) for (label, other), one in differences.items() if other in references
    }
