"""What makes pairs related, as a chart: the correlation of each feature with the scores, and its interval."""

from django.utils.translation import gettext as _

from curation.charts import Chart, chart_draw
from mlworkers.kinds.dot_chart import Dot, dots_in_rows, labels_axis
from mlworkers.kinds.language.relatedness import RelatednessTable

_LABELS = 140  # pixels for the names of features, which grow on a telephone (curation/charts.py)


def relatedness_chart(table: RelatednessTable, *, finding: str, judges: str) -> Chart:
    """A row for each feature, in the order of the table."""
    rows = [row for row in table.rows if row.own.value is not None]
    dots = [Dot(row.short_label, row.own.value, row.own.low, row.own.high) for row in rows]
    drawn = dots_in_rows(
        dots,
        title=_("Spearman's correlation with the scores"),
        zero=True,
        labels=labels_axis([one.label for one in dots], room=_LABELS),
    )
    return chart_draw(
        drawn,
        name="relatedness",
        finding=finding,
        n=table.pairs,
        unit=_("pairs"),
        columns=[_("feature"), _("value"), _("from"), _("to")],
        rows=[[one.label, one.value, one.low, one.high] for one in dots],
        judges=judges,
    )
