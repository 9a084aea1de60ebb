"""Scores and reliability of a campaign as it stands, computed once for each state of it."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from django.core.cache import cache
from django.db.models import Max

from annotation.bws.judgements import FloatArray, IntArray, Judgements
from annotation.bws.reliability.intervals import reliability_interval
from annotation.bws.reliability.split_half import Reliability, TooFewJudgements, split_half_reliability
from annotation.bws.scores.distinction import tie_groups
from annotation.bws.scores.scoring import Scores, counting_scores
from annotation.bws.studies.study import reliability_figures
from annotation.models import Campaign, Judgement, JudgementRevision, TupleItem
from annotation.results.selectors import ROWS_PER_PAGE, counted_judgements
from curation.models import Pair

KEPT_SECONDS = 24 * 60 * 60
LIVE_TRIALS = 200  # two decimals; what is published takes a thousand
Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Tally:
    """Counted judgements of a campaign, and the pairs (m,) that its item numbers stand for.

    tuples: (T, k) items of all tuples, judged or not, gold ones and repeats left out.
    """

    judgements: Judgements
    pairs: IntArray
    tuples: IntArray


def campaign_tally(campaign: Campaign, *, adaptive: bool = False) -> Tally:
    """The counted judgements as arrays; items are numbered by the pairs' primary keys. Two queries.

    Counting and reliability read tuples that were designed beforehand: whom a pair met in the adaptive phase
    depends on the answers. adaptive: those as well, for models that know whom a pair met.
    """
    items = TupleItem.objects.for_scores(campaign).order_by("tuple", "slot")
    members = np.array(list(items.values_list("tuple", "pair")), dtype=np.int64).reshape(-1, 2)
    columns = ("tuple", "best_slot", "worst_slot", "participation")
    counted = counted_judgements(campaign, adaptive=adaptive)
    rows = np.array(list(counted.values_list(*columns)), dtype=np.int64).reshape(-1, 4)
    pairs, numbers = np.unique(members[:, 1], return_inverse=True)
    tuples = numbers.reshape(-1, campaign.tuple_size)
    place = np.searchsorted(members[:: campaign.tuple_size, 0], rows[:, 0])
    judgements = Judgements.from_slots(
        tuples[place],
        rows[:, 1],
        rows[:, 2],
        item_count=len(pairs),
        annotators=np.unique(rows[:, 3], return_inverse=True)[1],
    )
    return Tally(judgements, pairs, tuples)


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


def kept(campaign: Campaign, what: str, mark: str, compute: Callable[[], Found]) -> Found:
    """What was computed for this state of the campaign, computed now where it was not."""
    key = f"annotation-{what}-{campaign.pk}"
    cached: tuple[str, Found] | None = cache.get(key)
    if cached is not None and cached[0] == mark:
        return cached[1]
    found = compute()
    cache.set(key, (mark, found), KEPT_SECONDS)
    return found


@dataclass(frozen=True)
class LiveReliability:
    """Split-half reliability so far; low and high bound a 95 % interval from resampled tuples."""

    spearman: float
    low: float
    high: float
    spearman_brown: float
    trials: int
    judgements: int


def live_reliability(campaign: Campaign, mark: str) -> LiveReliability | str:
    """The reliability now, or the sentence that says why there is none yet."""
    return kept(campaign, "reliability", mark, lambda: _live_reliability(campaign_tally(campaign).judgements))


def _live_reliability(judgements: Judgements) -> LiveReliability | str:
    try:
        found = split_half_reliability(judgements, trials=LIVE_TRIALS)
    except TooFewJudgements as error:
        return str(error)
    return LiveReliability(
        **reliability_figures(found, reliability_interval(judgements, found.spearman_mean))
    )


@dataclass(frozen=True, eq=False)
class CampaignScores:
    """Counting scores in 0..1 of the pairs (m,) that were judged, in order of the pairs' primary keys."""

    pairs: IntArray
    values: FloatArray
    standard_errors: FloatArray
    appearances: IntArray
    best: IntArray
    worst: IntArray


def counting_scores_of(tally: Tally) -> CampaignScores:
    """Pairs that no counted judgement has seen have no score, and are left out."""
    scores: Scores = counting_scores(tally.judgements)
    seen = scores.appearances > 0
    return CampaignScores(
        pairs=tally.pairs[seen],
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
    return kept(campaign, "scores", mark, lambda: counting_scores_of(campaign_tally(campaign)))


@dataclass(frozen=True)
class ScoreRow:
    """place: from 1, the best. first, last: the places of pairs that share a group with it (`bws.distinction`).

    apart: whether no pair shown above shares a group with this one or any below.
    """

    pair: Pair
    place: int
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
    """told_apart: the share of all pairs of scores that differ by more than their errors explain; None for none."""

    rows: list[ScoreRow]
    number: int
    pages: int
    total: int
    told_apart: float | None


def score_page(campaign: Campaign, *, page: int = 1, lowest_first: bool = False) -> ScorePage:
    """One page of the campaign's counting scores as they stand; of equal ones the surest first, or last."""
    mark = campaign_mark(campaign)
    scores = _scores_at(campaign, mark)
    groups = kept(campaign, "groups", mark, lambda: tie_groups(scores.values, scores.standard_errors))
    places = np.arange(len(groups.order))[:: -1 if lowest_first else 1]
    pages = max(1, -(-len(places) // ROWS_PER_PAGE))
    number = min(max(1, page), pages)
    chosen = places[(number - 1) * ROWS_PER_PAGE : number * ROWS_PER_PAGE]
    shown = [int(pair) for pair in scores.pairs[groups.order[chosen]]]
    pairs = Pair.objects.select_related("a", "b").in_bulk(shown)
    first, last = groups.memberships
    nearest = zip(
        chosen.tolist(),
        groups.starts[first[chosen]].tolist(),
        groups.ends[last[chosen]].tolist(),
        strict=True,
    )
    rows = [
        _score_row(
            scores,
            int(groups.order[place]),
            pairs[pair],
            places=(place, low, high),
            apart=place == (high if lowest_first else low),
        )
        for pair, (place, low, high) in zip(shown, nearest, strict=True)
    ]
    told_apart = groups.distinguishable if len(places) > 1 else None
    return ScorePage(rows=rows, number=number, pages=pages, total=len(places), told_apart=told_apart)


def _score_row(
    scores: CampaignScores, item: int, pair: Pair, *, places: tuple[int, int, int], apart: bool
) -> ScoreRow:
    place, first, last = places
    return ScoreRow(
        pair=pair,
        place=place + 1,
        first=first + 1,
        last=last + 1,
        apart=apart,
        score=float(scores.values[item]),
        standard_error=float(scores.standard_errors[item]),
        appearances=int(scores.appearances[item]),
        best=int(scores.best[item]),
        worst=int(scores.worst[item]),
    )


def full_reliability(judgements: Judgements, *, seed: int) -> Reliability | None:
    """The reliability to publish, of a thousand halvings; None where there is too little for one."""
    try:
        return split_half_reliability(judgements, seed=seed)
    except TooFewJudgements:
        return None
