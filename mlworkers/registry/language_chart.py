"""What a linguistic analysis found, as a chart: the summary's measures of each group with their intervals."""

from typing import Any

import altair as alt
from django.utils.translation import gettext as _

from curation.charts import ACCENT, SOFT, Chart, chart_draw
from mlworkers.linguistics.measures import SUMMARY
from mlworkers.registry.language import FamilyTable

_Rows = list[dict[str, Any]]
_WIDTH, _ROW = 190, 26


def language_chart(family: FamilyTable, *, finding: str) -> Chart:
    """A panel for each measure, since their scales differ; a row for each group."""
    values: _Rows = [
        {"group": group.label, "measure": name, "value": one.value, "low": one.low, "high": one.high}
        for group in family.groups
        for name in SUMMARY
        if (one := group.figures[name]).value is not None
    ]
    return chart_draw(
        _panels(values, [group.label for group in family.groups]),
        name="language",
        finding=finding,
        n=sum(group.pairs for group in family.groups if group.group in ("human", "generated")),
        unit=_("pairs"),
        columns=[_("group"), _("measure"), _("value"), _("from"), _("to")],
        rows=[[row[name] for name in ("group", "measure", "value", "low", "high")] for row in values],
    )


def _panels(values: _Rows, order: list[str]) -> alt.TopLevelMixin:
    panels = [
        _panel([row for row in values if row["measure"] == name], name, order)
        for name in SUMMARY
        if any(row["measure"] == name for row in values)
    ]
    drawn: alt.TopLevelMixin = alt.concat(*panels, columns=2, spacing=24)
    return drawn


def _panel(values: _Rows, name: str, order: list[str]) -> alt.LayerChart | alt.FacetChart:
    row = alt.Y("group:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False, labelPadding=6))
    scale, axis = alt.Scale(zero=False, nice=True), alt.Axis(tickCount=3, format=".2~f")
    base = alt.Chart(alt.InlineData(values=values))
    rule = base.mark_rule(color=SOFT).encode(
        x=alt.X("low:Q", scale=scale, axis=axis, title=name), x2="high:Q", y=row
    )
    dots = base.mark_point(size=60, filled=True, color=ACCENT).encode(
        x=alt.X("value:Q", scale=scale, axis=axis, title=name), y=row
    )
    return alt.layer(rule, dots).properties(width=_WIDTH, height=_ROW * len(order))
