"""Heatmaps of similarity and BLEU: the percent of pairs in each square of 5 × 5, and outlined cells of tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from django.utils.translation import gettext as _

from curation.charts import ACCENT, INK, SOFT
from curation.files.heavy import alt
from mlworkers.science.paraphrasing.profile import STEP, Profile
from mlworkers.science.paraphrasing.tags import TOP, Tag, TagBounds

_SIZE = 360  # pixels of a side
_PALEST = 0.08  # opacity of a square with hardly a pair: it must differ from an empty one


class Square(NamedTuple):
    """Its edges on both scales, how many pairs it holds, and of how many hundred."""

    low: int
    high: int
    left: int
    right: int
    pairs: int
    percent: float


def heatmap_columns() -> list[str]:
    """Of the table of a heatmap's squares."""
    return [_("similarity above"), _("to"), _("BLEU above"), _("to"), _("pairs"), _("percent")]


def percent_of(pairs: int, of: int) -> float:
    return round(100 * pairs / max(of, 1), 3)


def squares_of(counted: Iterable[tuple[int, int, int]], of: int) -> list[Square]:
    """counted: row and column of each filled square of `Profile.full`, and its pairs. of: all pairs."""
    return [
        Square(row * STEP, (row + 1) * STEP, column * STEP, (column + 1) * STEP, pairs, percent_of(pairs, of))
        for row, column, pairs in counted
    ]


def squares_filled(profile: Profile) -> list[Square]:
    places = np.argwhere(profile.full).tolist()
    return squares_of(
        ((row, column, int(profile.full[row, column])) for row, column in places), profile.pairs
    )


def heatmap(
    squares: Sequence[Square],
    bounds: TagBounds,
    *,
    similarity: str,
    bleu: str,
    most: float = 0.0,
    marked: Sequence[tuple[Tag, Tag]] = (),
) -> alt.TopLevelMixin:
    """similarity, bleu: titles of the axes. most: the percent of the darkest shade; 0 for that of the fullest square.
    Heatmaps beside each other must have the same. marked: cells with a strong outline; without any, all together.
    """
    most = most or max((square.percent for square in squares), default=1.0)
    values = [square._asdict() for square in squares]
    scale = alt.Scale(domain=[0, TOP])
    axis = alt.Axis(values=list(range(0, TOP + 1, 20)), grid=False)
    x, y = (
        alt.X("left:Q", title=bleu, scale=scale, axis=axis),
        alt.Y("low:Q", title=similarity, scale=scale, axis=axis),
    )
    shade = alt.Opacity(
        "percent:Q",
        scale=alt.Scale(domain=[0, most], range=[_PALEST, 1]),
        legend=alt.Legend(
            title=_("percent of pairs"), orient="bottom", symbolType="square", symbolFillColor=ACCENT,
            symbolStrokeWidth=0, values=[most / 4, most / 2, most], format=".2~r",
        ),
    )  # fmt: skip
    filled = (
        alt.Chart(alt.InlineData(values=values))
        .mark_rect(color=ACCENT)
        .encode(x=x, x2="right:Q", y=y, y2="high:Q", opacity=shade)
    )
    cells = [_corners(sim, lexical) for sim in bounds.similarity for lexical in bounds.lexical]
    whole = [_corners(Tag("", bounds.sim_above, TOP), Tag("", 0, bounds.bleu_most))]
    strong = [_corners(*cell) for cell in marked] or whole
    outlines = [
        alt.Chart(alt.InlineData(values=corners))
        .mark_rect(filled=False, stroke=colour, strokeWidth=width, aria=False)
        .encode(x=x, x2="right:Q", y=y, y2="high:Q")
        for corners, colour, width in ((cells, SOFT, 0.5), (strong, INK, 1.5))
    ]
    drawn: alt.TopLevelMixin = alt.layer(filled, *outlines).properties(width=_SIZE, height=_SIZE)
    return drawn


def _corners(similarity: Tag, bleu: Tag) -> dict[str, int]:
    return {"low": similarity.low, "high": similarity.high, "left": bleu.low, "right": bleu.high}
