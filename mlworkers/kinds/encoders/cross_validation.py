"""A cross-validation from its stored result: methods under each protocol, sources, trainings, and sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.results.estimates import Estimate, estimate_stored
from mlworkers.science.encoders.cross_validation_plan import Method
from mlworkers.science.encoders.folds import NO_SOURCE, Protocol, part_to_cite
from mlworkers.science.encoders.seen import ALL, UNSEEN

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


@dataclass(frozen=True)
class Figures:
    """As `encoders.cross_validation.Figures` has them. mean_pearson: nothing in results of earlier versions."""

    mean: Estimate
    mean_pearson: Estimate
    pooled: Estimate
    by_fold: Mapping[str, Estimate]
    by_source: Mapping[str, Estimate]


@dataclass(frozen=True)
class MethodRow(Figures):
    """A method's figures under a protocol on all pairs. unseen: those on the unseen pairs; None where every pair is."""

    method: str
    label: str
    unseen: Figures | None

    def on(self, part: str) -> Figures:
        return self.unseen if part == UNSEEN and self.unseen is not None else self


@dataclass(frozen=True)
class ProtocolTable:
    """folds: of each its name, pairs and leakage. pairs: those that a fold tests; leakage: of them, 0..1; unseen_pairs:
    those of them without a sentence that was trained on.
    """

    protocol: str
    label: str
    folds: Sequence[_Stored]
    pairs: int
    leakage: float
    unseen_pairs: int
    methods: Sequence[MethodRow]

    @property
    def some_seen(self) -> bool:
        return any(row.unseen is not None for row in self.methods)

    @property
    def lowest(self) -> float:
        return min(float(fold["leakage"]) for fold in self.folds)

    @property
    def highest(self) -> float:
        return max(float(fold["leakage"]) for fold in self.folds)


@dataclass(frozen=True)
class Column:
    """A protocol's means over folds on all pairs, or on the unseen ones. cited: whether these are those to cite."""

    table: ProtocolTable
    part: str
    pairs: int
    cited: bool

    @property
    def all_pairs(self) -> bool:
        return self.part == ALL

    @property
    def label(self) -> str:
        return (
            self.table.label
            if self.part == ALL
            else _("%(protocol)s, unseen") % {"protocol": self.table.label}
        )

    @property
    def rows(self) -> list[tuple[MethodRow, Estimate]]:
        return [(row, row.on(self.part).mean) for row in self.table.methods]

    @property
    def pearson(self) -> list[Estimate]:
        """Of each method."""
        return [row.on(self.part).mean_pearson for row in self.table.methods]

    @property
    def best(self) -> tuple[MethodRow, Estimate] | None:
        """The method with the highest mean; None where none has a mean."""
        known = [one for one in self.rows if one[1].value is not None]
        return max(known, key=lambda one: one[1].value or 0.0, default=None)


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
    """seeds: of the trainings; none where nothing was trained, or one in results of earlier versions. seen_before: how
    many pairs hold a sentence that the model was trained on before this run.
    """

    pairs: int
    protocols: Sequence[ProtocolTable]
    sources: Sequence[SourceRow]
    trainings: Sequence[_Stored]
    seeds: Sequence[int]
    seen_before: int
    ceiling: Estimate
    ceiling_source: str

    @property
    def methods(self) -> list[str]:
        return [row.label for row in self.protocols[0].methods]

    @property
    def several_seeds(self) -> bool:
        return len(self.seeds) > 1

    @property
    def some_seen(self) -> bool:
        return any(table.some_seen for table in self.protocols)

    @property
    def columns(self) -> list[Column]:
        """Of each protocol the means on all pairs, and beside them those on the unseen ones where they differ."""
        protocol, part = part_to_cite({Protocol(one.protocol): one.some_seen for one in self.protocols})
        found = []
        for table in self.protocols:
            parts = {ALL: table.pairs, **({UNSEEN: table.unseen_pairs} if table.some_seen else {})}
            found += [
                Column(table, name, pairs, (table.protocol, name) == (protocol, part))
                for name, pairs in parts.items()
            ]
        return found

    @property
    def cited(self) -> Column:
        return next(column for column in self.columns if column.cited)

    @property
    def labelled_rows(self) -> list[tuple[str, list[tuple[str, Estimate]]]]:
        """Of each method, its means with the names of their columns."""
        columns = self.columns
        return [
            (label, [(column.label, column.rows[number][1]) for column in columns])
            for number, label in enumerate(self.methods)
        ]


