"""How far the words of composed pairs overlap, beside those of random pairs of the same sentences."""

import numpy as np
from django.utils.translation import gettext as _

from curation.charts import INK, Chart, chart_draw
from curation.files.heavy import alt
from curation.pairs.sampling.drawing import Drawn

BARS = 20


def dice_counts(drawn: Drawn) -> list[tuple[float, float, int, float]]:
    """Of each bar: from where to where it goes, pairs of the sample, and how many as many candidates would have."""
    counts, edges = np.histogram(drawn.dice, bins=BARS, range=(0, 1))
    possible = np.histogram(drawn.candidates, bins=BARS, range=(0, 1))[0]
    expected = possible / max(1, possible.sum()) * len(drawn.dice)
    return [
        (round(float(low), 2), round(float(low) + 1 / BARS, 2), int(n), round(float(other), 1))
        for low, n, other in zip(edges, counts, expected, strict=False)
    ]


def dice_chart(drawn: Drawn, *, of_pairs: bool = False) -> Chart:
    """The Dice coefficients of a sample that has pairs, as bars; a line for the candidates, scaled to as many pairs."""
    rows = dice_counts(drawn)
    values = [
        {"from": low, "to": high, "middle": (low + high) / 2, "n": n, "random": r} for low, high, n, r in rows
    ]
    data = alt.InlineData(values=values)
    bars = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            x=alt.X("from:Q", bin="binned", title=_("word overlap (Dice)"), scale=alt.Scale(domain=[0, 1])),
            x2="to:Q",
            y=alt.Y("n:Q", title=_("pairs"), axis=alt.Axis(tickCount=4)),
        )
    )
    points = alt.Chart(data).mark_point(filled=True, size=30, color=INK).encode(x="middle:Q", y="random:Q")
    finding = (
        _(
            "The chosen pairs have a median Dice of %(own).2f; all that could be chosen have %(random).2f (points)."
        )
        if of_pairs
        else _(
            "The pairs have a median Dice of %(own).2f; random pairs of these sentences have %(random).2f (points)."
        )
    )
    medians = {"own": np.median(drawn.dice), "random": np.median(drawn.candidates)}
    return chart_draw(
        alt.layer(bars, points).properties(width=360, height=200),
        name="composed",
        finding=finding % medians,
        n=len(drawn.dice),
        unit=_("pairs"),
        columns=[
            _("Dice from"),
            _("Dice to"),
            _("pairs"),
            _("possible pairs, scaled") if of_pairs else _("random pairs, scaled"),
        ],
        rows=rows,
    )
