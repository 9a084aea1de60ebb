"""The chart of a score set: how many pairs lie where on its scale, by source."""

from itertools import pairwise

from django.core.cache import cache
from django.utils.translation import gettext as _

from curation.charts import KEPT_SECONDS, Chart, chart_draw
from curation.datasets.selectors import ScoreSetRow, score_histogram
from curation.files.heavy import alt
from curation.models import ScoreSet
from curation.statistics.histograms import Histogram

# Tenths of the scale: common scores such as 2.25 and 2.4 fall evenly into them, and into finer bins do not.
HISTOGRAM_BINS = 10
SOURCES_SHOWN = 4


def scores_chart(row: ScoreSetRow | None) -> Chart | None:
    """The histogram of the scores shown, kept until they change."""
    if row is None or not row.count:
        return None
    score_set = row.score_set
    key = f"histogram:{row.state}"
    histogram = cache.get(key) or score_histogram(score_set, bins=HISTOGRAM_BINS, most=SOURCES_SHOWN)
    cache.set(key, histogram, KEPT_SECONDS)
    return histogram_chart(score_set, histogram)


def histogram_chart(score_set: ScoreSet, histogram: Histogram) -> Chart:
    """How many pairs lie where on the scale, the sources stacked, the largest at the bottom."""
    rows = [
        (source or _("no source"), low, high, count)
        for source, counts in histogram.counts.items()
        for (low, high), count in zip(pairwise(histogram.edges), counts, strict=True)
    ]
    places = {source or _("no source"): place for place, source in enumerate(histogram.counts)}
    values = [
        dict(zip(("source", "low", "high", "pairs"), row, strict=True)) | {"place": places[row[0]]}
        for row in rows
    ]
    bars = (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar()
        .encode(
            x=alt.X("low:Q", bin="binned", title=score_set.name, axis=alt.Axis(tickCount=5)),
            x2="high:Q",
            y=alt.Y("pairs:Q", stack=True, title=_("pairs"), axis=alt.Axis(tickCount=4)),
            order=alt.Order("place:Q"),
        )
        .properties(width=360, height=220)
    )
    if len(places) > 1:
        legend = alt.Legend(
            title=None, orient="top", columns=2, labelLimit=160, columnPadding=16, symbolType="square"
        )
        bars = bars.encode(color=alt.Color("source:N", sort=list(places), legend=legend))

    totals = [sum(counts) for counts in zip(*histogram.counts.values(), strict=True)]
    words = {}
    for name, bin_number in (("most", totals.index(max(totals))), ("least", totals.index(min(totals)))):
        low, high = histogram.edges[bin_number : bin_number + 2]
        words[name] = f"{low:g}–{high:g}"
        words[f"{name}_share"] = f"{totals[bin_number] / histogram.n:.0%}"
    return chart_draw(
        bars,
        name="scores",
        finding=_("Most scores lie in %(most)s (%(most_share)s), fewest in %(least)s (%(least_share)s).")
        % words,
        n=histogram.n,
        unit=_("pairs"),
        columns=[_("source"), _("from"), _("to"), _("pairs")],
        rows=rows,
        judges=score_set.judged_by,
    )
