"""Charts: Altair specifications with one theme, drawn to SVG on the server, light and dark alike.

A chart never travels without its n, a caption that states the finding, and its table.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.core.cache import cache
from django.utils.safestring import SafeString, mark_safe

from curation.files.heavy import alt, vl_convert
from curation.files.tables import csv_lines
from curation.models import mark_shown
from curation.pairs.judged_by import with_mark

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
CSV_FILE = "data:text/csv;charset=utf-8,"
KEPT_SECONDS = 24 * 3600
NARROW = 320  # pixels that a chart has on a telephone
# What XML does not know, and the separators of lines and paragraphs.
_UNDRAWABLE = re.compile("[^\t\n\r\x20-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IN_TITLE = {ord("\n"): " ", ord("\r"): " ", ord("\\"): "\N{REVERSE SOLIDUS OPERATOR}"}
LABEL, SMALLEST_LABEL = 12, 10  # pixels, as drawn and as seen on a telephone


@dataclass(frozen=True)
class Chart:
    """What `components/_chart.html` shows.

    mark: that of simulated annotators, "" of people.
    narrow_label: how large labels must be drawn to be read where the chart shrinks to a telephone's width.
    width, height: in pixels, as drawn.
    """

    name: str
    svg: SafeString
    svg_file: str
    csv_file: str
    csv_safe: str  # for a spreadsheet; "" where the other is
    finding: str
    n: int
    unit: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    mark: str
    narrow_label: float
    width: int
    height: int


def chart_draw(
    specification: alt.TopLevelMixin | dict[str, Any],
    *,
    name: str,
    finding: str,
    n: int,
    unit: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    judges: str = "",
) -> Chart:
    """Draw an Altair chart. `n` counts the things behind it, in `unit`s; `columns` and `rows` are its table.

    judges: who judged the scores that it shows or rests on. Where a program is among them, the chart carries the mark:
    in its picture, its caption and its table.
    """
    mark = mark_shown(judges)
    columns, rows = with_mark(columns, rows, judges)
    rows = [list(row) for row in rows]
    plain = themed = _svg(specification, mark)
    for colour, custom_property in PROPERTIES.items():
        themed = themed.replace(colour, custom_property)
    table, safe = ("".join(csv_lines([columns, *rows], spreadsheet=each)) for each in (False, True))
    size = re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', plain)
    width, height = (float(size[1]), float(size[2])) if size else (NARROW, 0)
    return Chart(
        name=name,
        svg=mark_safe(themed),  # noqa: S308 - made by the renderer, which escapes every label
        svg_file="data:image/svg+xml," + quote(plain),
        csv_file=CSV_FILE + quote(table),
        csv_safe=CSV_FILE + quote(safe) if safe != table else "",
        finding=finding,
        n=n,
        unit=unit,
        columns=columns,
        rows=rows,
        mark=mark,
        narrow_label=round(max(LABEL, SMALLEST_LABEL * width / NARROW), 1),
        width=round(width),
        height=round(height),
    )


def _svg(specification: alt.TopLevelMixin | dict[str, Any], mark: str) -> str:
    given = specification if isinstance(specification, dict) else specification.to_dict()
    description: dict[str, Any] = {**given}
    if mark:
        words = {"anchor": "start", "color": DOUBTFUL, "fontSize": LABEL, "fontWeight": "normal"}
        description["title"] = {"text": mark, **words}
    about = {
        "labelColor": SOFT,
        "titleColor": SOFT,
        "labelFontSize": LABEL,
        "titleFontSize": LABEL,
        "titleFontWeight": "normal",
    }
    description["config"] = {
        "background": "transparent",
        "font": "sans-serif",
        "view": {"stroke": None},
        # Room for labels that grow: see NARROW.
        "axis": {**about, "titlePadding": 10, "gridColor": LINE, "domainColor": LINE, "tickColor": LINE},
        "legend": about,
        "header": about,
        "text": {"color": INK, "fontSize": 12},
        "bar": {"color": ACCENT},
        "line": {"color": ACCENT, "strokeWidth": 2},
        "point": {"color": ACCENT, "filled": True},
        "area": {"color": ACCENT, "opacity": 0.18},
        "rule": {"color": SOFT},
        "range": {"category": CATEGORIES},
    }
    key = "chart:" + hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()
    return str(
        cache.get_or_set(key, lambda: str(vl_convert.vegalite_to_svg(_drawable(description))), KEPT_SECONDS)
    )


def _drawable(part: Any, name: str = "") -> Any:
    """The part of a description that has this name, without what no picture can hold.

    The renderer ends the whole process at a character that XML does not know, and writes titles into expressions, where
    a line break or a backslash is a mistake.
    """
    if isinstance(part, dict):
        return {each: _drawable(value, each) for each, value in part.items()}
    if isinstance(part, list):
        return [_drawable(each, name) for each in part]
    if not isinstance(part, str):
        return part
    text = _UNDRAWABLE.sub("\N{REPLACEMENT CHARACTER}", part)
    return text.translate(_IN_TITLE) if name == "title" else text
