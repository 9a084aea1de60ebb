"""The figures of a comparison: of its own test, and of source datasets x weightings x suites, as RISE's table 3.

All differences of one comparison are tested together, whatever the source, the suite and the metric.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from curation.statistics.correlation import Scores
from mlworkers.encoders.comparison import (
    Between,
    ComparedEncoder,
    adjusted,
    compare,
    differences_of,
    undefined,
)
from mlworkers.encoders.differences import Difference
from mlworkers.encoders.measuring import Measured, Metric, correlation_measured
from mlworkers.encoders.plan import BASELINES, ComparisonPlan, Weighting
from mlworkers.encoders.suites.catalogue import Read, Suite
from mlworkers.encoders.suites.figures import WHOLE, Figure, suite_figures, years_figures

BASELINE = "baseline"  # the source of rows that are not trained
SHUFFLES = tuple(each for each in Weighting if each.controlled)
RESAMPLED_BY = 1234  # the seed of resamples: not of any training
Column = tuple[str, Metric]  # a suite, or "" for the comparison's own test, and what is measured on it
Cosines = Mapping[str, tuple[Scores, Scores | None]]  # by suite: of the test pairs and of the dev pairs
_Between = Callable[[Iterable[str]], list[Between]]


@dataclass(frozen=True)
class Results:
    """main: the result of the first source on the comparison's own test. table: the other cells, an entry each."""

    main: dict[str, Any]
    table: list[dict[str, Any]]
    warnings: list[str]


@dataclass
class SuiteTable:
    """Takes the encoders one after the other. human: the scores of the own test pairs (n,); test: its name."""

    plan: ComparisonPlan
    human: Scores
    test: str
    suites: Sequence[tuple[Suite, Read]]
    _cells: dict[tuple[str, Column], dict[str, list[Measured]]] = field(default_factory=dict)

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
        """Measure an encoder; returns its figures on the suites."""
        own = [
            correlation_measured(
                metric, cosines, self.human, resamples=self.plan.bootstrap, seed=RESAMPLED_BY
            )
            for metric in (Metric.SPEARMAN, Metric.PEARSON)
        ]
        for measured in own:
            self._keep(label, source, "", measured)
        figures: list[Figure] = []
        for suite, read in self.suites:
            test, dev = by_suite[suite.name]
            figures += suite_figures(suite, read, test, dev, resamples=self.plan.bootstrap, seed=RESAMPLED_BY)
        figures += years_figures(figures)
        for figure in figures:
            if figure.part == WHOLE or figure.suite == "sts12-16":
                self._keep(label, source, figure.suite, figure.measured)
        if source in ("", self.plan.dataset) and label not in self.added:
            return figures
        return [*(Figure(self.test[:200], WHOLE, measured) for measured in own), *figures]

    def results(self, between: _Between) -> Results:
        """All figures with their differences. between: which labels are compared, from those there are."""
        first = (self.plan.dataset, ("", Metric.SPEARMAN))
        wanted = {key for key in self._cells if key[0]} if self._has_table else {first}
        labelled = {
            key: {**self._not_trained(key[1]), **self._cells[key]} for key in self._cells if key in wanted
        }
        found = {
            (key, pair): difference
            for key, measured in labelled.items()
            for pair, difference in differences_of(measured, between(self._compared(measured))).items()
        }
        differences = adjusted(found)
        compared = {key: compare(measured) for key, measured in labelled.items()}
        main = {label: one for label, one in compared[first].items() if label not in self.added}
        of_first = {pair: one for (key, pair), one in differences.items() if key == first}
        table = [
            self._entry(
                key, compared[key], {pair: one for (of, pair), one in differences.items() if of == key}
            )
            for key in labelled
        ]
        return Results(
            main={
                "encoders": {label: _figures("spearman", one) for label, one in main.items()},
                "from_plain": differences_from([Weighting.PLAIN], of_first),
                "from_shuffle": differences_from(SHUFFLES, of_first),
            },
            table=table if self._has_table else [],
            warnings=list(undefined(main)),
        )

    def _keep(self, label: str, source: str, suite: str, measured: Measured) -> None:
        cell = self._cells.setdefault((source, (suite, measured.metric)), {})
        cell.setdefault(label[:40], []).append(measured)

    def _not_trained(self, column: Column) -> dict[str, list[Measured]]:
        return self._cells.get(("", column), {})

    def _compared(self, measured: Mapping[str, Sequence[Measured]]) -> list[str]:
        """Baseline rows are shown; only the base model is compared with plain training, as before there were such
        rows.
        """
        return [label for label in measured if label not in self.added]

    def _entry(
        self,
        key: tuple[str, Column],
        compared: Mapping[str, ComparedEncoder],
        differences: Mapping[Between, Difference],
    ) -> dict[str, Any]:
        source, (suite, metric) = key
        read = next((read for one, read in self.suites if one.name == suite), None)
        pairs = len(read.test) if read else len(self.human)
        if suite == "sts12-16":
            pairs = sum(len(each.test) for one, each in self.suites if one.name.startswith("sts1"))
        own_dataset = self.plan.test_dataset or self.plan.dataset
        return {
            "source": source,
            "suite": suite,
            "metric": metric.value,
            "pairs": pairs,
            "in_domain": (source, suite) in self.plan.domains if suite else source == own_dataset,
            "encoders": {label: _figures("value", one) for label, one in compared.items()},
            "from_plain": differences_from([Weighting.PLAIN], differences),
            "from_shuffle": differences_from(SHUFFLES, differences),
        }


def _figures(name: str, one: ComparedEncoder) -> dict[str, Any]:
    return {name: one.mean.value, "low": one.mean.low, "high": one.mean.high, "sd": one.sd}


def differences_from(
    references: Collection[str], differences: Mapping[Between, Difference]
) -> dict[str, Any]:
    """Of each label that was compared with one of those."""
    return {
        label: {
            "difference": one.value,
            "difference_low": one.low,
            "difference_high": one.high,
            "difference_sd": one.sd,
            "p": one.p,
            "p_holm": one.p_holm,
        }
        for (label, other), one in differences.items()
        if other in references
    }
