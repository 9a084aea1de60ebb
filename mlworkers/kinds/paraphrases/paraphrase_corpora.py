"""Labelled pairs side by side: heatmaps of several datasets, or of parts of one, shaded alike (ConPGS, figure 1)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from django.core.cache import cache
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.charts import KEPT_SECONDS, Chart, chart_draw
from curation.datasets.agreement import scores_of_both
from curation.datasets.selectors import score_sets_of
from curation.models import Dataset, Pair, ScoreSet
from curation.pairs.judged_by import judged_by_all
from curation.results.estimates import Estimate
from mlworkers.kinds.paraphrases.heatmaps import heatmap, heatmap_columns, percent_of, squares_filled
from mlworkers.kinds.paraphrases.paraphrases import bounds_of, in_percent
from mlworkers.science.paraphrasing.estimates import mean_of_groups, share_of_groups
from mlworkers.science.paraphrasing.profile import Profile, profile_of
from mlworkers.science.paraphrasing.tags import Label, TagBounds

WHOLE = "whole"
DIVIDED_BY = {
    WHOLE: gettext_lazy("nothing"),
    "origin": gettext_lazy("origin: imported, sampled or generated"),
    "subset": gettext_lazy("subset"),
    "source": gettext_lazy("source"),
    "split": gettext_lazy("split"),
}
MOST_SHOWN = 12  # heatmaps of a page
MOST_CHOSEN = 8  # labelled datasets of a page
CSV_COLUMNS = ("dataset", "labels", "part", "similarity", "bleu", "pairs", "percent")


class LabelledDataset(NamedTuple):
    """The two score sets of a run that labelled pairs of a dataset."""

    dataset: Dataset
    similarity: ScoreSet
    bleu: ScoreSet

    @property
    def name(self) -> str:
        return _("%(dataset)s, labels of run %(run)s") % {
            "dataset": self.dataset.name,
            "run": self.similarity.run_ref,
        }


@dataclass(frozen=True)
class Part:
    """Pairs of a dataset that have both labels. inside: the share of them in a cell of the tags, with its interval over
    first sentences; so have the means.
    """

    name: str
    profile: Profile
    inside: Estimate
    similarity: Estimate
    bleu: Estimate


@dataclass(frozen=True)
class PartShown:
    labelled: LabelledDataset
    part: Part
    bounds: TagBounds

    @property
    def label(self) -> str:
        return f"{self.labelled.dataset.name}: {self.part.name}" if self.part.name else self.labelled.name


def labelled_datasets(among: QuerySet[Dataset]) -> list[LabelledDataset]:
    """Every pair of labels of these datasets, by the dataset's name, the newest labels of each first."""
    found: dict[tuple[int, int], dict[str, ScoreSet]] = {}
    sets = ScoreSet.objects.offered().filter(
        dataset__in=among, parameters__label__in=list(Label), run_ref__isnull=False
    )
    for one in sets.select_related("dataset").order_by("dataset__name", "-run_ref", "pk"):
        found.setdefault((one.dataset_id, one.run_ref or 0), {})[one.parameters["label"]] = one
    return [
        LabelledDataset(both[Label.SIMILARITY].dataset, both[Label.SIMILARITY], both[Label.BLEU])
        for both in found.values()
        if len(both) == len(Label)
    ]


def parts_shown(chosen: Sequence[LabelledDataset], by: str) -> list[PartShown]:
    """Of each dataset its parts, the largest first; kept until a score set changes."""
    shown = []
    for labelled in chosen:
        rows = {row.score_set.pk: row for row in score_sets_of(labelled.dataset)}
        both = [rows[one.pk] for one in (labelled.similarity, labelled.bleu)]
        key = f"paraphrase-parts:{by}:{both[0].state}:{both[1].state}"
        parts: list[Part] | None = cache.get(key)
        if parts is None:
            parts = _parts_counted(labelled, by)
            cache.set(key, parts, KEPT_SECONDS)
        bounds = bounds_of(labelled.similarity, labelled.bleu)
        shown += [PartShown(labelled, part, bounds) for part in parts]
    return shown


def _parts_counted(labelled: LabelledDataset, by: str) -> list[Part]:
    pairs, first, second = scores_of_both(labelled.similarity, labelled.bleu)
    similarity, bleu = in_percent(first, labelled.similarity), in_percent(second, labelled.bleu)
    columns = ["pk", "a_id"] if by == WHOLE else ["pk", "a_id", by]
    facts = {
        number: rest
        for number, *rest in Pair.objects.filter(dataset=labelled.dataset, status=Pair.Status.ACTIVE)
        .order_by()
        .values_list(*columns)
        .iterator(chunk_size=5_000)
    }
    known = np.array(
        [pair in facts for pair in pairs.tolist()], dtype=bool
    )  # one may be retired in the meantime
    pairs, similarity, bleu = pairs[known], similarity[known], bleu[known]
    names = np.array(["" if by == WHOLE else str(facts[pair][1] or _("none")) for pair in pairs.tolist()])
    sources = np.array([facts[pair][0] for pair in pairs.tolist()], dtype=np.int64)
    bounds = bounds_of(labelled.similarity, labelled.bleu)
    parts = []
    for name in sorted(set(names.tolist())):
        own = names == name
        groups = np.unique(sources[own], return_inverse=True)[1].astype(np.int64)
        rows, cells = bounds.bins(similarity[own], bleu[own])
        parts.append(
            Part(
                name,
                profile_of(similarity[own], bleu[own], bounds),
                share_of_groups((rows >= 0) & (cells >= 0), groups),
                mean_of_groups(similarity[own], groups),
                mean_of_groups(bleu[own], groups),
            )
        )
    return sorted(parts, key=lambda part: -part.profile.pairs)


def parts_charts(parts: Sequence[PartShown]) -> list[Chart]:
    """A heatmap for each part, all shaded alike."""
    drawn = [(one, squares_filled(one.part.profile)) for one in parts]
    most = max((square.percent for _one, squares in drawn for square in squares), default=0.0)
    return [
        chart_draw(
            heatmap(squares, one.bounds, similarity=_("similarity"), bleu=_("BLEU"), most=most),
            name=f"paraphrases-{number}",
            finding=_("%(part)s: %(share).1f %% in a cell")
            % {"part": one.label, "share": 100 * (one.part.inside.value or 0.0)},
            n=one.part.profile.pairs,
            unit=_("pairs"),
            columns=heatmap_columns(),
            rows=squares,
            judges=judged_by_all([one.labelled.similarity.judged_by, one.labelled.bleu.judged_by]),
        )
        for number, (one, squares) in enumerate(drawn, 1)
    ]


def csv_rows(parts: Sequence[PartShown]) -> Iterator[list[object]]:
    """A line for each part and cell of tags, under CSV_COLUMNS."""
    for one in parts:
        counts = one.part.profile.tagged.tolist()
        for similarity, row in zip(one.bounds.similarity, counts, strict=True):
            for lexical, pairs in zip(one.bounds.lexical, row, strict=True):
                labelled = one.labelled
                yield [
                    labelled.dataset.slug, f"run {labelled.similarity.run_ref}", one.part.name, similarity.name,
                    lexical.name, pairs, percent_of(pairs, one.part.profile.pairs),
                ]  # fmt: skip
