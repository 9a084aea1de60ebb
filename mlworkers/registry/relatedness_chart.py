"""What makes pairs related, as a chart: the correlation of each feature with the scores, and its interval."""

import altair as alt
from django.utils.translation import gettext as _

from curation.charts import ACCENT, SOFT, Chart, chart_draw
from mlworkers.registry.relatedness import RelatednessTable

_WIDTH, _ROW = 360, 24
_LABELS = 140  # pixels for the names of features, which grow on a telephone (curation/charts.py)


def relatedness_chart(table: RelatednessTable, *, finding: str, judges: str) -> Chart:
    """A row for each feature, in the order of the table."""
    rows = [row for row in table.rows if row.own.value is not None]
    values = [
        {"feature": row.short_label, "value": row.own.value, "low": row.own.low, "high": row.own.high}
        for row in rows
    ]
    axis = alt.Axis(domain=False, ticks=False, labelPadding=6, labelLimit=260, minExtent=_LABELS)
    y = alt.Y("feature:N", sort=[row.short_label for row in rows], title=None, axis=axis)
    title = _("Spearman's correlation with the scores")
    base = alt.Chart(alt.InlineData(values=values))
    rule = base.mark_rule(color=SOFT).encode(x=alt.X("low:Q", title=title), x2="high:Q", y=y)
    dots = base.mark_point(size=60, filled=True, color=ACCENT).encode(x=alt.X("value:Q", title=title), y=y)
    drawn: alt.TopLevelMixin = alt.layer(rule, dots).properties(width=_WIDTH, height=_ROW * len(rows))
    return chart_draw(
        drawn,
        name="relatedness",
        finding=finding,
        n=table.pairs,
        unit=_("pairs"),
        columns=[_("feature"), _("value"), _("from"), _("to")],
        rows=[[row[name] for name in ("feature", "value", "low", "high")] for row in values],
        judges=judges,
    )
