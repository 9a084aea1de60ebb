"""Rows for pages and programs: campaigns, judgements, flags, gold tuples. `figures` has what is computed."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.cards import Card, cards_by_tuple, cards_of
from annotation.models import (
    Campaign,
    CampaignDesign,
    Flag,
    Judgement,
    JudgementRevision,
    Lease,
    Participation,
    Tuple,
    TupleItem,
)
from curation.models import Dataset, Pair, ScoreSet, User

ROWS_PER_PAGE = 50


def pairs_fitting(dataset: Dataset, *, source: str = "", split: str = "") -> QuerySet[Pair]:
    """The active pairs that a campaign may ask for."""
    pairs = Pair.objects.filter(dataset=dataset, status=Pair.Status.ACTIVE)
    if source:
        pairs = pairs.filter(source=source)
    return pairs.filter(split=split) if split else pairs


def pairs_active(campaign: Campaign) -> QuerySet[Pair]:
    """The pairs that stand in the campaign's tuples, gold ones left out, and are still active; by primary key."""
    asked = TupleItem.objects.for_scores(campaign)
    return Pair.objects.filter(pk__in=asked.values("pair"), status=Pair.Status.ACTIVE).order_by("pk")


def pairs_new(campaign: Campaign) -> QuerySet[Pair]:
    """The active pairs that fit the campaign's filter and are not in it; by primary key."""
    chosen = campaign.pair_filter
    fitting = pairs_fitting(campaign.dataset, source=chosen.get("source", ""), split=chosen.get("split", ""))
    asked = TupleItem.objects.for_scores(campaign).filter(pair=OuterRef("pk"))
    return fitting.filter(~Exists(asked)).order_by("pk")


def pairs_of(campaign: Campaign, *, search: str = "", page: int = 1) -> Page[Pair]:
    """Active pairs of the campaign's dataset, from which gold tuples are made."""
    pairs = pairs_fitting(campaign.dataset).select_related("a", "b").order_by("pk")
    if search:
        holds = Q(a__text__icontains=search) | Q(b__text__icontains=search) | Q(external_id__icontains=search)
        pairs = pairs.filter(holds)
    return Paginator(pairs, ROWS_PER_PAGE).get_page(page)


def design_work_of(campaign: Campaign) -> CampaignDesign | None:
    """What a worker is to design for the campaign, or has designed. One query."""
    return CampaignDesign.objects.filter(campaign=campaign).first()


def annotators_named(campaign: Campaign) -> bool:
    """Whether anybody knows who judged; of an imported file that names nobody, nobody does."""
    return bool(campaign.certificate.get("imported", {}).get("annotators_named", True))


def score_sets_of(campaign: Campaign) -> QuerySet[ScoreSet]:
    """The score sets that the campaign published, newest first."""
    return ScoreSet.objects.filter(dataset=campaign.dataset_id, campaign_ref=campaign.pk).order_by("-pk")


@dataclass(frozen=True)
class CampaignRow:
    campaign: Campaign
    judged: int
    wanted: int
    annotators: int


def campaigns_in(datasets: QuerySet[Dataset]) -> list[CampaignRow]:
    """Every campaign of these datasets, newest first. One query."""
    campaigns = (
        Campaign.objects.filter(dataset__in=datasets)
        .select_related("dataset")
        .annotate(
            judged=_sum_of_tuples("counted"),
            wanted=_sum_of_tuples("wanted"),
            annotators=Count(
                "participations",
                filter=Exists(Judgement.objects.filter(participation=OuterRef("participations"))),
            ),
        )
    )
    return [CampaignRow(row, row.judged, row.wanted, row.annotators) for row in campaigns]


def _sum_of_tuples(field: str) -> Coalesce:
    tuples = Tuple.objects.filter(campaign=OuterRef("pk")).order_by().values("campaign")
    return Coalesce(Subquery(tuples.annotate(sum=Sum(field)).values("sum")), 0)


@dataclass(frozen=True)
class MyCampaign:
    """A campaign as one annotator sees it: how much they did, not how much there is."""

    campaign: Campaign
    judged: int
    last_at: datetime | None
    stopped: bool


def campaigns_of(user: User) -> list[MyCampaign]:
    """The open and paused campaigns that the person may judge in. One query."""
    running = Campaign.objects.filter(state__in=[Campaign.State.OPEN, Campaign.State.PAUSED])
    if not user.is_superuser:
        running = running.filter(dataset__memberships__user=user)
    own = Judgement.objects.filter(
        participation__campaign=OuterRef("pk"), participation__user=user
    ).order_by()
    stopped = Participation.objects.filter(
        campaign=OuterRef("pk"), user=user, state=Participation.State.STOPPED
    )
    campaigns = running.select_related("dataset").annotate(
        judged=Coalesce(Subquery(own.values("participation").annotate(n=Count("pk")).values("n")), 0),
        last_at=Subquery(own.values("participation").annotate(last=Max("submitted_at")).values("last")),
        stopped=Exists(stopped),
    )
    return [MyCampaign(row, row.judged, row.last_at, row.stopped) for row in campaigns]


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
    campaign: Campaign,
    *,
    participation: Participation | None = None,
    tuple_number: int = 0,
    page: int = 1,
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
class SittingProgress:
    """judged: tuples since the person sat down. seconds_each: their median, None where none was measured."""

    judged: int
    seconds_each: float | None


