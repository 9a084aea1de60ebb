"""Similarity from contexts beside human scores, and the contexts by which one pair is called similar."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from curation.datasets.agreement import SetsCompared, scores_of_both, sets_compared
from curation.datasets.selectors import ScoreSetRow, score_sets_of
from curation.models import Dataset, Pair, PairScore, ScoreSet
from curation.statistics.influence import Correlation, spearman_within
from curation.statistics.intervals import Interval, percentile_interval, resampled_correlations
from mlworkers.models import Run
from mlworkers.science.contexts.corpus import Context, Corpus
from mlworkers.science.contexts.scored_file import ablations_read, scored_read
from mlworkers.science.contexts.scores_plan import CENTRED, RAW
from mlworkers.science.contexts.similarity import TERMS, Weights, combined, parts_of_contexts

SHOWN = 10  # contexts that agree most, and as many that agree least
SOURCES_SHOWN = 30
_FEWEST = 3  # pairs with a correlation
_MOST_RESAMPLED = 20_000  # pairs for which the interval of a difference is computed on a page
_SEED = 42
_ORDER = {ScoreSet.Kind.HUMAN: 0, ScoreSet.Kind.REFERENCE: 1}
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Compared:
    """One similarity beside human scores. sources: of the pairs of each source, those with most pairs first."""

    row: ScoreSetRow
    with_people: SetsCompared
    sources: Sequence[tuple[str, Correlation]]


class TableRow(NamedTuple):
    name: str
    centred: Correlation
    raw: Correlation


class Ablation(NamedTuple):
    """Spearman's correlation with human scores without some terms of Eq. 3; dropped: their λ, "" for none."""

    dropped: str
    raw: Correlation
    centred: Correlation


@dataclass(frozen=True)
class ContextsCompared:
    """difference: centred minus raw, Spearman's correlation with human scores, and its interval over pairs."""

    centred: Compared
    raw: Compared
    difference: float | None
    interval: Interval | None
    ablations: Sequence[Ablation]

    @property
    def rows(self) -> list[TableRow]:
        """All pairs, those in each part of the scale of the human scores, and those of each source."""
        found = []
        one, other = self.centred.with_people.agreement, self.raw.with_people.agreement
        if one is not None and other is not None:
            found.append(TableRow(_("all"), one.spearman, other.spearman))
            found += [
                TableRow(f"{left.low:g}–{left.high:g}", left.spearman, right.spearman)
                for left, right in zip(one.bins, other.bins, strict=True)
            ]
        raw = dict(self.raw.sources)
        found += [
            TableRow(name or _("no source"), of_centred, raw.get(name, Correlation(0)))
            for name, of_centred in self.centred.sources
        ]
        return found


class ContextShown(NamedTuple):
    """A context of a pair. part: what it adds to the centred similarity. first, second: the scores of the sentences in
    it beyond those of background sentences, in nats per token. of_first, of_second: for which sentences it was found.
    One that was found for both counts twice.
    """

    document: str
    context: Context
    part: float
    first: float
    second: float
    of_first: bool
    of_second: bool


@dataclass(frozen=True)
class PairShown:
    """scores: of the pair in both score sets, the centred one first. most, least: the contexts that add most, and those
    that add least; none of both where the similarity is 1 by definition or its files are gone.
    """

    scores: Sequence[PairScore]
    contexts: int
    most: Sequence[ContextShown]
    least: Sequence[ContextShown]


def sets_of_run(run: Run) -> tuple[ScoreSetRow, ScoreSetRow] | None:
    """The centred and the raw similarity that a run published; None where it has not, or somebody removed one."""
    if run.dataset is None:
        return None
    rows = {
        row.score_set.parameters.get("label"): row
        for row in score_sets_of(run.dataset)
        if row.score_set.run_ref == run.pk and row.count
    }
    return (rows[CENTRED], rows[RAW]) if CENTRED in rows and RAW in rows else None


def rows_to_compare(dataset: Dataset, run: Run) -> list[ScoreSetRow]:
    """The dataset's other score sets: human scores first, then reference scores, then others, by name."""
    rows = [row for row in score_sets_of(dataset) if row.count and row.score_set.run_ref != run.pk]
    return sorted(rows, key=lambda row: _ORDER.get(ScoreSet.Kind(row.score_set.kind), len(_ORDER)))


