"""How a dataset's pairs spread over two score sets, similarity in meaning and in wording, and which cells they fill."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.cache import cache
from django.utils.translation import gettext as _

from curation.charts import KEPT_SECONDS, Chart, chart_draw
from curation.datasets.agreement import scores_of_both
from curation.datasets.selectors import ScoreSetRow, score_sets_of
from curation.models import Dataset, ScoreSet
from curation.pairs.judged_by import judged_by_all
from mlworkers.kinds.paraphrases.heatmaps import heatmap, heatmap_columns, percent_of, squares_filled
from mlworkers.science.paraphrasing.profile import Profile, profile_of
from mlworkers.science.paraphrasing.tags import TOP, Label, Reals, Tag, TagBounds

CSV_COLUMNS = ("similarity", "bleu", "pairs", "percent")
_DIGITS = 6  # of a score after the point, as labels have


@dataclass(frozen=True)
class ProfileShown:
    """A profile and the bounds of the tags by which it is counted."""

    profile: Profile
    bounds: TagBounds

    @property
    def share_inside(self) -> float:
        return self.profile.inside / max(self.profile.pairs, 1)

    @property
    def columns(self) -> Sequence[Tag]:
        return self.bounds.similarity

    @property
    def rows(self) -> list[tuple[Tag, list[tuple[Tag, int]]]]:
        """Of each tag of BLEU, the number of pairs with each tag of similarity."""
        counts = self.profile.tagged.T.tolist()
        return [
            (lexical, list(zip(self.bounds.similarity, row, strict=True)))
            for lexical, row in zip(self.bounds.lexical, counts, strict=True)
        ]


def rows_for_profile(dataset: Dataset, run: int = 0) -> list[ScoreSetRow]:
    """The sets that have scores: the two labels of that run first, or else of the newest run that made some, then the
    others by name.
    """
    rows = [row for row in score_sets_of(dataset) if row.count]
    labels = [row for row in rows if row.score_set.parameters.get("label") in list(Label)]
    runs = [row.score_set.run_ref or 0 for row in labels]
    shown = run if run in runs else max(runs, default=0)
    ranks = {label.value: rank for rank, label in enumerate(Label)}
    order = {
        row.score_set.pk: ranks[row.score_set.parameters["label"]]
        for row in labels
        if row.score_set.run_ref == shown
    }
    return sorted(rows, key=lambda row: order.get(row.score_set.pk, len(Label)))


def run_that_labelled(dataset: Dataset, *, written_by: int) -> int:
    """The newest run that labelled pairs which that run wrote; 0 where none did."""
    sets = ScoreSet.objects.filter(
        dataset=dataset, parameters__label__in=list(Label), scores__pair__run_ref=written_by
    )
    return sets.order_by("-run_ref").values_list("run_ref", flat=True).first() or 0


def profile_shown(similarity: ScoreSetRow, bleu: ScoreSetRow) -> ProfileShown:
    """Of the active pairs that have both scores; kept until either of the sets changes."""
    bounds = bounds_of(similarity.score_set, bleu.score_set)
    key = f"paraphrases:{similarity.state}:{bleu.state}"
    profile: Profile | None = cache.get(key)
    if profile is None:
        _pairs, first, second = scores_of_both(similarity.score_set, bleu.score_set)
        profile = profile_of(
            in_percent(first, similarity.score_set), in_percent(second, bleu.score_set), bounds
        )
        cache.set(key, profile, KEPT_SECONDS)
    return ProfileShown(profile, bounds)


def bounds_of(*score_sets: ScoreSet) -> TagBounds:
    """Those of the run that made the labels; the paper's for other scores."""
    tags = (each.parameters["tags"] for each in score_sets if "tags" in each.parameters)
    return TagBounds(**next(tags, {}))


def in_percent(values: Reals, score_set: ScoreSet) -> Reals:
    """Scores of n pairs as 0..100, (n,). Where the scale begins below 0, as a cosine's does, it counts from 0."""
    low = max(score_set.low, 0.0) if score_set.high > 0 else score_set.low
    values = TOP * (np.maximum(values, low) - low) / (score_set.high - low)
    rounded: Reals = np.round(values, _DIGITS)
    return rounded


def cells_csv_rows(shown: ProfileShown) -> Iterator[list[object]]:
    """A row for each cell of tags, under CSV_COLUMNS."""
    for lexical, row in shown.rows:
        for similarity, pairs in row:
            yield [similarity.name, lexical.name, pairs, percent_of(pairs, shown.profile.pairs)]


def profile_finding(shown: ProfileShown) -> str:
    words = {
        "inside": intcomma(shown.profile.inside),
        "pairs": intcomma(shown.profile.pairs),
        "share": f"{100 * shown.share_inside:.1f}",
        "cells": shown.bounds.cells,
    }
    sentence = _(
        "%(share)s %% of the pairs (%(inside)s of %(pairs)s) lie in one of the %(cells)s marked cells."
    )
    return sentence % words


def profile_chart(shown: ProfileShown, similarity: ScoreSet, bleu: ScoreSet) -> Chart | None:
    """The percent of pairs in each cell of 5 × 5 over the full range, the cells of tags outlined.

    None where no pair has both scores.
    """
    if not shown.profile.pairs:
        return None
    squares = squares_filled(shown.profile)
    return chart_draw(
        heatmap(squares, shown.bounds, similarity=str(similarity), bleu=str(bleu)),
        name="paraphrases",
        finding=profile_finding(shown),
        n=shown.profile.pairs,
        unit=_("pairs"),
        columns=heatmap_columns(),
        rows=squares,
        judges=judged_by_all([similarity.judged_by, bleu.judged_by]),
    )