def sitting_progress(participation: Participation) -> SittingProgress:
    sitting = participation.sittings.order_by("-pk").first()
    if sitting is None:
        return SittingProgress(0, None)
    measured = list(sitting.judgements.values_list("active_ms", flat=True))
    seconds = [milliseconds / 1000 for milliseconds in measured if milliseconds is not None]
    return SittingProgress(len(measured), median(seconds) if seconds else None)


def last_judgement(participation: Participation) -> Judgement | None:
    return participation.judgements.select_related("tuple").order_by("-pk").first()


def judgement_by_client(participation: Participation, client_id: Any) -> Judgement | None:
    return participation.judgements.select_related("tuple").filter(client_id=client_id).first()


def answer_undone(participation: Participation, tuple_id: int) -> tuple[int, int] | None:
    """The best and the worst slot of the answer to this tuple that the person took back last."""
    revision = (
        JudgementRevision.objects.filter(participation=participation, tuple=tuple_id).order_by("-pk").first()
    )
    return (revision.answer["best_slot"], revision.answer["worst_slot"]) if revision else None


def flags_open(campaign: Campaign) -> int:
    """How many skips and flags wait for somebody to look at them."""
    return Flag.objects.filter(tuple__campaign=campaign, resolved_at=None).count()


@dataclass(frozen=True)
class FlagRow:
    flag: Flag
    cards: list[Card]


@dataclass(frozen=True)
class FlagPage:
    rows: list[FlagRow]
    page: Page[Flag]


def flags_of(campaign: Campaign, *, resolved: bool = False, page: int = 1) -> FlagPage:
    """Skips and flags, newest first, with the pairs they are about in the order of the design."""
    flags = Flag.objects.filter(tuple__campaign=campaign, resolved_at__isnull=not resolved)
    selected = flags.select_related("tuple", "participation__user", "resolved_by").order_by("-pk")
    rows = Paginator(selected, ROWS_PER_PAGE).get_page(page)
    cards = cards_by_tuple(flag.tuple_id for flag in rows.object_list)
    return FlagPage([FlagRow(flag, cards[flag.tuple_id]) for flag in rows.object_list], rows)


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


def judgement_rows(campaign: Campaign, *, adaptive: bool = False) -> Iterator[dict[str, str]]:
    """The counted judgements as rows of the K&M file: Item1..ItemN, BestItem, WorstItem, Annotator.

    Items are the pairs' external ids, in the order shown; annotators have numbers for names. adaptive: those of the
    adaptive phase as well.
    """
    items = TupleItem.objects.for_scores(campaign)
    names: dict[int, dict[int, str]] = defaultdict(dict)
    for tuple_id, slot, name in items.values_list("tuple", "slot", "pair__external_id"):
        names[tuple_id][slot] = name
    for judgement in counted_judgements(campaign, adaptive=adaptive).iterator(chunk_size=2000):
        slots = names[judgement.tuple_id]
        shown: Sequence[int] = judgement.order_shown
        row = {f"Item{place}": slots[slot] for place, slot in enumerate(shown, start=1)}
        row["BestItem"], row["WorstItem"] = slots[judgement.best_slot], slots[judgement.worst_slot]
        yield row | {"Annotator": str(judgement.participation_id)}


def counted_judgements(campaign: Campaign, *, adaptive: bool) -> QuerySet[Judgement]:
    """The judgements that count, in order of arrival; those of the adaptive phase where they are asked for."""
    counted = Judgement.objects.filter(participation__campaign=campaign, standing=Judgement.Standing.COUNTED)
    return (counted if adaptive else counted.exclude(tuple__phase=Tuple.Phase.ADAPTIVE)).order_by("pk")


@dataclass(frozen=True)
class PhaseSums:
    """tuples, wanted, judged: of one phase; judgements that are wanted, and that count."""

    tuples: int = 0
    wanted: int = 0
    judged: int = 0

    @property
    def share(self) -> float:
        return self.judged / self.wanted if self.wanted else 0.0


def phase_sums(campaign: Campaign) -> dict[str, PhaseSums]:
    """How far each phase of the campaign is. One query."""
    tuples = campaign.tuples.for_scores().order_by().values("phase")
    rows = tuples.annotate(number=Count("pk"), wants=Sum("wanted"), judged=Sum("counted"))
    found = {row["phase"]: PhaseSums(row["number"], row["wants"], row["judged"]) for row in rows}
    return {phase: found.get(phase, PhaseSums()) for phase in Tuple.Phase.values}


def score_sets_in(dataset: Dataset) -> QuerySet[ScoreSet]:
    """The score sets that can say what is expected of the dataset's pairs."""
    return ScoreSet.objects.filter(dataset=dataset).order_by("name")
