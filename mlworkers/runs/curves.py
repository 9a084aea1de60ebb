"""The curves of a run, drawn while it goes."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.charts import Chart, chart_draw
from curation.files.heavy import alt

SERIES = ("seed", "fold")  # numbers that say which training a point belongs to
MOST_STEPS = 150  # drawn; more would not be seen, and each look at the page draws again
WIDTH_IN_LETTERS, LETTERS_OF_A_KEY = 65, 5  # of the legend; a key is the short line before a name
Point = Mapping[str, Any]


def curve_charts(points: Sequence[Point]) -> list[Chart]:
    """One chart for each figure that the run noted along its way; a line for each thing that it names."""
    names = dict.fromkeys(
        name
        for point in points
        for name, value in point.items()
        if name not in ("step", *SERIES) and type(value) in (int, float)
    )
    return [chart for name in names if (chart := _curve(name, points))]


def _curve(name: str, points: Sequence[Point]) -> Chart | None:
    """Of a step the last line is valid: a run that was resumed wrote some steps again."""
    lines: dict[str, dict[int, float]] = {}
    for point in points:
        if name in point and isinstance(point.get("step"), int):
            # Which training the point belongs to: its texts, such as a comparison's encoder, and its seed or fold.
            texts = [value for value in point.values() if isinstance(value, str)]
            line = ", ".join([*texts, *(f"{name} {point[name]:g}" for name in SERIES if name in point)])
            lines.setdefault(line, {})[point["step"]] = float(point[name])
    rows: list[tuple[str, int, float]] = []
    for line, values in lines.items():
        course = sorted(values.items())
        each = -(-len(course) // MOST_STEPS)
        rows += [(line, *point) for point in (*course[:-1:each], course[-1])]
    if len(rows) < 2:
        return None
    steps = max(step for _name, step, _value in rows)
    shown = [dict(zip(("line", "step", "value"), row, strict=True)) for row in rows]
    drawn = (
        alt.Chart(alt.InlineData(values=shown))
        .mark_line()
        .encode(
            x=alt.X("step:Q", title=_("step"), axis=alt.Axis(tickCount=5, grid=False)),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4)),
        )
        .properties(width=360, height=160)
    )
    if len(lines) > 1:
        longest = max(map(len, lines))
        columns = max(1, min(3, WIDTH_IN_LETTERS // (longest + LETTERS_OF_A_KEY)))
        legend = alt.Legend(orient="bottom", columns=columns, labelLimit=0)
        drawn = drawn.encode(color=alt.Color("line:N", title=None, legend=legend))
    return chart_draw(
        drawn,
        name=f"curve-{name}",
        finding=_course(name, lines),
        n=steps,
        unit=ngettext("step", "steps", steps),
        columns=[_("line"), _("step"), name],
        rows=rows,
    )


def _course(name: str, lines: Mapping[str, Mapping[int, float]]) -> str:
    title = capfirst(name.replace("_", " "))
    if len(lines) > 1:
        ends = [values[max(values)] for values in lines.values()]
        words = {"name": title, "n": len(lines), "low": f"{min(ends):.4g}", "high": f"{max(ends):.4g}"}
        return _("%(name)s of %(n)s trainings, at the end %(low)s to %(high)s.") % words
    (values,) = lines.values()
    first, last = values[min(values)], values[max(values)]
    words = {"name": title, "first": f"{first:.4g}", "last": f"{last:.4g}"}
    if last == first:
        return _("%(name)s stays at %(last)s.") % words
    if last > first:
        return _("%(name)s rose from %(first)s to %(last)s.") % words
    return _("%(name)s fell from %(first)s to %(last)s.") % words
