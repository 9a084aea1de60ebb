"""Charts of a campaign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from annotation.bws.studies.methods import MethodsCompared
from curation.charts import ACCENT, CATEGORIES, DOUBTFUL, SOFT, Chart, chart_draw
from curation.files.heavy import alt


def score_chart(scores: Mapping[str, Any], *, judges: str) -> Chart:
    """How many pairs lie where between worst (0) and best (1), by counting."""
    counts = scores["counts"]
    edges = np.linspace(0, 1, len(counts) + 1).round(3).tolist()
    rows = [(low, high, count) for (low, high), count in zip(pairwise(edges), counts, strict=True)]
    bars = (
        _chart(rows, ("low", "high", "pairs"))
        .mark_bar()
        .encode(
            x=alt.X("low:Q", bin="binned", title=_("counting score"), axis=alt.Axis(tickCount=5)),
            x2="high:Q",
            y=alt.Y("pairs:Q", title=_("pairs"), axis=alt.Axis(tickCount=4, tickMinStep=1)),
        )
        .properties(width=440, height=200)
    )
    low, middle, high = scores["quartiles"]
    return chart_draw(
        bars,
        name="campaign-scores",
        # A scale that nothing fills says little about its pairs.
        finding=_("Half of the pairs score between %(low).2f and %(high).2f; the median is %(middle).2f.")
        % {"low": low, "middle": middle, "high": high},
        n=sum(counts),
        unit=_("pairs"),
        columns=[_("from"), _("to"), _("pairs")],
        rows=rows,
        judges=judges,
    )


def curve_chart(figures: Mapping[str, Any], *, judges: str) -> Chart:
    """Reliability over growing judgements with its interval, the goal, and where the goal would be reached."""
    names = ("judgements", "spearman", "low", "high")
    rows = [tuple(point[name] for name in names) for point in figures["curve"]]
    points = _chart(rows, names)
    x = alt.X("judgements:Q", title=_("judgements"), axis=alt.Axis(tickCount=5))
    lowest = min(
        figures["target"], *(row[2] for row in rows)
    )  # the part of 0..1 that the curve and its goal need
    scale = alt.Scale(domain=[max(-1.0, np.floor(10 * lowest - 0.5) / 10), 1.0], zero=False)
    y = alt.Y("spearman:Q", title=_("split-half reliability"), scale=scale)
    # The goal's line, with its name at the end, on the side where the curve is not.
    last = rows[-1]
    away = 11 if last[1] >= figures["target"] else -7
    goal = _chart(
        [(last[0], figures["target"], _("goal %(goal).2f") % {"goal": figures["target"]})], ("x", "y", "name")
    )
    layers = [
        points.mark_area(clip=True).encode(x=x, y=alt.Y("low:Q", title=None, scale=scale), y2="high:Q"),
        points.mark_line(point=True, clip=True).encode(x=x, y=y),
        *[
            goal.mark_rule(strokeDash=[4, 3]).encode(y=alt.Y("y:Q")),
            goal.mark_text(align="right", dy=away, color=SOFT).encode(
                x=alt.X("x:Q"), y=alt.Y("y:Q"), text="name:N"
            ),
        ],
    ]
    finding = _("Reliability is %(now).3f.") % {"now": last[1]}
    if len(rows) > 1:
        finding = _("Reliability went from %(first).3f at %(some)s judgements to %(now).3f.") % {
            "first": rows[0][1],
            "some": f"{rows[0][0]:,}",
            "now": last[1],
        }
    return chart_draw(
        alt.layer(*layers).properties(width=520, height=240),
        name="campaign-reliability",
        finding=finding,
        n=figures["judgements"],
        unit=_("judgements; the band is a 95 % interval from resampled annotators and tuples")
        if figures["curve"][-1].get("people")
        else _("judgements; the band is a 95 % interval from resampled tuples"),
        columns=[_("judgements"), _("Spearman"), _("low"), _("high")],
        rows=[(row[0], *(round(value, 4) for value in row[1:])) for row in rows],
        judges=judges,
    )


def per_tuple_chart(figures: Mapping[str, Any], *, judges: str) -> Chart:
    """Reliability, and agreement with the scores from all judgements by both methods, over judgements per tuple."""
    kinds = {
        "spearman_mean": _("split-half reliability"),
        "agreement_mean": _("agreement with all, counting"),
        "maxdiff_agreement_mean": _("agreement with all, MaxDiff"),
    }
    points = figures["per_tuple"]
    rows = [
        (point["judgements_per_tuple"], point["judgements"], name, point[key])
        for key, name in kinds.items()
        for point in points
        if point.get(key) is not None  # a study of before had counting alone
    ]
    lines = (
        _chart(rows, ("each", "judgements", "kind", "value"))
        .mark_line(point=True)
        .encode(
            x=alt.X("each:O", title=_("judgements per tuple"), axis=alt.Axis(labelAngle=0)),
            y=alt.Y(
                "value:Q",
                title=_("Spearman"),
                scale=alt.Scale(zero=False),
                axis=alt.Axis(tickCount=4, titlePadding=18),
            ),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=list(kinds.values()), range=CATEGORIES[:3]),
                legend=alt.Legend(orient="top", columns=1),  # side by side they overlap on a telephone
                title=None,
            ),
        )
        .properties(width=520, height=240)
    )
    return chart_draw(
        lines,
        name="campaign-per-tuple",
        finding=_fewer(points),
        n=figures["judgements"],
        unit=_("judgements; the scores from all contain the same judgements"),
        columns=[_("judgements per tuple"), _("judgements"), _("figure"), _("Spearman")],
        rows=[(*row[:3], round(row[3], 4)) for row in rows],
        judges=judges,
    )


def _fewer(points: Sequence[Mapping[str, Any]]) -> str:
    """What half of the judgements per tuple would have given."""
    half = points[(len(points) - 1) // 2]
    facts = {
        "some": half["judgements_per_tuple"],
        "counting": half["agreement_mean"],
        "maxdiff": half.get("maxdiff_agreement_mean"),
    }
    if facts["maxdiff"] is None:
        return (
            _(
                "Scores from %(some)d of the judgements of each tuple agree with the scores from all at %(counting).3f."
            )
            % facts
        )
    return (
        _(
            "Scores from %(some)d of the judgements of each tuple agree with the scores from all at %(counting).3f by "
            "counting and at %(maxdiff).3f by MaxDiff."
        )
        % facts
    )


def position_chart(positions: Mapping[str, Any], judgements: int, *, judges: str) -> Chart:
    """How often each screen position was chosen best and worst, against the share that chance gives it."""
    kinds = {"best": _("best"), "worst": _("worst")}
    rows = [
        (
            kinds[kind],
            _("position %(n)d") % {"n": position},
            count,
            round(count / max(1, sum(bias["counts"])), 4),
        )
        for kind, bias in positions.items()
        for position, count in enumerate(bias["counts"], 1)
    ]
    names = ("role", "position", "count", "share")
    bars = (
        _chart(rows, names)
        .mark_bar()
        .encode(
            x=alt.X("position:N", title=None, axis=alt.Axis(labelAngle=0)),
            xOffset="role:N",
            y=alt.Y(
                "share:Q",
                title=_("share of choices"),
                axis=alt.Axis(format="%", tickCount=4, titlePadding=18),
            ),
            color=alt.Color(
                "role:N",
                scale=alt.Scale(range=[ACCENT, DOUBTFUL]),
                legend=alt.Legend(orient="top", columnPadding=24),
                title=None,
            ),
        )
    )
    chance = _chart([(1 / max(1, len(positions["best"]["counts"])),)], ("share",))
    # The sentence that two chi-square tests support; each at half of 5 %.
    facts = {f"{kind}_chi": f"{bias['chi_square']:.1f}" for kind, bias in positions.items()}
    for kind, bias in positions.items():  # no probability is nothing
        facts[f"{kind}_p"] = "p < .001" if bias["p"] < 0.001 else f"p = {bias['p']:.3f}"
    tests = _("χ² %(best_chi)s for best (%(best_p)s), %(worst_chi)s for worst (%(worst_p)s)") % facts
    sentence = (
        _("Some screen positions are chosen more often than chance explains: %(tests)s.")
        if min(bias["p"] for bias in positions.values()) < 0.025
        else _("No screen position is chosen more often than chance explains: %(tests)s.")
    )
    return chart_draw(
        alt.layer(bars, chance.mark_rule(strokeDash=[4, 3]).encode(y="share:Q")).properties(
            width=440, height=180
        ),
        name="campaign-positions",
        finding=sentence % {"tests": tests},
        n=judgements,
        unit=_("judgements; the dashed line is chance"),
        columns=[_("role"), _("position"), _("choices"), _("share")],
        rows=rows,
        judges=judges,
    )


def methods_chart(found: MethodsCompared, *, judges: str) -> Chart:
    """Split-half reliability of both methods over the time for a pair, with intervals."""
    kinds = {"best_worst": _("Best-Worst"), "slider": _("slider")}
    rows = [
        (
            round(point.seconds, 1),
            name,
            *(round(value, 4) for value in getattr(point, kind) if value is not None),
        )
        for kind, name in kinds.items()
        for point in found.points
    ]
    names = ("seconds", "method", "spearman", "low", "high")
    points = _chart(rows, names)
    x = alt.X("seconds:Q", title=_("seconds of work per pair, in each half"), axis=alt.Axis(tickCount=5))
    scale = alt.Scale(domain=[max(-1.0, np.floor(10 * min(row[3] for row in rows)) / 10), 1.0], zero=False)
    colour = alt.Color(
        "method:N",
        scale=alt.Scale(domain=list(kinds.values()), range=[ACCENT, DOUBTFUL]),
        legend=alt.Legend(orient="top", columns=1),
        title=None,
    )
    title = _("split-half reliability")
    spans = points.mark_rule(clip=True).encode(
        x=x, y=alt.Y("low:Q", title=title, scale=scale), y2="high:Q", color=colour
    )
    lines = points.mark_line(point=True, clip=True).encode(
        x=x,
        y=alt.Y("spearman:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5, titlePadding=18)),
        color=colour,
    )
    last = found.last
    return chart_draw(
        alt.layer(spans, lines).properties(width=520, height=240),
        name="campaign-methods",
        finding=_(
            "With %(seconds).0f s per pair in each half: Best-Worst %(first).2f, rating scale %(second).2f."
        )
        % {"seconds": last.seconds, "first": last.best_worst.value, "second": last.slider.value},
        n=found.pairs,
        unit=_("pairs; vertical lines are 95 % intervals"),
        columns=[_("seconds per pair"), _("method"), _("Spearman"), _("low"), _("high")],
        rows=rows,
        judges=judges,
    )


def _chart(rows: list[tuple[Any, ...]], names: tuple[str, ...]) -> alt.Chart:
    values = [dict(zip(names, row, strict=True)) for row in rows]
    return alt.Chart(alt.InlineData(values=values))
