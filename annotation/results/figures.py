"""Scores and reliability of a campaign, computed once for each state of it."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.core.cache import cache
from django.core.paginator import Page, Paginator
from django.db.models import Max

from annotation.bws.judgements import FloatArray, IntArray
from annotation.bws.reliability.split_half import (
    TooFewJudgements,
    reliability_interval,
    split_half_reliability,
)
from annotation.bws.scores.distinction import tie_groups
from annotation.bws.scores.scoring import counting_scores
from annotation.bws.studies.study import reliability_figures
from annotation.models import Campaign, Judgement, JudgementRevision
from annotation.results.record import CampaignJudgements, campaign_judgements
from annotation.results.selectors import ROWS_PER_PAGE
from curation.models import Pair

KEPT_SECONDS = 24 * 60 * 60
LIVE_TRIALS = 200  # two decimals; what is published takes a thousand
Computed = TypeVar("Computed")


def campaign_mark(campaign: Campaign) -> str:
    """A mark of the campaign's state. Three queries.

    What counts follows from which judgements came, which were taken back and who is excluded (`settling`), so
    whatever is computed of it stays true as long as these do.
    """
    of_campaign = {"participation__campaign": campaign}
    arrived = Judgement.objects.filter(**of_campaign).aggregate(last=Max("pk"))["last"]
    revised = JudgementRevision.objects.filter(**of_campaign).aggregate(last=Max("pk"))["last"]
    excluded = campaign.participations.filter(excluded=True).order_by("pk").values_list("pk", flat=True)
    return hashlib.sha256(f"{arrived} {revised} {list(excluded)}".encode()).hexdigest()


def kept(campaign: Campaign, what: str, mark: str, compute: Callable[[], Computed]) -> Computed:
    """What was computed for this state of the campaign, computed now where it was not."""
    cached: tuple[str, Computed] | None = last_kept(campaign, what)
    if cached is not None and cached[0] == mark:
        return cached[1]
    computed = compute()
    cache.set(f"annotation-{what}-{campaign.pk}", (mark, computed), KEPT_SECONDS)
    return computed


def last_kept(campaign: Campaign, what: str) -> tuple[str, Any] | None:
    """What was computed last, with the mark of the state that it was computed for."""
    cached: tuple[str, Any] | None = cache.get(f"annotation-{what}-{campaign.pk}")
    return cached


@dataclass(frozen=True)
class LiveReliability:
    """Split-half reliability so far; low and high bound a 95 % interval from resampled tuples."""

    spearman: float
    low: float
    high: float
    spearman_brown: float
    trials: int
    judgements: int


@dataclass(frozen=True)
class LiveFigures:
    """median_seconds: as of `CampaignJudgements`. note: says why there is no reliability yet, else empty."""

    median_seconds: Mapping[int, float]
    reliability: LiveReliability | None
    note: str = ""


def live_figures(campaign: Campaign, mark: str) -> LiveFigures:
    """Reliability and median times of all judgements now."""
    return kept(campaign, "live", mark, lambda: _live_figures(campaign_judgements(campaign)))


def _live_figures(judged: CampaignJudgements) -> LiveFigures:
    judgements = judged.as_asked(judged.feeding("reliability")).judgements
    seconds = judged.median_seconds()
    try:
        halves = split_half_reliability(judgements, trials=LIVE_TRIALS)
    except TooFewJudgements as error:
        return LiveFigures(seconds, None, str(error))
    interval = reliability_interval(judgements, halves.spearman_mean)
    return LiveFigures(seconds, LiveReliability(**reliability_figures(halves, interval)))


@dataclass(frozen=True, eq=False)
class CampaignScores:
    """Counting scores in 0..1 of the pairs (m,) that were judged, in order of the pairs' primary keys."""

    pairs: IntArray
    values: FloatArray
    standard_errors: FloatArray
    appearances: IntArray
    best: IntArray
    worst: IntArray


def _scores(judged: CampaignJudgements) -> CampaignScores:
    """Pairs that no collected judgement has seen have no score, and are left out."""
    asked = judged.as_asked(judged.feeding("counting"))
    scores = counting_scores(asked.judgements)
    seen = scores.appearances > 0
    return CampaignScores(
        pairs=asked.pairs[seen],
        values=scores.values[seen],
        standard_errors=scores.standard_errors[seen],
        appearances=scores.appearances[seen],
        best=scores.best[seen],
        worst=scores.worst[seen],
    )


def scores_now(campaign: Campaign) -> CampaignScores:
    """The counting scores of the judgements that count at this moment."""
    return _scores_at(campaign, campaign_mark(campaign))


def _scores_at(campaign: Campaign, mark: str) -> CampaignScores:
    return kept(campaign, "scores", mark, lambda: _scores(campaign_judgements(campaign)))


@dataclass(frozen=True)
class ScoreRow:
    """rank: from 1, the best. first, last: the ranks of the pairs that share a tie group with it
    (`bws.scores.distinction`).

    apart: whether no pair shown above shares a tie group with this one or any below.
    """

    pair: Pair
    rank: int
    first: int
    last: int
    apart: bool
    score: float
    standard_error: float
    appearances: int
    best: int
    worst: int


@dataclass(frozen=True)
class ScorePage:
    """page: of ranks, from 0. distinguishable: the share of all pairs of scores whose difference differs from 0 at
    95 %; None for fewer than two scores.
    """

    rows: list[ScoreRow]
    page: Page[int]
    distinguishable: float | None


def score_page(campaign: Campaign, *, page: int = 1, lowest_first: bool = False) -> ScorePage:
    """One page of the campaign's counting scores as they stand; of equal ones the surest first, or last."""
    mark = campaign_mark(campaign)
    scores = _scores_at(campaign, mark)
    groups = kept(campaign, "groups", mark, lambda: tie_groups(scores.values, scores.standard_errors))
    ranks = range(len(groups.order))[:: -1 if lowest_first else 1]
    shown = Paginator(ranks, ROWS_PER_PAGE).get_page(page)
    pairs = Pair.objects.select_related("a", "b").in_bulk(scores.pairs[groups.order[list(shown)]].tolist())
    first, last = groups.memberships
    rows = []
    for rank in shown:
        item = int(groups.order[rank])
        low, high = int(groups.starts[first[rank]]), int(groups.ends[last[rank]])
        row = ScoreRow(
            pair=pairs[int(scores.pairs[item])],
            rank=rank + 1,
            first=low + 1,
            last=high + 1,
            apart=rank == (high if lowest_first else low),
            score=float(scores.values[item]),
            standard_error=float(scores.standard_errors[item]),
            appearances=int(scores.appearances[item]),
            best=int(scores.best[item]),
            worst=int(scores.worst[item]),
        )
        rows.append(row)
    return ScorePage(rows, shown, groups.distinguishable if len(ranks) > 1 else None)
