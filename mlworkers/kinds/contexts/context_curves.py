"""The curves of similarity from contexts: of each a chart, what it says, and a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from curation.charts import ACCENT, SOFT
from curation.files.heavy import alt
from curation.results.estimates import Estimate
from curation.results.reports import Chart, Link, Links, Report, Section, Text
from curation.results.tables import Column, Row, Table
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run
from mlworkers.science.contexts.curves import Point

_OF_FILE = (
    "curve", "x", "spearman", "low", "high", "difference", "difference_low", "difference_high", "pairs",
    "pairs_with_a_similarity",
)  # fmt: skip
_FIGURES = ("x", "spearman", "low", "high", "difference", "difference_low", "difference_high", "pairs", "own")
_FEWEST_POINTS = 2
_HEADINGS: Mapping[str, Any] = {
    "corpus_sizes": gettext_lazy("Size of the corpus"),
    "context_counts": gettext_lazy("Contexts of a sentence"),
    "surrogate_sizes": gettext_lazy("Training pairs of a student encoder"),
}
_UNITS: Mapping[str, Any] = {
    "corpus_sizes": gettext_lazy("sentences"),
    "context_counts": gettext_lazy("contexts"),
    "surrogate_sizes": gettext_lazy("pairs"),
}


def context_curves_report(run: Run, reader: Reader) -> Report:
    curves = {name: rows for name in _HEADINGS if (rows := run.result.get(name))}
    lead = _(
        "How the agreement with “%(scores)s” grows with the corpus, with the contexts of a sentence, and "
        "with the training pairs of a student encoder. Intervals are 95 %%, over pairs."
    )
    guide = Link(
        _("What is comparable with the paper, and what is not"), reverse("guide_page", args=["contexts"])
    )
    again = reader.form(run.kind, run.dataset, _("Measure other sizes"), look="button", again=run.pk)
    return Report(
        title=_("Curves of contexts %(number)s") % {"number": run.pk},
        heading=_("Curves of contexts"),
        lead=lead % {"scores": run.plan.get("score_set", "")},
        data=Table(
            list(map(Column, _OF_FILE)),
            [[name, *(row.get(each) for each in _FIGURES)] for name, rows in curves.items() for row in rows],
        ),
        parts=[
            *(_curve(name, rows, judges=run.judges) for name, rows in curves.items()),
            Links([*again, guide]),
        ]
        if curves
        else [],
    )


def _curve(name: str, rows: Sequence[Mapping[str, Any]], *, judges: str) -> Section:
    points = [Point(**{key: value for key, value in row.items() if key != "informs"}) for row in rows]
    heading, unit = str(_HEADINGS[name]), str(_UNITS[name])
    finding = _finding(points, unit)
    parts: list[Chart | Text | Table] = [
        _chart(name, points, finding, judges=judges) or Text(finding, "finding")
    ]
    if uninformed := [intcomma(row["x"]) for row in rows if row.get("informs") is False]:
        told = _(
            "The models of these sizes are no better than frequencies of tokens, so their scores carry no information:"
        )
        parts.append(Text(f"{told} {', '.join(uninformed)}", "soft"))
    columns = [
        Column(label=heading),
        Column(label=_("Spearman")),
        Column(label=_("Difference from the last")),
        Column(label=_("Pairs compared")),
        Column(label=_("Pairs with a similarity")),
    ]
    table: list[Row] = [
        [
            f"{intcomma(one.x)} {unit}",
            Estimate(one.spearman, one.low, one.high),
            Estimate(one.difference, one.difference_low, one.difference_high),
            one.pairs,
            one.own,
        ]
        for one in points
    ]
    return Section(heading, [*parts, Table(columns, table)])


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
    title, pairs, order = str(_HEADINGS[name]), known[0].pairs, [intcomma(one.x) for one in known]
    values = [
        {"x": place, "figure": one.spearman, "low": one.low, "high": one.high}
        for place, one in zip(order, known, strict=True)
    ]
    ends = [end for one in known for end in (one.spearman, one.low, one.high) if end is not None]
    margin = 0.05 * (max(ends) - min(ends)) or 0.05
    scale = alt.Scale(domain=[min(ends) - margin, max(ends) + margin], nice=True)
    x = alt.X("x:N", sort=order, title=title, axis=alt.Axis(labelAngle=0))
    base = alt.Chart(alt.InlineData(values=values))
    rules = base.mark_rule(color=SOFT).encode(x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q")
    figure = alt.Y("figure:Q", scale=scale, title=_("Spearman with people"))
    line = base.mark_line(color=ACCENT, point=alt.OverlayMarkDef(color=ACCENT, size=60, filled=True))
    drawn = alt.layer(rules, line.encode(x=x, y=figure))
    return Chart(
        name=name,
        finding=finding,
        n=pairs,
        unit=ngettext("pair", "pairs", pairs),
        drawing=drawn.properties(width=max(240, min(560, 90 * len(known))), height=180).to_dict(),
        columns=[title, _("Spearman"), _("from"), _("to")],
        rows=[
            (one.x, *("" if end is None else f"{end:.4f}" for end in (one.spearman, one.low, one.high)))
            for one in known
        ],
        judges=judges,
    )
