"""What a comparison of weightings found, as a chart."""

from collections.abc import Sequence
from typing import Any

import altair as alt
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.charts import ACCENT, SOFT, Chart, chart_draw
from mlworkers.registry.comparison import Cell, Comparison

_PIXELS_OF_A_LETTER = 7


def comparison_chart(comparison: Comparison, *, judges: str) -> Chart | None:
    """Each encoder's correlation on the first test, its interval and its seeds; None if all are undefined."""
    cells = [(label, cell) for label, cell in comparison.cells() if cell.mean is not None]
    if not cells:
        return None
    by_mean = sorted(cells, key=lambda one: one[1].mean or 0.0)
    (lowest, low), (highest, high) = by_mean[0], by_mean[-1]
    words = {"highest": highest, "high": f"{high.mean:.3f}", "lowest": lowest, "low": f"{low.mean:.3f}"}
    finding = _("Highest is %(highest)s with %(high)s, lowest %(lowest)s with %(low)s.")
    if not comparison.judged:
        finding = _("Each dot is the mean over the seeds of an encoder. No difference is judged.")
    seeds = len(comparison.seeds)
    unit = ngettext("test pairs, %(seeds)s seed", "test pairs, %(seeds)s seeds", seeds) % {"seeds": seeds}
    return chart_draw(
        _dots(cells),
        name="comparison",
        finding=finding % words,
        n=comparison.pairs,
        unit=unit,
        columns=[_("encoder"), _("Spearman"), _("from"), _("to")],
        rows=[(label, *map(_figure, (cell.mean, cell.low, cell.high))) for label, cell in cells],
        judges=judges,
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _dots(cells: Sequence[tuple[str, Cell]]) -> alt.TopLevelMixin:
    order = [label for label, _cell in cells]
    # Vega measures labels in another font than the browser draws them in, so long ones would be cut.
    room = _PIXELS_OF_A_LETTER * max(map(len, order))
    row = alt.Y(
        "label:N",
        sort=order,
        title=None,
        axis=alt.Axis(domain=False, ticks=False, labelPadding=8, labelLimit=0, minExtent=room),
    )
    scale = alt.Scale(zero=False, nice=True)
    axis = alt.Axis(tickCount=5, format=".3~f")
    means = _of([{"label": label, "mean": c.mean} for label, c in cells])
    with_intervals = _of(
        [{"label": label, "low": c.low, "high": c.high} for label, c in cells if c.low is not None]
    )
    seeds = _of([{"label": label, "seed": value} for label, c in cells for value in c.by_seed])
    intervals = with_intervals.mark_rule(color=SOFT).encode(
        x=alt.X("low:Q", scale=scale, title=_("Spearman correlation with the test scores"), axis=axis),
        x2="high:Q",
        y=row,
    )
    small = seeds.mark_point(size=18, filled=False, color=SOFT, opacity=0.9).encode(x="seed:Q", y=row)
    dots = means.mark_point(size=80, color=ACCENT).encode(x="mean:Q", y=row)
    drawn: alt.TopLevelMixin = alt.layer(intervals, small, dots)
    return drawn.properties(width=360, height=max(60, 32 * len(order)))


def _of(values: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=values))