def contexts_compared(
    rows: tuple[ScoreSetRow, ScoreSetRow], people: ScoreSetRow, *, folder: Path | None
) -> ContextsCompared:
    """Both similarities of a run beside other scores. folder: of its files; None where they are gone."""
    compared = []
    for row in rows:
        pairs, theirs, own = scores_of_both(people.score_set, row.score_set)
        sources = dict(Pair.objects.filter(scores__score_set=row.score_set).values_list("pk", "source"))
        of_pairs = np.array([sources.get(pair, "") for pair in pairs.tolist()])
        names, counts = np.unique(of_pairs, return_counts=True)
        by_source = []
        for place in np.argsort(-counts, kind="stable")[:SOURCES_SHOWN].tolist():
            chosen = of_pairs == names[place]
            by_source.append((str(names[place]), _correlation(theirs[chosen], own[chosen])))
        compared.append(Compared(row, sets_compared(people, row), by_source))
    centred, raw = compared
    ablations = []
    if folder is not None:
        numbers, without = ablations_read(folder)
        scores = dict(people.score_set.scores.filter(pair_id__in=numbers).values_list("pair_id", "value"))
        for dropped, columns in without.items():
            correlations = []
            for name in ("raw", "centred"):
                known = [
                    (scores[number], value)
                    for number, value in zip(numbers, columns[name], strict=True)
                    if number in scores and value is not None
                ]
                table = np.array(known, dtype=np.float64).reshape(-1, 2)
                correlations.append(_correlation(table[:, 0], table[:, 1]))
            ablations.append(Ablation(dropped, *correlations))
    difference, interval = _difference(people.score_set, *(row.score_set for row in rows))
    return ContextsCompared(centred, raw, difference, interval, ablations)


def _correlation(first: Numbers, second: Numbers) -> Correlation:
    return spearman_within(first, second) if first.size >= _FEWEST else Correlation(int(first.size))


def _difference(people: ScoreSet, centred: ScoreSet, raw: ScoreSet) -> tuple[float | None, Interval | None]:
    """Over resamples of the pairs that have all three scores."""
    pairs, theirs, own = scores_of_both(people, centred)
    others, _theirs, other = scores_of_both(people, raw)
    both, in_first, in_second = np.intersect1d(pairs, others, return_indices=True)
    if not _FEWEST <= both.size <= _MOST_RESAMPLED:
        return None, None
    theirs, own, other = theirs[in_first], own[in_first], other[in_second]
    one, two = (_correlation(theirs, side).value for side in (own, other))
    if one is None or two is None:
        return None, None
    drawn = [resampled_correlations(theirs, side, seed=_SEED, resamples=1000) for side in (own, other)]
    return one - two, percentile_interval(drawn[0] - drawn[1])


def pairs_ranked(centred: ScoreSet) -> QuerySet[PairScore]:
    """The scored pairs that are active, the most similar first."""
    found = centred.scores.filter(pair__status=Pair.Status.ACTIVE).select_related("pair__a", "pair__b")
    return found.order_by("-value", "pair")


def pair_shown(run: Run, pair: Pair, *, folder: Path | None, corpus: Path | None) -> PairShown:
    """A pair that the run scored. folder, corpus: of the run's files and of its corpus; None where they are gone."""
    sets = {
        each.parameters.get("label"): each
        for each in ScoreSet.objects.filter(run_ref=run.pk, dataset=pair.dataset)
    }
    scores = [
        score
        for label in (CENTRED, RAW)
        if label in sets
        for score in sets[label].scores.filter(pair=pair).select_related("score_set")
    ]
    found = scored_read(folder, pair.pk) if folder is not None else None
    if found is None or not found.places or (corpus is None and not found.texts):
        return PairShown(scores, len(found.places) if found else 0, [], [])
    weights = Weights(**{name: float(run.result["weights"][name]) for name in TERMS})
    first, second, mean = (
        combined(terms, weights) for terms in (found.first, found.second, found.background)
    )
    parts = parts_of_contexts(first, second, mean)
    if parts is None:
        return PairShown(scores, len(found.places), [], [])
    text = Corpus(corpus) if corpus is not None else None
    left, right = int(run.plan["left"]), int(run.plan["right"])
    same: dict[int | str, list[int]] = {}
    for number, place in enumerate(found.places):
        same.setdefault(place if text is not None else found.texts[number], []).append(number)

    def shown(numbers: Sequence[int]) -> ContextShown:
        one, of_second = numbers[0], {found.of_second[number] for number in numbers}
        place = found.places[one]
        return ContextShown(
            "" if text is None else text.document_of(place),
            Context((), (found.texts[one],)) if text is None else text.context(place, left, right),
            float(parts[list(numbers)].sum()),
            float(first[one] - mean[one]),
            float(second[one] - mean[one]),
            False in of_second,
            True in of_second,
        )

    order = sorted(same.values(), key=lambda numbers: -parts[numbers].sum())
    half = min(SHOWN, (len(order) + 1) // 2)
    least = order[: half - 1 : -1][:SHOWN]
    return PairShown(scores, len(found.places), list(map(shown, order[:half])), list(map(shown, least)))
