"""The curves of similarity from contexts, as a page shows them: points with intervals, a chart, and what they say."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from curation.charts import ACCENT, SOFT, Chart, chart_draw
from mlworkers.models import Run
from mlworkers.science.contexts.curves import Point

CSV_COLUMNS = (
    "curve", "x", "spearman", "low", "high", "difference", "difference_low", "difference_high", "pairs",
    "pairs_with_a_similarity",
)  # fmt: skip
_FIGURES = ("x", "spearman", "low", "high", "difference", "difference_low", "difference_high", "pairs", "own")
_FEWEST_POINTS = 2
_HEADINGS: Mapping[str, Any] = {
    "corpus_sizes": gettext_lazy("Size of the corpus"),
    "context_counts": gettext_lazy("Contexts of a sentence"),
    "surrogate_sizes": gettext_lazy("Pairs that a surrogate learns from"),
}
_UNITS: Mapping[str, Any] = {
    "corpus_sizes": gettext_lazy("sentences"),
    "context_counts": gettext_lazy("contexts"),
    "surrogate_sizes": gettext_lazy("pairs"),
}


@dataclass(frozen=True)
class Curve:
    """One curve of a run. uninformed: the sizes whose model is no better than frequencies of tokens."""

    name: str
    heading: str
    unit: str
    points: Sequence[Point]
    uninformed: Sequence[int]
    finding: str
    chart: Chart | None


def curves_of(run: Run) -> list[Curve]:
    """Those that the run measured; none while it has no result."""
    return [_curve(name, rows, judges=run.judges) for name in _HEADINGS if (rows := run.result.get(name))]


def csv_rows(curves: Sequence[Curve]) -> Iterator[Sequence[object]]:
    for curve in curves:
        for point in curve.points:
            yield [curve.name, *(getattr(point, figure) for figure in _FIGURES)]


def _curve(name: str, rows: Sequence[Mapping[str, Any]], *, judges: str) -> Curve:
    points = [Point(**{key: value for key, value in row.items() if key != "informs"}) for row in rows]
    uninformed = [row["x"] for row in rows if row.get("informs") is False]
    heading, unit = str(_HEADINGS[name]), str(_UNITS[name])
    finding = _finding(points, unit)
    return Curve(
        name, heading, unit, points, uninformed, finding, _chart(name, points, finding, judges=judges)
    )


def _finding(points: Sequence[Point], unit: str) -> str:
    """From the first place of the curve to the last, and whether the interval of the difference includes 0."""
    first, last = points[0], points[-1]
    if first.spearman is None or last.spearman is None:
        return _("There is no correlation: too few pairs have a similarity everywhere, or one is constant.")
    words = {
        "first": intcomma(first.x),
        "last": intcomma(last.x),
        "from": f"{first.spearman:.3f}",
        "to": f"{last.spearman:.3f}",
        "unit": unit,
    }
    if first is last:
        return _("Spearman %(to)s with %(last)s %(unit)s.") % words
    sentence = _("Spearman %(from)s with %(first)s %(unit)s, %(to)s with %(last)s.") % words
    if first.difference_low is None or first.difference_high is None:
        return sentence
    if first.difference_low <= 0 <= first.difference_high:
        return sentence + " " + _("The interval of the difference includes 0.")
    return sentence + " " + _("The interval of the difference excludes 0.")


def _chart(name: str, points: Sequence[Point], finding: str, *, judges: str) -> Chart | None:
    """A point with its interval for each place of the curve; None for fewer than two."""
    known = [point for point in points if point.spearman is not None]
    if len(known) < _FEWEST_POINTS:
        return None
    pairs = known[0].pairs
    return chart_draw(
        _drawn(known, str(_HEADINGS[name])),
        name=name,
        finding=finding,
        n=pairs,
        unit=ngettext("pair", "pairs", pairs),
        columns=[str(_HEADINGS[name]), _("Spearman"), _("from"), _("to")],
        rows=[(one.x, *(_four(value) for value in (one.spearman, one.low, one.high))) for one in known],
        judges=judges,
    )


def _four(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _drawn(points: Sequence[Point], title: str) -> alt.TopLevelMixin:
    order = [intcomma(one.x) for one in points]
    values = [
        {"x": name, "figure": one.spearman, "low": one.low, "high": one.high}
        for name, one in zip(order, points, strict=True)
    ]
    ends = [end for one in points for end in (one.spearman, one.low, one.high) if end is not None]
    margin = 0.05 * (max(ends) - min(ends)) or 0.05
    scale = alt.Scale(domain=[min(ends) - margin, max(ends) + margin], nice=True)
    x = alt.X("x:N", sort=order, title=title, axis=alt.Axis(labelAngle=0))
    base = alt.Chart(alt.InlineData(values=values))
    rules = base.mark_rule(color=SOFT).encode(x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q")
    figure = alt.Y("figure:Q", scale=scale, title=_("Spearman with people"))
    line = base.mark_line(color=ACCENT, point=alt.OverlayMarkDef(color=ACCENT, size=60, filled=True))
    drawn: alt.TopLevelMixin = alt.layer(rules, line.encode(x=x, y=figure))
    return drawn.properties(width=max(240, min(560, 90 * len(points))), height=180)
