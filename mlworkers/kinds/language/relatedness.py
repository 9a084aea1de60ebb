"""What makes pairs related: a table like the STR paper's table 4, a chart, and a sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.results.estimates import estimate_stored
from curation.results.reports import Chart, Links, Points, Report, Section, Text
from curation.results.tables import Cell, Column, Row, Table
from mlworkers.kinds.dot_chart import dots_chart
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run
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
_OF_FILE = (
    "question", "feature", "pairs", "without_vector", "spearman", "low", "high", "dice_on_the_same_pairs",
    "partial", "partial_low", "partial_high", "common_subset", "common_low", "common_high", "common_pairs",
    "coefficient", "coefficient_low", "coefficient_high", "variance_inflation",
)  # fmt: skip
_LABELS = 140  # pixels for the names of features, which grow on a telephone (curation/charts.py)


def relatedness_report(run: Run, reader: Reader) -> Report:
    result = run.result
    # As in the paper: the highest correlation first within a question.
    groups = [
        (str(label), sorted(found, key=lambda one: -(one["own"]["value"] or 0)))
        for question, label in QUESTIONS.items()
        if (found := [one for one in result.get("features", []) if one["question"] == question])
    ]
    features = [one for _label, found in groups for one in found]
    regression = (result.get("regression") or [{}])[0]
    coefficients = {one["name"]: one for one in regression.get("coefficients", [])}
    common_pairs = result.get("common_pairs")
    data: list[Row] = []
    for one in features:
        own, partial, common = (estimate_stored(one[name]) for name in ("own", "partial", "common"))
        of_all = coefficients.get(one["name"], {})
        data.append([
            one["question"], one["name"], one["pairs"], one["without_vector"], *own,
            (one["overlap"] or {}).get("value"), *partial, *common,
            common_pairs if common.value is not None else None,
            *estimate_stored(of_all.get("estimate")), of_all.get("inflation"),
        ])  # fmt: skip
    return Report(
        title=_("Analysis of relatedness %(number)s") % {"number": run.pk},
        heading=_("What makes these pairs related"),
        judges=run.judges,
        warnings=result.get("warnings", []),
        parts=[
            _chart(run, features, regression),
            _correlations(groups, result["common_pairs"]),
            *_regression(features, coefficients, regression, result["common_pairs"]),
            _how_to_read(run, reader),
        ]
        if "features" in result
        else [],
        data=Table(list(map(Column, _OF_FILE)), data),
    )


def _label(feature: _Stored) -> str:
    return str(LABELS.get(feature["name"], feature["name"]))


def _chart(run: Run, features: Sequence[_Stored], regression: _Stored) -> Chart:
    """A row for each feature, in the order of the table.

    The finding is the feature that goes with the scores most closely, and what all add to words in common.
    """
    best = max(features, key=lambda one: -2.0 if one["own"]["value"] is None else float(one["own"]["value"]))
    finding = _("No feature differs between these pairs, so nothing can be said.")
    if best["own"]["value"] is not None:
        words = {
            "feature": _label(best),
            "value": f"{best['own']['value']:.2f}",
            "pairs": intcomma(best["pairs"]),
        }
        finding = (
            _(
                "Of single features, “%(feature)s” correlates most with the scores: %(value)s on %(pairs)s pairs."
            )
            % words
        )
        if regression and regression["explained"]["value"] is not None:
            shares = {
                "all": f"{regression['explained']['value'] * 100:.0f}",
                "dice": f"{(regression['by_overlap']['value'] or 0) * 100:.0f}",
                "pairs": intcomma(run.result["common_pairs"]),
            }
            together = _(
                "On the %(pairs)s pairs that have all main features, they explain %(all)s %% of the variance together; "
                "words in common alone explain %(dice)s %%."
            )
            finding = f"{finding} {together % shares}"
    return dots_chart(
        # A chart on a telephone has little room: names are without the parts of speech of a group.
        [(_label(one).partition(" (")[0], estimate_stored(one["own"])) for one in features],
        name="relatedness",
        finding=finding,
        n=run.result["pairs"],
        unit=_("pairs"),
        heading=_("feature"),
        title=_("Spearman's correlation with the scores"),
        room=_LABELS,
        judges=run.judges,
    )


def _correlations(groups: Sequence[tuple[str, Sequence[_Stored]]], common_pairs: int) -> Section:
    columns = [
        Column(label=_("Feature"), form="text"),
        Column(label=_("Spearman")),
        Column(label=_("Pairs")),
        Column(label=_("Dice on the same pairs")),
        Column(label=_("Partial, given Dice")),
        Column(label=_("Common subset"), note=_("%(n)s pairs") % {"n": intcomma(common_pairs)}),
        Column(label=_("Paper"), note="STR-2021", digits=2),
    ]
    rows = [
        [
            _label(one),
            estimate_stored(one["own"]),
            Cell(
                one["pairs"],
                notes=[_("(%(n)s left out)") % {"n": intcomma(one["without_vector"])}]
                if one["without_vector"]
                else [],
            ),
            (one["overlap"] or {}).get("value"),
            estimate_stored(one["partial"]),
            estimate_stored(one["common"]),
            PAPER.get(one["name"]),
        ]
        for _group, found in groups
        for one in found
    ]
    divided = [(label, len(found)) for label, found in groups]
    return Section(_("Correlations with the scores"), [Table(columns, rows, divided)])


def _regression(
    features: Sequence[_Stored], coefficients: _Stored, regression: _Stored, common_pairs: int
) -> list[Section]:
    regressed = [one for one in features if one["name"] in coefficients]
    if not regressed:
        return []
    columns = [
        Column(label=_("Feature"), form="text"),
        Column(label=_("Standardised coefficient")),
        Column(label=_("Variance inflation"), digits=1),
    ]
    rows = [
        [
            _label(one),
            estimate_stored(coefficients[one["name"]]["estimate"]),
            coefficients[one["name"]]["inflation"],
        ]
        for one in regressed
    ]
    explained, by_overlap = (Column().text(regression[name]["value"]) for name in ("explained", "by_overlap"))
    about = [
        _("Least squares on the %(pairs)s pairs of the common subset.") % {"pairs": intcomma(common_pairs)},
        _("R² is %(all)s; of Dice alone it is %(dice)s.") % {"all": explained, "dice": by_overlap},
    ]
    return [Section(_("All features together"), [Text(" ".join(about), "soft"), Table(columns, rows)])]


def _how_to_read(run: Run, reader: Reader) -> Section:
    points = [
        _(
            "Each feature is defined on other pairs: those of which both sentences have such words with a vector. "
            "Pairs with such words, but without a vector, are left out and counted. Do not compare the first column "
            "between rows. Compare it with Dice on the same pairs, or compare the column of the common subset."
        ),
        _(
            "“Related” includes identical words. The partial correlation says what a feature adds to the words in "
            "common: it is the correlation of what the ranks of Dice leave of both ranks."
        ),
        _(
            "A coefficient says by how many standard deviations the score changes with one of the feature while the "
            "others stay equal. Where the variance inflation is above 5, the feature follows from the others, and its "
            "coefficient is unsure."
        ),
        _(
            "Lighter figures are 95 % bootstrap intervals over pairs. No correction for the number of features is "
            "made. The paper is Abdalla, Vishnubhotla and Mohammad (2021), table 4; its vectors and its pairs are "
            "others."
        ),
    ]
    links = reader.form(
        "cross_validate_encoder", run.dataset, _("See how well encoders agree with these scores")
    )
    return Section(_("How to read this"), [Points(points), *([Links(links)] if links else [])])
