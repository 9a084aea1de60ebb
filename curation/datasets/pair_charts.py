"""Charts of a dataset's pairs: how scores go with the overlap of words, and how long the sentences are.

Both are drawn from some pairs at random, whose number each chart says: texts are read for them.
"""

from collections import Counter
from typing import Any

import numpy as np
from django.core.cache import cache
from django.db.models import Count, Max, QuerySet
from django.utils.translation import gettext as _

from curation.charts import KEPT_SECONDS, Chart, chart_draw
from curation.datasets.selectors import ScoreSetRow
from curation.files.heavy import alt
from curation.models import Dataset, Pair, PairScore, ScoreSet
from curation.pairs.overlap import dice
from curation.pairs.sample_order import random_order
from curation.pairs.segmenting import word_count
from curation.statistics.influence import spearman_within

DRAWN = 5_000
LONGEST = 40  # words; longer sentences are counted together
_GRID = 10
_SEED = 21


def overlap_chart(row: ScoreSetRow | None) -> Chart | None:
    """Scores by word overlap, as in figure 2 of the STR paper; None where no active pair has a score."""
    if row is None or not row.count:
        return None
    key = f"overlap:{row.state}"
    points: list[tuple[float, float]] | None = cache.get(key)
    if points is None:
        # Dice of the two sentences and the score, of some pairs.
        scores = PairScore.objects.filter(score_set=row.score_set, pair__status=Pair.Status.ACTIVE)
        chosen = scores.filter(pair__in=_some(scores.values_list("pair_id", flat=True)))
        rows = chosen.order_by("pair").values_list("pair__a__text", "pair__b__text", "value")
        points = [(dice(one, other), value) for one, other, value in rows]

        cache.set(key, points, KEPT_SECONDS)
    return _overlap_drawn(row.score_set, points) if points else None


def lengths_chart(dataset: Dataset) -> Chart | None:
    """How many words the sentences have; None where there is no active pair."""
    pairs = Pair.objects.filter(dataset=dataset, status=Pair.Status.ACTIVE)
    state = pairs.aggregate(count=Count("pk"), newest=Max("pk"))
    key = f"lengths:{dataset.pk}:{state['count']}:{state['newest']}"
    lengths: dict[int, int] | None = cache.get(key)
    if lengths is None:
        chosen = Pair.objects.filter(pk__in=_some(pairs.values_list("pk", flat=True))).order_by("pk")
        texts = chosen.values_list("a__text", "b__text")
        lengths = dict(Counter(min(word_count(text), LONGEST) for both in texts for text in both))
        cache.set(key, lengths, KEPT_SECONDS)
    if lengths:
        rows = [(length, lengths.get(length, 0)) for length in range(max(lengths) + 1)]
        total = sum(lengths.values())
        below = np.cumsum([n for _length, n in rows])
        median = int(np.searchsorted(below, total / 2))
        usual = sum(n for length, n in rows if 5 <= length <= 25) / total
        bars = (
            alt.Chart(alt.InlineData(values=[{"from": k - 0.5, "to": k + 0.5, "n": n} for k, n in rows]))
            .mark_bar()
            .encode(
                x=alt.X("from:Q", bin="binned", title=_("words in a sentence (last: %d or more)") % LONGEST),
                x2="to:Q",
                y=alt.Y("n:Q", title=_("sentences"), axis=alt.Axis(tickCount=4)),
            )
            .properties(width=360, height=220)
        )
        finding = _("The median sentence has %(median)d words; %(share)s have 5 to 25.")
        return chart_draw(
            bars,
            name="lengths",
            finding=finding % {"median": median, "share": f"{usual:.0%}"},
            n=total,
            unit=_("sentences of pairs"),
            columns=[_("words"), _("sentences")],
            rows=rows,
        )
    return None


def _some(numbers: QuerySet[Any, int]) -> list[int]:
    """So many of the numbers at random, always the same ones."""
    all_numbers = np.fromiter(numbers.order_by().iterator(chunk_size=2_000), dtype=np.int64)
    return random_order(all_numbers, most=DRAWN, seed=_SEED)


def _overlap_drawn(score_set: ScoreSet, points: list[tuple[float, float]]) -> Chart:
    overlaps, values = np.array(points).T
    width = (score_set.high - score_set.low) / _GRID
    across = np.minimum(np.floor(overlaps * _GRID + 1e-9), _GRID - 1)
    up = np.minimum(np.floor((values - score_set.low) / width + 1e-9), _GRID - 1)
    cells = Counter(zip(across.tolist(), up.tolist(), strict=True))
    rows = [
        (
            column / _GRID,
            (column + 1) / _GRID,
            score_set.low + line * width,
            score_set.low + (line + 1) * width,
            n,
        )
        for (column, line), n in sorted(cells.items())
    ]
    data = [{"overlap": (a + b) / 2, "score": (c + d) / 2, "pairs": n} for a, b, c, d, n in rows]
    circles = (
        alt.Chart(alt.InlineData(values=data))
        .mark_circle(opacity=0.75)
        .encode(
            x=alt.X("overlap:Q", title=_("word overlap (Dice)"), scale=alt.Scale(domain=[0, 1])),
            y=alt.Y(
                "score:Q",
                title=score_set.name,
                scale=alt.Scale(domain=[score_set.low, score_set.high]),
                axis=alt.Axis(tickCount=5),
            ),
            size=alt.Size("pairs:Q", legend=None, scale=alt.Scale(range=[4, 420])),
        )
        .properties(width=360, height=220)
    )
    found = spearman_within(overlaps, values)
    finding = _("Word overlap goes with “%(name)s”: Spearman %(value).2f (%(low).2f to %(high).2f).")
    if found.value is None:
        finding = _("Word overlap and “%(name)s” have no correlation that can be computed.")
    elif found.low is not None and found.high is not None and found.low <= 0 <= found.high:
        finding = _(
            "Word overlap says nothing sure about “%(name)s”: Spearman %(value).2f (%(low).2f to %(high).2f)."
        )
    elif found.value < 0:
        finding = _("More word overlap, lower “%(name)s”: Spearman %(value).2f (%(low).2f to %(high).2f).")
    words = {"name": str(score_set), "value": found.value, "low": found.low, "high": found.high}
    return chart_draw(
        circles,
        name="overlap",
        finding=finding % words,
        n=len(points),
        unit=_("pairs"),
        columns=[_("Dice from"), _("Dice to"), _("score from"), _("score to"), _("pairs")],
        rows=rows,
        judges=score_set.judged_by,
    )
