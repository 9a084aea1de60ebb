"""Charts: Altair specifications with one theme, drawn to SVG on the server, light and dark alike.

A chart never travels without its n, a caption that states the finding, and its table.
"""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import altair as alt
import vl_convert
from django.core.cache import cache
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from curation.models import ScoreSet
from curation.pairs.statistics import Histogram

# Drawn in the light theme's colours; on a page each becomes the custom property that changes with the theme.
INK, SOFT, LINE, SURFACE = "#1e2227", "#595f67", "#dedad1", "#ffffff"
ACCENT, GOOD, DOUBTFUL, WRONG = "#1d5b86", "#2a6a3b", "#7d5200", "#a12d28"
PROPERTIES = {
    INK: "var(--ink)",
    SOFT: "var(--soft)",
    LINE: "var(--line)",
    SURFACE: "var(--surface)",
    ACCENT: "var(--accent)",
    GOOD: "var(--good)",
    DOUBTFUL: "var(--doubtful)",
    WRONG: "var(--wrong)",
}
CATEGORIES = [ACCENT, DOUBTFUL, GOOD, WRONG, SOFT]
KEPT_SECONDS = 24 * 3600
NARROW = 320  # pixels that a chart has on a telephone
LABEL, SMALLEST_LABEL = 12, 10  # pixels, as drawn and as seen on a telephone


@dataclass(frozen=True)
class Chart:
    """What `components/_chart.html` shows.

    narrow_label: how large labels must be drawn to be read where the chart shrinks to a telephone's width.
    """

    name: str
    svg: SafeString
    svg_file: str
    csv_file: str
    finding: str
    n: int
    unit: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    narrow_label: float


def chart_draw(
    specification: alt.TopLevelMixin,
    *,
    name: str,
    finding: str,
    n: int,
    unit: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
) -> Chart:
    """Draw an Altair chart. `n` counts the things behind it, in `unit`s; `columns` and `rows` are its table."""
    rows = [list(row) for row in rows]
    plain = _svg(specification)
    return Chart(
        name=name,
        svg=mark_safe(_themed(plain)),  # noqa: S308 - made by the renderer, which escapes every label
        svg_file="data:image/svg+xml," + quote(plain),
        csv_file="data:text/csv;charset=utf-8," + quote(_csv(columns, rows)),
        finding=finding,
        n=n,
        unit=unit,
        columns=columns,
        rows=rows,
        narrow_label=round(max(LABEL, SMALLEST_LABEL * _width(plain) / NARROW), 1),
    )


def _width(svg: str) -> float:
    found = re.search(r'viewBox="0 0 ([0-9.]+) ', svg)
    return float(found[1]) if found else NARROW


def score_chart(score_set: ScoreSet, histogram: Histogram) -> Chart:
    """How many pairs lie where on the scale, a row of bars for each source."""
    rows = [
        (source or _("no source"), low, high, count)
        for source, counts in histogram.counts.items()
        for (low, high), count in zip(pairwise(histogram.edges), counts, strict=True)
    ]
    values = [dict(zip(("source", "low", "high", "pairs"), row, strict=True)) for row in rows]
    bars = (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar()
        .encode(
            x=alt.X("low:Q", bin="binned", title=score_set.name, axis=alt.Axis(tickCount=5)),
            x2="high:Q",
            y=alt.Y("pairs:Q", title=_("pairs"), axis=alt.Axis(tickCount=3)),
        )
        .properties(width=360, height=max(36, 180 // len(histogram.counts)))
    )
    return chart_draw(
        _by_source(bars, [source or _("no source") for source in histogram.counts]),
        name="scores",
        finding=_fullest_and_emptiest(histogram),
        n=histogram.n,
        unit=_("pairs"),
        columns=[_("source"), _("from"), _("to"), _("pairs")],
        rows=rows,
    )


def _by_source(bars: alt.Chart, sources: Sequence[str]) -> alt.TopLevelMixin:
    """The bars of each source under one another, in the order given; those of a single source as they are."""
    if len(sources) == 1:
        return bars
    header = alt.Header(title=None, labelOrient="top", labelAnchor="start", labelPadding=2)
    return bars.facet(row=alt.Row("source:N", sort=list(sources), header=header), spacing=8)


def _fullest_and_emptiest(histogram: Histogram) -> str:
    totals = [sum(counts) for counts in zip(*histogram.counts.values(), strict=True)]
    words = {}
    for name, place in (("most", totals.index(max(totals))), ("least", totals.index(min(totals)))):
        low, high = histogram.edges[place : place + 2]
        words[name] = f"{low:g}–{high:g}"
        words[f"{name}_share"] = f"{totals[place] / histogram.n:.0%}"
    return (
        _("The fullest tenth is %(most)s with %(most_share)s, the emptiest %(least)s with %(least_share)s.")
        % words
    )


def _svg(specification: alt.TopLevelMixin) -> str:
    description: dict[str, Any] = specification.to_dict()
    description["config"] = _theme()
    key = "chart:" + hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()
    drawn: str | None = cache.get(key)
    if drawn is None:
        drawn = str(vl_convert.vegalite_to_svg(description))
        cache.set(key, drawn, KEPT_SECONDS)
    return drawn


def _themed(svg: str) -> str:
    for colour, custom_property in PROPERTIES.items():
        svg = svg.replace(colour, custom_property)
    return svg


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _theme() -> dict[str, Any]:
    words = {
        "labelColor": SOFT,
        "titleColor": SOFT,
        "labelFontSize": LABEL,
        "titleFontSize": LABEL,
        "titleFontWeight": "normal",
    }
    return {
        "background": "transparent",
        "font": "sans-serif",
        "view": {"stroke": None},
        # Room for labels that grow: see NARROW.
        "axis": {**words, "titlePadding": 10, "gridColor": LINE, "domainColor": LINE, "tickColor": LINE},
        "legend": words,
        "header": words,
        "text": {"color": INK, "fontSize": 12},
        "bar": {"color": ACCENT},
        "line": {"color": ACCENT, "strokeWidth": 2},
        "point": {"color": ACCENT, "filled": True},
        "area": {"color": ACCENT, "opacity": 0.18},
        "rule": {"color": SOFT},
        "range": {"category": CATEGORIES},
    }
