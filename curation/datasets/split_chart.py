"""The chart of splits: how the scores of each spread, one small histogram beside the other."""

from itertools import pairwise
from textwrap import wrap

from django.utils.translation import gettext as _

from curation.charts import Chart, chart_draw
from curation.datasets.splits import SplitRow, Splits
from curation.files.heavy import alt
from curation.models import ScoreSet

MOST_DRAWN = 6  # splits, the largest first; the table has them all
_ABREAST = 2
_TITLE_WIDTH = 20  # characters of a line under a histogram


def splits_chart(splits: Splits, score_set: ScoreSet | None, *, name: str) -> Chart | None:
    """A histogram for each split of the share of its pairs in each tenth of the scale, all with the same axes.

    None where no pair of a split has a score. name: of the chart and its files.
    """
    scored = [row for row in splits.rows if sum(row.counts)]
    if score_set is None or not scored:
        return None
    labels = [_label(row) for row in scored]
    rows = [
        (label, low, high, count, round(100 * count / sum(row.counts), 1))
        for label, row in zip(labels, scored, strict=True)
        for (low, high), count in zip(pairwise(splits.edges), row.counts, strict=True)
    ]
    drawn = set(labels[:MOST_DRAWN])
    values = [
        {"split": label, "low": low, "high": high, "percent": percent}
        for label, low, high, _count, percent in rows
        if label in drawn
    ]
    bars = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X(
                "low:Q", bin="binned", title=wrap(score_set.name, _TITLE_WIDTH), axis=alt.Axis(tickCount=5)
            ),
            x2="high:Q",
            y=alt.Y("percent:Q", title=_("% of the split"), axis=alt.Axis(tickCount=3)),
        )
        .properties(width=150, height=90)
    )
    # How far apart the means of the splits are.
    low, high = (choose(scored, key=lambda row: row.mean or 0.0) for choose in (min, max))
    words = {
        "low": _label(low),
        "lowest": f"{low.mean:.2f}",
        "high": _label(high),
        "highest": f"{high.mean:.2f}",
    }
    finding = _("Mean scores lie between %(lowest)s (%(low)s) and %(highest)s (%(high)s).")
    if len(scored) == 1:
        finding = _("The scores of %(low)s have the mean %(lowest)s.")
    order = labels[:MOST_DRAWN]
    facets = alt.Facet("split:N", sort=order, title=None, header=alt.Header(labelLimit=150))
    return chart_draw(
        # With separate axes for each, so that none is drawn where an odd number leaves a place empty.
        bars.facet(facet=facets, columns=_ABREAST, data=alt.InlineData(values=values)).resolve_axis(
            x="independent"
        ),
        name=name,
        finding=finding % words,
        n=sum(sum(row.counts) for row in scored),
        unit=_("pairs with a score"),
        columns=[_("split"), _("from"), _("to"), _("pairs"), _("% of the split")],
        rows=rows,
        judges=score_set.judged_by,
    )


def _label(row: SplitRow) -> str:
    return row.split or _("no split")
