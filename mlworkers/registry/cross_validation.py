"""A cross-validation as its page and its file show it: methods under each protocol, sources, trainings, a sentence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from mlworkers.encoders.cross_validation_plan import Method
from mlworkers.encoders.folds import NO_SOURCE, Protocol

_Stored = Mapping[str, Any]
METHODS: Mapping[str, Any] = {
    Method.DICE: gettext_lazy("Dice"),
    Method.STATIC: gettext_lazy("static word vectors"),
    Method.MEAN: gettext_lazy("model, mean pooling"),
    Method.MAX: gettext_lazy("model, max pooling"),
    Method.CLS: gettext_lazy("model, cls pooling"),
    Method.FINE_TUNED: gettext_lazy("model, fine-tuned"),
}
PROTOCOLS: Mapping[str, Any] = {
    Protocol.RANDOM: gettext_lazy("random folds"),
    Protocol.COMPONENTS: gettext_lazy("component folds"),
    Protocol.SOURCES: gettext_lazy("leave one source out"),
}
CSV_COLUMNS = (
    "protocol",
    "method",
    "figure",
    "fold_or_source",
    "pairs",
    "spearman",
    "low",
    "high",
    "leakage",
)


@dataclass(frozen=True)
class Estimate:
    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class MethodRow:
    """A method's figures under a protocol, as `encoders.cross_validation.MethodFigures` has them."""

    method: str
    label: str
    mean: Estimate
    pooled: Estimate
    unseen: Estimate
    by_fold: Mapping[str, Estimate]
    by_source: Mapping[str, Estimate]


@dataclass(frozen=True)
class ProtocolTable:
    """folds: of each its name, pairs and leakage. leakage: of all pairs, 0..1."""

    protocol: str
    label: str
    folds: Sequence[_Stored]
    leakage: float
    methods: Sequence[MethodRow]

    @property
    def lowest(self) -> float:
        return min(float(fold["leakage"]) for fold in self.folds)

    @property
    def highest(self) -> float:
        return max(float(fold["leakage"]) for fold in self.folds)

    @property
    def fold_rows(self) -> list[tuple[_Stored, list[tuple[str, Estimate]]]]:
        """Of each fold, its figures with the names of their methods."""
        return [
            (fold, [(row.label, row.by_fold[fold["fold"]]) for row in self.methods]) for fold in self.folds
        ]


@dataclass(frozen=True)
class SourceRow:
    """A source: its pairs, mean and deviation of their scores. labelled: a figure for each of `source_columns`."""

    source: str
    label: str
    pairs: int
    mean: float
    deviation: float
    labelled: Sequence[tuple[str, Estimate]]


@dataclass(frozen=True)
class CrossValidation:
    pairs: int
    protocols: Sequence[ProtocolTable]
    sources: Sequence[SourceRow]
    trainings: Sequence[_Stored]
    ceiling: Estimate
    ceiling_source: str

    @property
    def source_labels(self) -> list[str]:
        return [label for label, _row in source_columns(self.protocols)]

    @property
    def methods(self) -> list[str]:
        return [row.label for row in self.protocols[0].methods]

    @property
    def labelled_rows(self) -> list[tuple[str, list[tuple[str, MethodRow]]]]:
        """As `rows`, each figure with the name of its protocol."""
        names = [table.label for table in self.protocols]
        return [(label, list(zip(names, rows, strict=True))) for label, rows in self.rows]

    @property
    def rows(self) -> list[tuple[str, list[MethodRow]]]:
        """Of each method, its figures under each protocol."""
        return [
            (first.label, [table.methods[number] for table in self.protocols])
            for number, first in enumerate(self.protocols[0].methods)
        ]


def cross_validation_stored(result: _Stored) -> CrossValidation | None:
    """The tables of a cross-validation's result; None while there is none."""
    if not result.get("protocols"):
        return None
    protocols = [_table(stored) for stored in result["protocols"]]
    sources = [
        SourceRow(
            one["source"],
            source_label(one["source"]),
            one["pairs"],
            one["mean"],
            one["deviation"],
            [(label, row.by_source[one["source"]]) for label, row in source_columns(protocols)],
        )
        for one in result["sources"]
    ]
    trainings = [{**one, "label": str(PROTOCOLS[one["protocol"]])} for one in result["trainings"]]
    ceiling = Estimate(*(result.get(name) for name in ("ceiling", "ceiling_low", "ceiling_high")))
    return CrossValidation(
        result["pairs"], protocols, sources, trainings, ceiling, result.get("ceiling_source", "")
    )


