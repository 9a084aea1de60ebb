"""Charts of runs: their curves while they go, and what a comparison found."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.charts import ACCENT, SOFT, Chart, chart_draw
from mlworkers.registry.comparison import Cell, Comparison

SERIES = ("seed", "fold")  # numbers that say which training a point belongs to
MOST_STEPS = 150  # drawn; more would not be seen, and each look at the page draws anew
Point = Mapping[str, Any]


def curve_charts(points: Sequence[Point]) -> list[Chart]:
    """One chart for each figure that the run noted along its way; a line for each thing that it names."""
    names = dict.fromkeys(
        name for point in points for name, value in point.items() if _is_figure(name, value)
    )
    return [chart for name in names if (chart := _curve(name, points))]


def _is_figure(name: str, value: object) -> bool:
    return name not in ("step", *SERIES) and isinstance(value, int | float) and not isinstance(value, bool)


def _curve(name: str, points: Sequence[Point]) -> Chart | None:
    """Of a step the last line holds: a run that was taken up again wrote some anew."""
    lines: dict[str, dict[int, float]] = {}
    for point in points:
        if name in point and isinstance(point.get("step"), int):
            lines.setdefault(_line(point), {})[point["step"]] = float(point[name])
    rows = [
        (line, step, value)
        for line, values in lines.items()
        for step, value in _thinned(sorted(values.items()))
    ]
    if len(rows) < 2:
        return None
    steps = max(step for _name, step, _value in rows)
    return chart_draw(
        _drawn(name, rows, several=len(lines) > 1),
        name=f"curve-{name}",
        finding=_course(name, lines),
        n=steps,
        unit=ngettext("step", "steps", steps),
        columns=[_("line"), _("step"), name],
        rows=rows,
    )


def _line(point: Point) -> str:
    """Which training the point belongs to: its texts, such as a comparison's encoder, and its seed or fold."""
    texts = [value for value in point.values() if isinstance(value, str)]
    return ", ".join([*texts, *(f"{name} {point[name]:g}" for name in SERIES if name in point)])


def _thinned(values: list[tuple[int, float]]) -> list[tuple[int, float]]:
    each = -(-len(values) // MOST_STEPS)
    return [*values[:-1:each], values[-1]]


def _course(name: str, lines: Mapping[str, Mapping[int, float]]) -> str:
    if len(lines) > 1:
        ends = [values[max(values)] for values in lines.values()]
        words = {"name": _named(name), "n": len(lines), "low": f"{min(ends):.4g}", "high": f"{max(ends):.4g}"}
        return _("%(name)s of %(n)s trainings, at the end %(low)s to %(high)s.") % words
    (values,) = lines.values()
    first, last = values[min(values)], values[max(values)]
    words = {"name": _named(name), "first": f"{first:.4g}", "last": f"{last:.4g}"}
    if last == first:
        return _("%(name)s stays at %(last)s.") % words
    return (
        _("%(name)s rose from %(first)s to %(last)s.") % words
        if last > first
        else _("%(name)s fell from %(first)s to %(last)s.") % words
    )


def _named(name: str) -> str:
    words = name.replace("_", " ")
    return words[0].upper() + words[1:]


def _drawn(name: str, rows: Sequence[tuple[str, int, float]], *, several: bool) -> alt.TopLevelMixin:
    values = [dict(zip(("line", "step", "value"), row, strict=True)) for row in rows]
    lines = (
        alt.Chart(alt.InlineData(values=values))
        .mark_line()
        .encode(
            x=alt.X("step:Q", title=_("step"), axis=alt.Axis(tickCount=5, grid=False)),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4)),
        )
        .properties(width=360, height=160)
    )
    colour = alt.Color("line:N", title=None, legend=alt.Legend(orient="bottom", columns=3))
    drawn: alt.TopLevelMixin = lines.encode(color=colour) if several else lines
    return drawn


def comparison_chart(comparison: Comparison) -> Chart | None:
    """Each encoder's correlation on the first test with its interval, and a small dot for each seed; None where all are
    undefined.
    """
    cells = [(label, cell) for label, cell in comparison.cells() if cell.mean is not None]
    if not cells:
        return None
    seeds = len(comparison.seeds)
    unit = ngettext("test pairs, %(seeds)s seed", "test pairs, %(seeds)s seeds", seeds) % {"seeds": seeds}
    return chart_draw(
        _dots(cells),
        name="comparison",
        finding=_best_and_worst(cells),
        n=comparison.pairs,
        unit=unit,
        columns=[_("encoder"), _("Spearman"), _("from"), _("to")],
        rows=[
            (label, *(_figure(value) for value in (cell.mean, cell.low, cell.high))) for label, cell in cells
        ],
    )


def _best_and_worst(cells: Sequence[tuple[str, Cell]]) -> str:
    by_mean = sorted(cells, key=lambda one: one[1].mean or 0.0)
    (lowest, low), (highest, high) = by_mean[0], by_mean[-1]
    words = {
        "highest": highest,
        "high": _figure(high.mean, 3),
        "lowest": lowest,
        "low": _figure(low.mean, 3),
    }
    return _("Highest is %(highest)s with %(high)s, lowest %(lowest)s with %(low)s.") % words


def _figure(value: float | None, digits: int = 4) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _dots(cells: Sequence[tuple[str, Cell]]) -> alt.TopLevelMixin:
    order = [label for label, _cell in cells]
    place = alt.Y("label:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False, labelPadding=8))
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
        y=place,
    )
    small = seeds.mark_point(size=18, filled=False, color=SOFT, opacity=0.9).encode(x="seed:Q", y=place)
    dots = means.mark_point(size=80, color=ACCENT).encode(x="mean:Q", y=place)
    drawn: alt.TopLevelMixin = alt.layer(intervals, small, dots)
    return drawn.properties(width=360, height=max(60, 32 * len(order)))


def _of(values: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=values))
