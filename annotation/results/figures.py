"""Scores and reliability of a campaign, computed once for each state of it."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from django.core.cache import cache
from django.core.paginator import Page, Paginator
from django.db.models import Max

from annotation.bws.judgements import IntArray
from annotation.bws.scores.distinction import Distinction, TieGroups, tie_groups
from annotation.bws.scores.scoring import Scores, counting_scores
from annotation.bws.studies.study import reliability_now
from annotation.models import Campaign, Judgement, JudgementRevision
from annotation.results.record import NumberedJudgements, campaign_judgements
from annotation.results.selectors import ROWS_PER_PAGE
from curation.models import Pair

KEPT_SECONDS = 24 * 60 * 60
FIGURES = 5  # rises when figures are added or mean something else, so that what was computed before is stale
MANY = 20_000  # judgements: above, fewer resamples tell as much, because the interval is narrow
RESAMPLES, FEWER_RESAMPLES = 200, 60
Computed = TypeVar("Computed")
# Median seconds as of `CampaignJudgements`, split-half reliability so far or None, and then why there is none yet.
Live: TypeAlias = tuple[Mapping[int, float], dict[str, Any] | None, str]


def campaign_mark(campaign: Campaign) -> str:
    """A mark of the campaign's state. Three queries.

    What counts follows from which judgements came, which were taken back and who is excluded (`settling`), so
    whatever is computed of it stays true as long as these do.
    """
    of_campaign = {"participation__campaign": campaign}
    arrived = Judgement.objects.filter(**of_campaign).aggregate(last=Max("pk"))["last"]
    revised = JudgementRevision.objects.filter(**of_campaign).aggregate(last=Max("pk"))["last"]
    excluded = campaign.participations.filter(excluded=True).order_by("pk").values_list("pk", flat=True)
    return hashlib.sha256(f"{FIGURES} {arrived} {revised} {list(excluded)}".encode()).hexdigest()


def kept(campaign: Campaign, what: str, mark: str, compute: Callable[[], Computed]) -> Computed:
    """What was computed for this state of the campaign, computed now where it was not."""
    key = f"annotation-{what}-{campaign.pk}"
    cached: tuple[str, Computed] | None = cache.get(key)
    if cached is not None and cached[0] == mark:
        return cached[1]
    computed = compute()
    cache.set(key, (mark, computed), KEPT_SECONDS)
    return computed


def live_figures(campaign: Campaign, mark: str) -> Live:
    """From all judgements now."""

    def compute() -> Live:
        judged = campaign_judgements(campaign)
        judgements = judged.as_filed(judged.feeding("reliability")).judgements  # as it will be published
        resamples = RESAMPLES if len(judged) <= MANY else FEWER_RESAMPLES
        return judged.median_seconds(), *reliability_now(judgements, resamples=resamples, seed=campaign.seed)

    return kept(campaign, "live-figures", mark, compute)


@dataclass(frozen=True, eq=False, kw_only=True)
class CampaignScores(Scores):
    """Counting scores in 0..1 of the pairs (m,) that were judged, in order of the pairs' primary keys."""

    pairs: IntArray


def scores_now(campaign: Campaign, mark: str = "") -> CampaignScores:
    """The counting scores of the judgements that count at this moment; mark: of the campaign's state, where known."""

    def compute() -> CampaignScores:
        asked = counted_judgements(campaign)
        scores = counting_scores(asked.judgements)
        # Pairs that no collected judgement has seen have no score, and are left out.
        seen = scores.appearances > 0
        columns = ("values", "standard_errors", "appearances", "best", "worst")
        return CampaignScores(
            pairs=asked.pairs[seen], **{column: getattr(scores, column)[seen] for column in columns}
        )

    return kept(campaign, "counting-scores", mark or campaign_mark(campaign), compute)


def counted_judgements(campaign: Campaign) -> NumberedJudgements:
    """The judgements that its counting scores are from; their items are the pairs in order of the primary keys."""
    judged = campaign_judgements(campaign)
    return judged.as_asked(judged.feeding("counting"))


def tie_groups_now(campaign: Campaign, mark: str, scores: CampaignScores) -> TieGroups:
    """The pairs of `scores_now` by score, and which of them are of one tie group."""
    return kept(campaign, "groups", mark, lambda: tie_groups(scores.values, scores.standard_errors))


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
    """page: of ranks, from 0. distinction: which share of the pairs of scores differ, or are equal."""

    rows: list[ScoreRow]
    page: Page[int]
    distinction: Distinction


def score_page(campaign: Campaign, *, page: int = 1, lowest_first: bool = False) -> ScorePage:
    """One page of the campaign's counting scores as they stand; of equal ones the surest first, or last."""
    mark = campaign_mark(campaign)
    scores = scores_now(campaign, mark)
    groups = tie_groups_now(campaign, mark, scores)
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
    return ScorePage(rows, shown, kept(campaign, "distinction", mark, scores.distinction))
