"""A comparison over source datasets, weightings and suites as its page and its file show it, as RISE's table 3."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlworkers.kinds.comparisons.comparison import (
    BESIDE_COLUMNS,
    DIFFERENCE,
    Cell,
    beside_cells,
    beside_of,
    ordered_labels,
    tests_of,
)

METRICS = {"spearman": "Spearman", "pearson": "Pearson", "accuracy": "Accuracy", "f1": "F1"}


@dataclass(frozen=True)
class Column:
    """suite: its name; "" is the comparison's own test."""

    suite: str
    metric: str
    pairs: int

    @property
    def metric_name(self) -> str:
        return METRICS.get(self.metric, self.metric)


@dataclass(frozen=True)
class SourceCell:
    """in_domain: whether the suite has sentences of the same corpus as the source dataset."""

    column: Column
    in_domain: bool
    cell: Cell


@dataclass(frozen=True)
class SourceRows:
    """The rows of one source dataset. trained: whether its encoders were trained; rows that were not come once."""

    source: str
    trained: bool
    rows: Sequence[tuple[str, Sequence[SourceCell]]]


@dataclass(frozen=True)
class Table:
    columns: Sequence[Column]
    sources: Sequence[SourceRows]
    tests: int

    @property
    def has_out_of_domain(self) -> bool:
        return any(
            not cell.in_domain for source in self.sources for _label, cells in source.rows for cell in cells
        )

    @property
    def has_undefined(self) -> bool:
        return any(
            cell.cell.mean is None
            for source in self.sources
            for _label, cells in source.rows
            for cell in cells
        )


def suite_table_of(result: Mapping[str, Any], *, judged: bool) -> Table | None:
    """From a comparison's result; None where it has no such table, as older ones. Baseline rows come first, once."""
    entries: Sequence[Mapping[str, Any]] = result.get("table", [])
    if not entries:
        return None
    columns = list(dict.fromkeys(_column(entry) for entry in entries))
    sources = list(dict.fromkeys(str(entry["source"]) for entry in entries))
    found = {(str(entry["source"]), _column(entry)): entry for entry in entries}
    trained = {label for entry in entries for label in entry["from_plain"]} | {"plain"}
    trained -= {"base"}
    labels = ordered_labels({label for entry in entries for label in entry["encoders"]})
    of_training = [one for one in labels if one in trained]
    others = [one for one in labels if one not in trained]
    groups = [_rows(sources[0], columns, found, others, trained=False, judged=judged)]
    groups += [_rows(source, columns, found, of_training, trained=True, judged=judged) for source in sources]
    return Table(columns, [group for group in groups if group.rows], tests_of(entries))


def _column(entry: Mapping[str, Any]) -> Column:
    return Column(str(entry["suite"]), str(entry["metric"]), int(entry["pairs"]))


def _rows(
    source: str,
    columns: Sequence[Column],
    found: Mapping[tuple[str, Column], Mapping[str, Any]],
    labels: Sequence[str],
    *,
    trained: bool,
    judged: bool,
) -> SourceRows:
    rows = []
    for label in labels:
        cells = []
        for column in columns:
            entry = found.get((source, column), {})
            figures = entry.get("encoders", {}).get(label, {})
            difference = entry.get("from_plain", {}).get(label, {}) if trained else {}
            known: dict[str, Any] = {name: figures.get(name) for name in ("sd", "low", "high")}
            known |= {name: difference.get(name) for name in DIFFERENCE}
            if beside := entry.get("beside"):
                others = beside["encoders"].get(label, {})
                known["beside"] = beside_of(others, part=beside["part"], mean="value", pairs=beside["pairs"])
            cell = Cell(mean=figures.get("value"), judged=judged, **known)
            cells.append(SourceCell(column, bool(entry.get("in_domain")) or not trained, cell))
        rows.append((label, cells))
    return SourceRows(source if trained else "", trained, rows)


CSV_COLUMNS = (
    "source",
    "encoder",
    "suite",
    "metric",
    "pairs",
    "domain",
    "mean",
    "sd",
    "low",
    "high",
    "difference_from_plain",
    *DIFFERENCE[1:],
    *BESIDE_COLUMNS,
)


def csv_rows(table: Table, *, own_test: str) -> Iterator[list[object]]:
    """A row for each source, encoder and column, under CSV_COLUMNS. own_test: the name of the comparison's own test."""
    for source in table.sources:
        for label, cells in source.rows:
            for one in cells:
                domain = ("in" if one.in_domain else "out") if source.trained else ""
                yield [
                    source.source,
                    label,
                    one.column.suite or own_test,
                    one.column.metric,
                    one.column.pairs,
                    domain,
                    *(getattr(one.cell, name) for name in ("mean", "sd", "low", "high", *DIFFERENCE)),
                    *beside_cells(one.cell),
                ]
