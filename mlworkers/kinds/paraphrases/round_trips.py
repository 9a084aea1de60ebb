"""How many candidates of a round-trip translation each setting puts into each cell of similarity and BLEU."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from django.core.cache import cache
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from curation.charts import KEPT_SECONDS, Chart, chart_draw
from curation.datasets.agreement import scores_of_both
from curation.datasets.selectors import ScoreSetRow
from curation.files.heavy import pa
from curation.models import Pair
from curation.pairs.judged_by import judged_by_all
from mlworkers.kinds.dot_chart import Dot, dots_in_rows, labels_axis
from mlworkers.kinds.paraphrases.heatmaps import percent_of
from mlworkers.kinds.paraphrases.paraphrases import bounds_of, in_percent
from mlworkers.models import Run
from mlworkers.science.paraphrasing.round_trip_plan import ROUND_TRIP
from mlworkers.science.paraphrasing.tags import Tag, TagBounds
from mlworkers.science.paraphrasing.yields import Yield, yields_of

CSV_COLUMNS = ("setting", "similarity", "bleu", "candidates", "percent", "known candidates")
Read = Callable[[Sequence[str]], "pa.Table"]
DRAWN = 32  # settings of a chart at most
_LABELS = 120  # pixels for the names of settings


@dataclass(frozen=True)
class YieldsShown:
    yields: Sequence[Yield]
    bounds: TagBounds

    @property
    def best(self) -> Yield | None:
        """The setting with the largest share in cells."""
        found = [one for one in self.yields if one.share is not None]
        return max(found, key=lambda one: one.inside / one.known, default=None)

    @property
    def unlabelled(self) -> int:
        return sum(one.unlabelled for one in self.yields)

    def named(self, setting: str) -> Yield:
        """The yield of that setting; of the best one where there is none of that name."""
        return next((one for one in self.yields if one.setting == setting), self.best or self.yields[0])

    def rows(self, one: Yield) -> list[tuple[Tag, list[tuple[Tag, int, float]]]]:
        """Of each tag of BLEU: of each tag of similarity, the number of candidates and their percent."""
        return [
            (
                lexical,
                [
                    (tag, count, percent_of(count, one.known))
                    for tag, count in zip(self.bounds.similarity, counts, strict=True)
                ],
            )
            for lexical, counts in zip(self.bounds.lexical, one.cells.T.tolist(), strict=True)
        ]


def yields_shown(run: Run, read: Read, similarity: ScoreSetRow, bleu: ScoreSetRow) -> YieldsShown:
    """By labels of the run's pairs; kept until either score set changes. read: columns of the run's candidates.

    A candidate that an earlier setting had written for the same source counts for its own setting too.
    """
    bounds = bounds_of(similarity.score_set, bleu.score_set)
    key = f"yields:{run.pk}:{similarity.state}:{bleu.state}"
    found: list[Yield] | None = cache.get(key)
    if found is None:
        table = read(["setting", "pair"])
        settings = [str(one["setting"]) for one in run.result["settings"]]
        place = {name: number for number, name in enumerate(settings)}
        names = table.column("setting").to_pylist()
        # Numbers of pairs begin at 1; 0 is not a pair.
        numbers = table.column("pair").fill_null(0).to_numpy().astype(np.int64)
        labels = _labels(run, similarity, bleu, most=int(numbers.max(initial=0)))
        places = np.array([place[name] for name in names], dtype=np.int64)
        found = yields_of(settings, places, numbers == 0, labels[:, numbers], bounds)
        cache.set(key, found, KEPT_SECONDS)
    return YieldsShown(found, bounds)


def _labels(run: Run, similarity: ScoreSetRow, bleu: ScoreSetRow, *, most: int) -> NDArray[np.float64]:
    """Both labels of the run's pairs by their numbers in its file, (2, most + 1), NaN where there is none."""
    pairs, first, second = scores_of_both(similarity.score_set, bleu.score_set)
    values = np.stack([in_percent(first, similarity.score_set), in_percent(second, bleu.score_set)])
    labels = np.full((2, most + 1), np.nan)
    own = Pair.objects.filter(run_ref=run.pk, dataset=run.dataset, origin=Pair.Origin.GENERATED).order_by()
    begin = f"g{run.pk}-"
    for name, pk in own.values_list("external_id", "pk").iterator():
        place = int(np.searchsorted(pairs, pk))
        number = int(name.removeprefix(begin))
        if place < len(pairs) and pairs[place] == pk and number <= most:
            labels[:, number] = values[:, place]
    return labels


def yields_csv_rows(shown: YieldsShown) -> Iterator[list[object]]:
    """A row for each setting and cell, under CSV_COLUMNS."""
    for one in shown.yields:
        for lexical, cells in shown.rows(one):
            for tag, count, percent in cells:
                yield [one.setting, tag.name, lexical.name, count, percent, one.known]


def yields_finding(shown: YieldsShown) -> str:
    best = shown.best
    if best is None or best.share is None:
        return _("No candidate has both labels.")
    words = {
        "setting": best.setting,
        "share": f"{100 * best.share.value:.1f}",
        "low": f"{100 * best.share.low:.1f}",
        "high": f"{100 * best.share.high:.1f}",
        "cells": shown.bounds.cells,
    }
    if len(shown.yields) == 1:
        return (
            _("%(share)s %% of the candidates (%(low)s to %(high)s) lie in one of the %(cells)s cells.")
            % words
        )
    sentence = _(
        "“%(setting)s” puts the largest share of its candidates into one of the %(cells)s cells: %(share)s %% (%(low)s "
        "to %(high)s)."
    )
    return sentence % words


def yields_chart(shown: YieldsShown, similarity: ScoreSetRow, bleu: ScoreSetRow) -> Chart | None:
    """The share of each setting's candidates in any cell, with its interval; of the largest where there are many."""
    known = [(one, one.share) for one in shown.yields if one.share is not None]
    known = sorted(known, key=lambda pair: -pair[1].value)[:DRAWN]
    if not known:
        return None
    # A setting is drawn as “k20 T3 → k30 T2”.
    ways = [one.setting.removeprefix(f"{ROUND_TRIP} ").replace(" back ", " → ") for one, _share in known]
    dots = [
        Dot(way, 100 * share.value, 100 * share.low, 100 * share.high)
        for way, (_one, share) in zip(ways, known, strict=True)
    ]
    drawn = dots_in_rows(
        dots,
        title=_("percent of candidates in a cell"),
        zero=True,
        labels=labels_axis([one.label for one in dots], room=_LABELS),
    )
    return chart_draw(
        drawn,
        name="yields",
        finding=yields_finding(shown),
        n=sum(one.known for one in shown.yields),
        unit=_("candidates"),
        columns=[_("setting"), _("percent"), _("from"), _("to"), _("candidates")],
        rows=[
            [dot.label, dot.value, dot.low, dot.high, one.known]
            for dot, (one, _share) in zip(dots, known, strict=True)
        ],
        judges=judged_by_all([similarity.score_set.judged_by, bleu.score_set.judged_by]),
    )