def cross_validation_stored(result: _Stored) -> CrossValidation | None:
    """The tables of a cross-validation's result; None while there is none."""
    if not result.get("protocols"):
        return None
    pairs, protocols = result["pairs"], []
    for stored in result["protocols"]:
        rows = []
        for one in stored["methods"]:
            unseen = one["unseen"]
            # A result of an earlier version has no mean over unseen pairs.
            if unseen is not None and "mean" not in unseen:
                figures = Figures(Estimate(), Estimate(), estimate_stored(unseen), {}, {})
                unseen = figures if stored["leakage"] else None
            elif unseen is not None:
                unseen = Figures(**_figures(unseen))
            label = str(METHODS[one["method"]])
            rows.append(MethodRow(**_figures(one), method=one["method"], label=label, unseen=unseen))
        table = ProtocolTable(
            stored["protocol"],
            str(PROTOCOLS[stored["protocol"]]),
            stored["folds"],
            stored.get("pairs", pairs),
            stored["leakage"],
            stored.get("unseen_pairs", round(pairs * (1 - stored["leakage"]))),
            rows,
        )
        protocols.append(table)
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
    ceiling = Estimate(*(result.get(name) for name in ("ceiling", "ceiling_low", "ceiling_high")))
    return CrossValidation(
        pairs=pairs,
        protocols=protocols,
        sources=sources,
        trainings=[{**one, "label": str(PROTOCOLS[one["protocol"]])} for one in result["trainings"]],
        seeds=result.get("seeds", []),
        seen_before=result.get("seen_before", 0),
        ceiling=ceiling,
        ceiling_source=result.get("ceiling_source", ""),
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


def _figures(stored: _Stored) -> dict[str, Any]:
    return {
        "mean": estimate_stored(stored["mean"]),
        "mean_pearson": estimate_stored(stored.get("mean_pearson")),
        "pooled": estimate_stored(stored["pooled"]),
        "by_fold": {name: estimate_stored(value) for name, value in stored["by_fold"].items()},
        "by_source": {name: estimate_stored(value) for name, value in stored["by_source"].items()},
    }


def what_to_cite(found: CrossValidation) -> str:
    """Which means to cite, and what the others are for."""
    cited = found.cited
    words = {
        "protocol": cited.table.label,
        "pairs": intcomma(cited.pairs),
        "all": intcomma(cited.table.pairs),
    }
    if cited.part == ALL:
        return _("Cite the means on %(protocol)s.") % words
    if cited.best is None:
        return (
            _(
                "Only %(pairs)s of the %(all)s pairs hold no sentence that was trained on, too few for a mean over "
                "%(protocol)s. If you cite the means on all pairs, say that the model had seen the others."
            )
            % words
        )
    return (
        _(
            "Cite the means on %(protocol)s over the %(pairs)s unseen pairs, which hold no sentence that was trained "
            "on. Means over all %(all)s pairs may be too high, because the model may remember sentences."
        )
        % words
    )


def what_is_best(found: CrossValidation) -> str:
    """The best method on the figures to cite; on all pairs where there are none on unseen ones."""
    column = _column_shown(found)
    if column.best is None:
        return _("No method gives these pairs different scores, so nothing can be said.")
    best, mean = column.best
    words = {"method": best.label, "protocol": column.table.label, "value": f"{mean.value:.3f}"}
    if column.all_pairs:
        return _("Best on %(protocol)s: %(method)s, with a mean Spearman of %(value)s.") % words
    words["all"] = "–" if best.mean.value is None else f"{best.mean.value:.3f}"
    sentence = _(
        "Best on the unseen pairs of %(protocol)s: %(method)s, with a mean Spearman of %(value)s (on all pairs "
        "%(all)s)."
    )
    return sentence % words


def _column_shown(found: CrossValidation) -> Column:
    cited = found.cited
    return cited if cited.best else next(one for one in found.columns if one.table == cited.table)


def what_the_folds_show(found: CrossValidation) -> str:
    """The best method, and how much the random folds flatter what was trained."""
    column = _column_shown(found)
    sentences = [what_is_best(found)]
    if column.best is None:
        return sentences[0]
    clean = column.table
    random = next((one for one in found.protocols if one.protocol == Protocol.RANDOM), None)
    if random is not None and clean is not random:
        shares = {"random": f"{random.leakage:.0%}", "clean": f"{clean.leakage:.0%}", "protocol": clean.label}
        sentences.append(
            _(
                "%(random)s of the test pairs of random folds share a sentence with training, and %(clean)s of those "
                "of %(protocol)s."
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
