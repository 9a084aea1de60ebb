"""A cross-validation as charts: the methods under each protocol beside each other, and the methods on each source."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.charts import ACCENT, DOUBTFUL, GOOD, INK, SOFT
from curation.files.heavy import alt
from curation.results.estimates import Estimate
from curation.results.reports import Chart
from mlworkers.kinds.encoders.cross_validation import (
    CrossValidation,
    SourceRow,
    what_the_folds_show,
)

MOST_SOURCES = 6  # that are drawn, the largest; the table has all
_COLOURS, _SHAPES = (ACCENT, DOUBTFUL, GOOD), ("circle", "square", "diamond")  # of the protocols
_WIDTH, _STEP = 300, 25
# As wide as a letter becomes where the chart shrinks to a telephone's width and its labels grow against that.
_PIXELS_OF_A_LETTER = 9
_BELOW, _LETTERS = (
    " · ",
    30,
)  # where the heading of a source goes on in the next line, and how long its name may be
_BREAK = ", "  # where the name of a method goes on in the next line
_NUMBERS = ("value", "low", "high")


def protocols_chart(found: CrossValidation, *, judges: str) -> Chart | None:
    """A row for each method, in it a dot and an interval for each protocol, hollow where it is over unseen pairs alone,
    and the human ceiling as a line.
    """
    values = [
        {"method": label, "protocol": column, **_numbers(mean)}
        for label, means in found.labelled_rows
        for column, mean in means
        if mean.value is not None
    ]
    if not values:
        return None
    columns = found.columns
    protocols = [column.label for column in columns]
    offset = alt.YOffset("protocol:N", sort=protocols, scale=alt.Scale(paddingOuter=0.6))
    places = [found.protocols.index(column.table) for column in columns]
    of_protocols = [_COLOURS[place] for place in places]
    filled = [
        colour if column.all_pairs else "transparent"
        for colour, column in zip(of_protocols, columns, strict=True)
    ]
    colours = alt.Scale(domain=protocols, range=of_protocols)
    fills = alt.Scale(domain=protocols, range=filled)
    shapes = alt.Scale(domain=protocols, range=[_SHAPES[place] for place in places])
    looks: dict[str, Any] = {"yOffset": offset, "color": alt.Color("protocol:N", scale=colours, legend=None)}
    base = _of(values).encode(y=_methods(values), **looks)
    dots = base.mark_point(size=55, opacity=1).encode(
        x=_spearman(),
        fill=alt.Fill("protocol:N", scale=fills, legend=None),
        stroke=alt.Stroke("protocol:N", scale=colours, legend=None),
        shape=alt.Shape("protocol:N", scale=shapes, legend=None),
    )
    # The protocols are named beside the dots of the method that stands first.
    first = _of([one for one in values if one["method"] == values[0]["method"]]).encode(
        y=_methods(values), **looks
    )
    right = first.transform_calculate(right="isValid(datum.high) ? datum.high : datum.value")
    names = right.mark_text(align="left", dx=8).encode(x=_spearman("right"), text="protocol:N")
    height = (_STEP * len(protocols) + 10) * len({one["method"] for one in values})
    ceiling = _numbers(found.ceiling)
    marked = (
        [{"method": _("human ceiling"), "protocol": "", **ceiling}] if found.ceiling.value is not None else []
    )
    drawn = alt.layer(*_ceiling(marked), _interval(base), dots, names)
    drawn = drawn.properties(width=_WIDTH, height=height, padding=_room_for_names(values, ceiling, protocols))
    return Chart(
        drawing=drawn.to_dict(),
        name="cross-validation",
        finding=what_the_folds_show(found),
        n=found.pairs,
        unit=_unit(found),
        columns=[_("method"), _("protocol"), _("Spearman, mean over folds"), _("from"), _("to")],
        rows=[[one[name] for name in ("method", "protocol", *_NUMBERS)] for one in [*values, *marked]],
        judges=judges,
    )


def sources_chart(found: CrossValidation, *, judges: str) -> Chart | None:
    """Of each of the largest sources with a figure, a row for each method; None where there are no two to compare."""
    with_figures = [
        source for source in found.sources if any(one.value is not None for _label, one in source.labelled)
    ]
    sources = with_figures[:MOST_SOURCES]
    values = [
        {"source": _described(source), "method": label, **_numbers(one)}
        for source in sources
        for label, one in source.labelled
        if one.value is not None
    ]
    if len(sources) < 2:
        return None
    base = alt.Chart().encode(y=_methods(values))
    dots = base.mark_point(size=45, filled=True, color=ACCENT).encode(x=_spearman())
    layers = alt.layer(
        _interval(base.encode(color=alt.value(SOFT))), dots, data=alt.InlineData(values=values)
    )
    methods = {str(one["method"]) for one in values}
    # The height of a method of one source, in pixels: names may have two lines.
    row = 36 if any(_BREAK in one.removeprefix(_("model, ")) for one in methods) else 23
    panel = layers.properties(width=_WIDTH, height=row * len(methods))
    header = alt.Header(
        labelAnchor="start",
        labelColor=INK,
        labelExpr=f"split(datum.label, '{_BELOW}')",
        labelLimit=0,
        labelOrient="top",
        title=None,
    )
    order = [_described(source) for source in sources]
    return Chart(
        drawing=panel.facet(row=alt.Row("source:N", sort=order, header=header), spacing=14).to_dict(),
        name="cross-validation-sources",
        finding=_what_the_sources_show(with_figures),
        n=sum(source.pairs for source in sources),
        unit=_unit(found),
        columns=[_("source"), _("method"), _("Spearman"), _("from"), _("to")],
        rows=[[one[name] for name in ("source", "method", *_NUMBERS)] for one in values],
        judges=judges,
    )


def _room_for_names(
    values: Sequence[dict[str, Any]], ceiling: Mapping[str, Any], protocols: Sequence[str]
) -> dict[str, float]:
    """Padding in pixels: the renderer measures names in a narrower font than browsers have."""
    ends = [one[name] for one in [*values, ceiling] for name in _NUMBERS if one[name] is not None]
    first = [one for one in values if one["method"] == values[0]["method"]]
    start = max(one["value"] if one["high"] is None else one["high"] for one in first)
    share = (start - min(ends)) / ((max(ends) - min(ends)) or 1.0)
    beyond = (share - 1) * _WIDTH + _PIXELS_OF_A_LETTER * max(map(len, protocols))
    return {"left": 5, "top": 5, "bottom": 5, "right": max(40.0, beyond)}


def _what_the_sources_show(sources: Sequence[SourceRow]) -> str:
    """Where the scores vary least and most: a narrow range lowers every correlation."""
    ordered = sorted(sources, key=lambda source: source.deviation)
    words = {
        "narrow": ordered[0].label,
        "least": f"{ordered[0].deviation:.2f}",
        "wide": ordered[-1].label,
        "most": f"{ordered[-1].deviation:.2f}",
    }
    sentence = _(
        "Compare the methods within a source. The scores vary least in %(narrow)s (sd %(least)s) and most in %(wide)s "
        "(%(most)s)."
    )
    drawn = _("The %(drawn)s largest of %(all)s sources are drawn.")
    all_sources = len(sources)
    rest = [drawn % {"drawn": MOST_SOURCES, "all": all_sources}] if all_sources > MOST_SOURCES else []
    return " ".join([sentence % words, *rest])


def _described(source: SourceRow) -> str:
    name = textwrap.shorten(source.label, _LETTERS, placeholder="…")[:_LETTERS]
    words = {"source": name, "pairs": intcomma(source.pairs), "sd": f"{source.deviation:.2f}"}
    return _("%(source)s · %(pairs)s pairs, sd %(sd)s") % words


def _unit(found: CrossValidation) -> str:
    """What is counted, and what the intervals are over."""
    trained = ngettext("%(n)s training", "%(n)s trainings", len(found.trainings)) % {
        "n": len(found.trainings)
    }
    if not found.trainings:
        return _("pairs; 95 % intervals over pairs")
    if found.several_seeds:
        return _(
            "pairs, %(trained)s; 95 %% intervals over pairs, and over seeds where something was trained"
        ) % {"trained": trained}
    return _("pairs, %(trained)s; 95 %% intervals over pairs, without the noise of training") % {
        "trained": trained
    }


def _numbers(one: Estimate) -> dict[str, float | None]:
    return {"value": one.value, "low": one.low, "high": one.high}


def _of(values: Sequence[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=list(values)))


def _spearman(field: str = "value") -> alt.X:
    axis = alt.Axis(tickCount=4, format=".2~f")
    title = _("Spearman's correlation with the scores")
    return alt.X(f"{field}:Q", title=title, scale=alt.Scale(zero=False, nice=True), axis=axis)


def _methods(values: Sequence[dict[str, Any]]) -> alt.Y:
    """In the order of the table, with room for the longest name. That they are of the model goes without saying."""
    names = list(dict.fromkeys(one["method"] for one in values))
    lines = (line for name in names for line in name.removeprefix(_("model, ")).split(_BREAK))
    room = _PIXELS_OF_A_LETTER * max(map(len, lines))
    axis = alt.Axis(
        domain=False,
        ticks=False,
        labelPadding=8,
        labelLimit=0,
        minExtent=room,
        labelExpr=f"split(replace(datum.label, '{_('model, ')}', ''), '{_BREAK}')",
        labelBaseline="middle",
    )
    return alt.Y("method:N", sort=names, title=None, axis=axis)


def _interval(base: alt.Chart) -> alt.Chart:
    drawn: alt.Chart = base.mark_rule(strokeWidth=1.5).encode(x=_spearman("low"), x2="high:Q")
    return drawn.transform_filter("isValid(datum.low)")


def _ceiling(marked: Sequence[dict[str, Any]]) -> list[alt.Chart]:
    """The ceiling as a dashed line with its name above the plot; nothing where it is unknown."""
    base = _of(marked)
    line = base.mark_rule(color=SOFT, strokeDash=[4, 3]).encode(x=_spearman())
    name = base.mark_text(color=SOFT, baseline="bottom", dy=-4).encode(
        x=_spearman(), y=alt.value(0), text="method:N"
    )
    return [line, name] if marked else []
