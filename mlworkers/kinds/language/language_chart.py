"""What a linguistic analysis found, as a chart: the summary's measures of each group with their intervals."""

from typing import Any

import altair as alt
from django.utils.translation import gettext as _

from curation.charts import Chart, chart_draw
from mlworkers.kinds.dot_chart import Dot, dots_in_rows, labels_axis
from mlworkers.kinds.language.language import FamilyTable
from mlworkers.science.linguistics.measures import SUMMARY

_Rows = list[dict[str, Any]]
_WIDTH, _ROW, _COLUMNS = 190, 26, 2
_LABELS = 100  # pixels for the names of groups, which grow on a telephone (curation/charts.py)


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
    shown = [name for name in SUMMARY if any(row["measure"] == name for row in values)]
    panels = [
        _panel([row for row in values if row["measure"] == name], name, order, first=place % _COLUMNS == 0)
        for place, name in enumerate(shown)
    ]
    drawn: alt.TopLevelMixin = alt.concat(*panels, columns=_COLUMNS, spacing=24, align="each")
    return drawn


def _panel(values: _Rows, name: str, order: list[str], *, first: bool) -> alt.LayerChart | alt.FacetChart:
    """first: of its line, whose labels name the groups of every panel in it."""
    labels = labels_axis(order, room=_LABELS if first else 0, shown=first)
    by_group = {row["group"]: row for row in values}
    dots = [
        Dot(group, row.get("value"), row.get("low"), row.get("high"))
        for group in order
        for row in [by_group.get(group, {})]
    ]
    ticks = alt.Axis(tickCount=3, format=".2~f")
    return dots_in_rows(dots, title=name, width=_WIDTH, row=_ROW, ticks=ticks, labels=labels)
