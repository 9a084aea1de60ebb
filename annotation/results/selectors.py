"""Rows of what was judged: judgements, gold tuples, phases. `figures` has what is computed."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.cards import Card, cards_by_tuple, cards_of
from annotation.models import Campaign, Judgement, Lease, Participation, Tuple
from curation.models import ScoreSet, User

ROWS_PER_PAGE = 50


def score_sets_of(campaign: Campaign) -> QuerySet[ScoreSet]:
    """The score sets that the campaign published, newest first."""
    return ScoreSet.objects.filter(dataset=campaign.dataset_id, campaign_ref=campaign.pk).order_by("-pk")


@dataclass(frozen=True)
class JudgementRow:
    judgement: Judgement
    cards: list[Card]


@dataclass(frozen=True)
class JudgementPage:
    rows: list[JudgementRow]
    page: Page[Judgement]


def judgements_of(user: User, *, page: int = 1) -> JudgementPage:
    """What the person judged, newest first."""
    return _judgement_page(Judgement.objects.filter(participation__user=user), page)


def judgements_in(
    campaign: Campaign, *, participation: Participation | None = None, tuple_number: int = 0, page: int = 1
) -> JudgementPage:
    """The judgements behind a campaign's figures, or one person's, or of a tuple of the design; newest first.

    With a tuple come the answers to its repeats.
    """
    judgements = Judgement.objects.filter(participation__campaign=campaign)
    if tuple_number:
        judgements = judgements.filter(tuple__number=tuple_number, tuple__is_gold=False)
    return _judgement_page(
        judgements.filter(participation=participation) if participation else judgements, page
    )


def _judgement_page(judgements: QuerySet[Judgement], number: int) -> JudgementPage:
    selected = judgements.select_related("tuple__campaign", "participation__user").order_by("-pk")
    page = Paginator(selected, ROWS_PER_PAGE).get_page(number)
    cards = cards_of(page.object_list)
    return JudgementPage([JudgementRow(row, cards[row.pk]) for row in page.object_list], page)


@dataclass(frozen=True)
class GoldRow:
    """A gold tuple with its answer, and how often people gave it."""

    tuple: Tuple
    cards: list[Card]
    best_slot: int
    worst_slot: int
    why: str
    shown: int
    asked: int
    best_right: int
    worst_right: int


def golds_of(campaign: Campaign) -> list[GoldRow]:
    """The campaign's gold tuples. Two queries."""
    golds: list[Any] = list(
        campaign.tuples.filter(is_gold=True)
        .select_related("gold_answer")
        .annotate(
            shown=_number_of(Lease),
            asked=_number_of(Judgement),
            best_right=_number_of(Judgement, best_slot=OuterRef("gold_answer__best_slot")),
            worst_right=_number_of(Judgement, worst_slot=OuterRef("gold_answer__worst_slot")),
        )
        .order_by("number")
    )
    cards = cards_by_tuple(gold.pk for gold in golds)
    return [
        GoldRow(
            tuple=gold,
            cards=cards[gold.pk],
            best_slot=gold.gold_answer.best_slot,
            worst_slot=gold.gold_answer.worst_slot,
            why=gold.gold_answer.why,
            shown=gold.shown,
            asked=gold.asked,
            best_right=gold.best_right,
            worst_right=gold.worst_right,
        )
        for gold in golds
    ]


def _number_of(model: type[Lease] | type[Judgement], **conditions: Any) -> Coalesce:
    rows = model._default_manager.filter(tuple=OuterRef("pk"), **conditions).order_by().values("tuple")
    return Coalesce(Subquery(rows.annotate(number=Count("pk")).values("number")), 0)


@dataclass(frozen=True)
class PhaseSums:
    """Of one phase: its tuples, the judgements that are required, and those that are collected."""

    tuples: int = 0
    required: int = 0
    collected: int = 0

    @property
    def share(self) -> float:
        return self.collected / self.required if self.required else 0.0


def phase_sums(campaign: Campaign) -> dict[str, PhaseSums]:
    """How far each phase of the campaign is. One query."""
    tuples = campaign.tuples.for_scores().order_by().values("phase")
    rows = tuples.annotate(number=Count("pk"), requires=Sum("required"), collects=Sum("collected"))
    found = {row["phase"]: PhaseSums(row["number"], row["requires"], row["collects"]) for row in rows}
    return {phase: found.get(phase, PhaseSums()) for phase in Tuple.Phase.values}
