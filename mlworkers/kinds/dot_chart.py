"""Dots with their intervals, one in each row: what the charts of several results have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from curation.charts import ACCENT, SOFT
from curation.files.heavy import alt
from curation.results.estimates import Estimate
from curation.results.reports import Chart

_PIXELS_OF_A_LETTER = 7


@dataclass(frozen=True)
class Dot:
    """A figure, its interval where there is one, and the figures of its seeds where these are drawn too."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    seeds: Sequence[float] = ()


def dots_chart(
    figures: Sequence[tuple[str, Estimate]],
    *,
    name: str,
    finding: str,
    n: int,
    unit: str,
    heading: str,
    title: str,
    room: int,
    judges: str = "",
) -> Chart:
    """A row for each figure that is defined, under its label. heading: of the labels. title: of the axis, which
    begins at 0. room: for the labels, in pixels.
    """
    known = [(label, one) for label, one in figures if one.value is not None]
    drawn = dots_in_rows(
        [Dot(label, *one) for label, one in known],
        title=title,
        zero=True,
        labels=labels_axis([label for label, _one in known], room=room),
    )
    columns, rows = [heading, _("value"), _("from"), _("to")], [[label, *one] for label, one in known]
    return Chart(name, finding, n, unit, drawn.to_dict(), columns, rows, judges)


def dots_in_rows(
    dots: Sequence[Dot],
    *,
    title: str,
    width: int = 360,
    row: int = 24,
    zero: bool = False,
    ticks: alt.Axis | None = None,
    labels: alt.Axis | None = None,
) -> alt.LayerChart | alt.FacetChart:
    """A row of so many pixels for each dot, in their order. title: of the figures. zero: whether their axis begins
    there. labels: their axis; by default it has room for the longest.
    """
    order = [one.label for one in dots]
    y = alt.Y("label:N", scale=alt.Scale(domain=order), title=None, axis=labels or labels_axis(order))
    shared: dict[str, Any] = {"title": title, "scale": alt.Scale(zero=zero, nice=True)}
    if ticks is not None:
        shared["axis"] = ticks
    known = [one for one in dots if one.value is not None]
    intervals = [
        {"label": one.label, "low": one.low, "high": one.high} for one in known if one.low is not None
    ]
    seeds = [{"label": one.label, "value": value} for one in dots for value in one.seeds]
    x = alt.X("value:Q", **shared)
    rules = _of(intervals).mark_rule(color=SOFT).encode(x=alt.X("low:Q", **shared), x2="high:Q", y=y)
    small = _of(seeds).mark_point(size=18, filled=False, color=SOFT, opacity=0.9).encode(x=x, y=y)
    figures = _of([{"label": one.label, "value": one.value} for one in known])
    marked = figures.mark_point(size=60, color=ACCENT).encode(x=x, y=y)
    drawn = alt.layer(rules, small, marked) if seeds else alt.layer(rules, marked)
    return drawn.properties(width=width, height=max(60, row * len(order)))


def labels_axis(names: Sequence[str], *, room: int | None = None, shown: bool = True) -> alt.Axis:
    """The axis of the names, with this width in pixels; by default, the width of the longest name.

    Vega measures names in another font than the browser draws them in, so long ones would be cut.
    """
    needed = _PIXELS_OF_A_LETTER * max(map(len, names))
    extent = needed if room is None else room
    return alt.Axis(domain=False, ticks=False, labelPadding=8, labelLimit=0, minExtent=extent, labels=shown)


def _of(values: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=values))
