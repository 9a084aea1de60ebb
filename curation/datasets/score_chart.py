"""The chart of a score set: how many pairs lie where on its scale, by source."""

from itertools import pairwise

import altair as alt
from django.core.cache import cache
from django.utils.translation import gettext as _

from curation.charts import KEPT_SECONDS, Chart, chart_draw
from curation.datasets.selectors import ScoreSetRow, score_histogram
from curation.models import ScoreSet
from curation.statistics.histograms import Histogram

# Tenths of the scale: common scores such as 2.25 and 2.4 fall evenly into them, and into finer bins do not.
HISTOGRAM_BINS = 10
SOURCES_SHOWN = 4


def scores_chart(row: ScoreSetRow | None) -> Chart | None:
    """The histogram of the scores shown. Scores are added and never changed, so their number says which it is."""
    if row is None or not row.count:
        return None
    score_set = row.score_set
    key = f"histogram:{score_set.pk}:{score_set.created_at.timestamp()}:{row.count}"
    histogram = cache.get(key) or score_histogram(score_set, bins=HISTOGRAM_BINS, most=SOURCES_SHOWN)
    cache.set(key, histogram, KEPT_SECONDS)
    return histogram_chart(score_set, histogram)


def histogram_chart(score_set: ScoreSet, histogram: Histogram) -> Chart:
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
    # The bars of each source under one another, in the order given; those of a single source as they are.
    header = alt.Header(title=None, labelOrient="top", labelAnchor="start", labelPadding=2)
    sources = [source or _("no source") for source in histogram.counts]
    facets = bars.facet(row=alt.Row("source:N", sort=sources, header=header), spacing=8)
    return chart_draw(
        bars if len(sources) == 1 else facets,
        name="scores",
        finding=_fullest_and_emptiest(histogram),
        n=histogram.n,
        unit=_("pairs"),
        columns=[_("source"), _("from"), _("to"), _("pairs")],
        rows=rows,
    )


def _fullest_and_emptiest(histogram: Histogram) -> str:
    totals = [sum(counts) for counts in zip(*histogram.counts.values(), strict=True)]
    words = {}
    for name, bin_number in (("most", totals.index(max(totals))), ("least", totals.index(min(totals)))):
        low, high = histogram.edges[bin_number : bin_number + 2]
        words[name] = f"{low:g}–{high:g}"
        words[f"{name}_share"] = f"{totals[bin_number] / histogram.n:.0%}"
    return _("Most scores lie in %(most)s (%(most_share)s), fewest in %(least)s (%(least_share)s).") % words
