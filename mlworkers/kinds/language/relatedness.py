"""What makes pairs related, as its page and its file show it: a table like the STR paper's table 4, and a sentence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from mlworkers.science.linguistics.relatedness.names import ALL, DICE, OBJECTS, SUBJECTS

_Stored = Mapping[str, Any]
QUESTIONS: Mapping[str, Any] = {
    "Q1": gettext_lazy("Words in common"),
    "Q2": gettext_lazy("Related words"),
    "Q3a": gettext_lazy("Related words of one part of speech"),
    "Q3b": gettext_lazy("Related words of a group of parts of speech"),
    "Q4": gettext_lazy("Related subjects, related objects"),
}
LABELS: Mapping[str, Any] = {
    DICE: gettext_lazy("Dice"),
    ALL: gettext_lazy("all words"),
    "noun group": gettext_lazy("noun group (NOUN, PRON, PROPN)"),
    "verb group": gettext_lazy("verb group (VERB, AUX)"),
    "adjective group": gettext_lazy("adjective group (ADJ, ADP, ADV)"),
    SUBJECTS: gettext_lazy("subjects"),
    OBJECTS: gettext_lazy("objects"),
}
PAPER: Mapping[str, float] = {  # STR paper, table 4, on STR-2021 with word2vec vectors of Google News
    DICE: 0.57, ALL: 0.61, "PROPN": 0.50, "NOUN": 0.45, "ADJ": 0.36, "VERB": 0.31, "PRON": 0.30, "ADV": 0.28,
    "AUX": 0.25, "ADP": 0.23, "DET": 0.20, "noun group": 0.60, "verb group": 0.32, "adjective group": 0.29,
    SUBJECTS: 0.29, OBJECTS: 0.43,
}  # fmt: skip
CSV_COLUMNS = (
    "question", "feature", "pairs", "without_vector", "spearman", "low", "high", "dice_on_the_same_pairs",
    "partial", "partial_low", "partial_high", "common_subset", "common_low", "common_high", "common_pairs",
    "coefficient", "coefficient_low", "coefficient_high", "variance_inflation",
)  # fmt: skip


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval; None where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def differs(self) -> bool:
        """Whether its interval excludes 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True)
class FeatureRow:
    """A row of the table. paper: the paper's correlation on STR-2021, None where it has none."""

    question: str
    name: str
    label: str
    pairs: int
    without_vector: int
    own: Estimate
    overlap: Estimate
    partial: Estimate
    common: Estimate
    coefficient: Estimate
    inflation: float | None
    paper: float | None

    @property
    def short_label(self) -> str:
        """Without the parts of speech of a group: a chart on a telephone has little room."""
        return self.label.partition(" (")[0]


@dataclass(frozen=True)
class RelatednessTable:
    pairs: int
    common_pairs: int
    groups: Sequence[tuple[str, Sequence[FeatureRow]]]
    explained: Estimate | None
    by_overlap: Estimate | None

    @property
    def rows(self) -> list[FeatureRow]:
        return [row for _label, rows in self.groups for row in rows]

    @property
    def regressed(self) -> list[FeatureRow]:
        return [row for row in self.rows if row.coefficient.value is not None]


def relatedness_stored(result: _Stored) -> RelatednessTable | None:
    """The table of an analysis's result; None while there is none."""
    if "features" not in result:
        return None
    regression = (result.get("regression") or [{}])[0]
    coefficients = {one["name"]: one for one in regression.get("coefficients", [])}
    rows = [_row(stored, coefficients.get(stored["name"])) for stored in result["features"]]
    # As in the paper: the highest correlation first within a question.
    groups = [
        (str(label), sorted(found, key=lambda row: -(row.own.value or 0)))
        for question, label in QUESTIONS.items()
        if (found := [row for row in rows if row.question == question])
    ]
    return RelatednessTable(
        result["pairs"],
        result["common_pairs"],
        groups,
        Estimate(**regression["explained"]) if regression else None,
        Estimate(**regression["by_overlap"]) if regression else None,
    )


def _row(stored: _Stored, coefficient: _Stored | None) -> FeatureRow:
    name = stored["name"]
    return FeatureRow(
        stored["question"],
        name,
        str(LABELS.get(name, name)),
        stored["pairs"],
        stored["without_vector"],
        _estimate(stored, "own"),
        _estimate(stored, "overlap"),
        _estimate(stored, "partial"),
        _estimate(stored, "common"),
        Estimate(**coefficient["estimate"]) if coefficient else Estimate(),
        coefficient["inflation"] if coefficient else None,
        PAPER.get(name),
    )


def _estimate(stored: _Stored, name: str) -> Estimate:
    return Estimate(**(stored[name] or {}))


def what_makes_them_related(table: RelatednessTable) -> str:
    """The feature that goes with the scores most closely, and what the features add to words in common."""
    best = max(table.rows, key=lambda row: row.own.value if row.own.value is not None else -2.0)
    if best.own.value is None:
        return _("No feature differs between these pairs, so nothing can be said.")
    words = {"feature": best.label, "value": f"{best.own.value:.2f}", "pairs": intcomma(best.pairs)}
    sentences = [
        _("Of single features, “%(feature)s” correlates most with the scores: %(value)s on %(pairs)s pairs.")
        % words
    ]
    if table.explained and table.by_overlap and table.explained.value is not None:
        shares = {
            "all": f"{table.explained.value * 100:.0f}",
            "dice": f"{(table.by_overlap.value or 0) * 100:.0f}",
            "pairs": intcomma(table.common_pairs),
        }
        sentences.append(
            _(
                "On the %(pairs)s pairs that have all main features, they explain %(all)s %% of the variance together; "
                "words in common alone explain %(dice)s %%."
            )
            % shares
        )
    return " ".join(sentences)


def relatedness_csv_rows(table: RelatednessTable) -> Iterator[list[object]]:
    """A row per feature, under CSV_COLUMNS."""
    for row in table.rows:
        own, partial, common, coefficient = (
            [one.value, one.low, one.high] for one in (row.own, row.partial, row.common, row.coefficient)
        )
        yield [
            row.question, row.name, row.pairs, row.without_vector, *own, row.overlap.value, *partial, *common,
            table.common_pairs if row.common.value is not None else None, *coefficient, row.inflation,
        ]  # fmt: skip