def source_columns(protocols: Sequence[ProtocolTable]) -> list[tuple[str, MethodRow]]:
    """The methods without training once, because the folds do not change a source's figures; what was trained under
    each protocol.
    """
    once = [(row.label, row) for row in protocols[0].methods if row.method != Method.FINE_TUNED]
    trained = [
        (_("fine-tuned, %(protocol)s") % {"protocol": table.label}, row)
        for table in protocols
        for row in table.methods
        if row.method == Method.FINE_TUNED
    ]
    return once + trained


def source_label(name: str) -> str:
    return _("no source") if name == NO_SOURCE else name


def _table(stored: _Stored) -> ProtocolTable:
    rows = [
        MethodRow(
            one["method"],
            str(METHODS[one["method"]]),
            Estimate(**one["mean"]),
            Estimate(**one["pooled"]),
            Estimate(**one["unseen"]),
            {name: Estimate(**value) for name, value in one["by_fold"].items()},
            {name: Estimate(**value) for name, value in one["by_source"].items()},
        )
        for one in stored["methods"]
    ]
    return ProtocolTable(
        stored["protocol"], str(PROTOCOLS[stored["protocol"]]), stored["folds"], stored["leakage"], rows
    )


def what_the_folds_show(found: CrossValidation) -> str:
    """The best method where nothing leaks, and how much the random folds flatter what was trained."""
    clean = next((one for one in found.protocols if one.protocol == Protocol.COMPONENTS), found.protocols[0])
    best = max(clean.methods, key=lambda row: row.mean.value if row.mean.value is not None else -2.0)
    if best.mean.value is None:
        return _("No method gives these pairs different scores, so nothing can be said.")
    words = {"method": best.label, "protocol": clean.label, "value": f"{best.mean.value:.3f}"}
    sentences = [_("Best on %(protocol)s: %(method)s, with a mean Spearman of %(value)s.") % words]
    random = next((one for one in found.protocols if one.protocol == Protocol.RANDOM), None)
    if random is not None and clean is not random:
        shares = {"random": f"{random.leakage:.0%}", "clean": f"{clean.leakage:.0%}"}
        sentences.append(
            _(
                "%(random)s of the test pairs of random folds share a sentence with training, and %(clean)s of those "
                "of component folds."
            )
            % shares
        )
        pairs = {row.method: row for row in random.methods}
        trained = next((row for row in clean.methods if row.method == Method.FINE_TUNED), None)
        if trained is not None:
            flattered = (pairs[Method.FINE_TUNED].mean.value or 0) - (trained.mean.value or 0)
            sentences.append(
                _("The fine-tuned model's mean is %(difference)s higher on random folds.")
                % {"difference": f"{flattered:+.3f}".replace("-", "−")}
                if flattered >= 0
                else _("The fine-tuned model's mean is not higher on random folds.")
            )
    return " ".join(sentences)


def cross_validation_csv_rows(found: CrossValidation) -> Iterator[list[object]]:
    """A row for each figure, under CSV_COLUMNS."""
    pairs_of = {one.source: one.pairs for one in found.sources}
    for table in found.protocols:
        for row in table.methods:
            about = [table.protocol, row.method]
            for name, one in (
                ("mean over folds", row.mean),
                ("all pairs", row.pooled),
                ("unseen pairs", row.unseen),
            ):
                pairs = found.pairs if name != "unseen pairs" else round(found.pairs * (1 - table.leakage))
                yield [*about, name, "", pairs, one.value, one.low, one.high, table.leakage]
            for fold in table.folds:
                one = row.by_fold[fold["fold"]]
                yield [
                    *about,
                    "fold",
                    fold["fold"],
                    fold["pairs"],
                    one.value,
                    one.low,
                    one.high,
                    fold["leakage"],
                ]
            for source, one in row.by_source.items():
                yield [*about, "source", source, pairs_of[source], one.value, one.low, one.high, ""]
