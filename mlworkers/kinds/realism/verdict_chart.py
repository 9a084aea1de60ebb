"""How often reviewers keep sentences of which p_D, as a chart."""

from typing import Any

from django.utils.translation import gettext as _

from curation.charts import ACCENT, SOFT, Chart, chart_draw
from curation.files.heavy import alt
from mlworkers.kinds.realism.verdicts import FrameReport


def kept_chart(report: FrameReport) -> Chart | None:
    """The share kept in each bin of p_D with its interval; None for fewer than two bins, which show no trend."""
    bins = report.bins
    if len(bins) < 2:
        return None
    values: list[dict[str, Any]] = [
        {"from": one.low, "to": one.high, "p_d": one.mean_p_d, "share": one.share.value, "low": one.share.low,
         "high": one.share.high}
        for one in bins
    ]  # fmt: skip
    base = alt.Chart(alt.InlineData(values=values))
    share, axis = alt.Scale(domain=[0, 1]), alt.Axis(tickCount=5, format=".0%")
    x = alt.X("p_d:Q", title=_("mean p_D of the sentences"), scale=alt.Scale(zero=False, nice=True))
    reach = base.mark_rule(color=SOFT).encode(
        x=x, y=alt.Y("low:Q", scale=share, axis=axis, title=_("kept by reviewers")), y2="high:Q"
    )
    dots = base.mark_point(size=70, filled=True, color=ACCENT).encode(
        x=x, y=alt.Y("share:Q", scale=share, axis=axis)
    )
    first, last = bins[0], bins[-1]
    finding = _(
        "Reviewers keep %(low)s of the sentences with the lowest p_D and %(high)s of those with the highest."
    )
    return chart_draw(
        alt.layer(reach, dots).properties(width=420, height=220),
        name="kept",
        finding=finding % {"low": f"{first.share.value:.0%}", "high": f"{last.share.value:.0%}"},
        n=report.sample.n,
        unit=_("verdicts"),
        columns=[_("p_D"), _("kept"), _("share"), _("from"), _("to")],
        rows=[
            [f"{one.low:.2f}–{one.high:.2f}", f"{one.kept} / {one.n}", *(f"{figure:.2f}" for figure in one.share)]
            for one in bins
        ],
    )  # fmt: skip
