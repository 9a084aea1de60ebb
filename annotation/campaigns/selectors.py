"""Rows of campaigns: the pairs they may ask for, the lists of them, and what people report in them."""

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from annotation.cards import CardsPage, cards_by_tuple
from annotation.models import (
    Campaign,
    CampaignDesign,
    CrowdPerson,
    Flag,
    Judgement,
    Lease,
    NormingSession,
    PairRating,
    Participation,
    SliderArm,
    Tuple,
    TupleItem,
)
from annotation.results.selectors import ROWS_PER_PAGE
from curation.foundation.errors import UserError
from curation.models import Dataset, Membership, Pair, User

PAIRS_PER_PAGE = 15  # of which one is chosen with the search beside it


def campaign_numbered(number: int) -> Campaign:
    """The campaign that a command names, with its dataset. Raises UserError if there is none."""
    campaign = Campaign.objects.select_related("dataset").filter(pk=number).first()
    if campaign is None:
        sentence = _("There is no campaign %(number)s; look up its number in the address of its page.")
        raise UserError(sentence, number=number)
    return campaign


def pairs_fitting(dataset: Dataset, pair_filter: Mapping[str, Any]) -> QuerySet[Pair]:
    """The active pairs that a campaign may ask for: of the source and the split in its filter, where it names them."""
    named = {name: pair_filter[name] for name in ("source", "split") if pair_filter.get(name)}
    return Pair.objects.filter(dataset=dataset, status=Pair.Status.ACTIVE, **named)


def pairs_active(campaign: Campaign) -> QuerySet[Pair]:
    """The pairs that stand in the campaign's tuples, gold ones left out, and are still active; by primary key."""
    asked = TupleItem.objects.for_scores(campaign)
    return Pair.objects.filter(pk__in=asked.values("pair"), status=Pair.Status.ACTIVE).order_by("pk")


def pairs_new(campaign: Campaign) -> QuerySet[Pair]:
    """The active pairs that fit the campaign's filter and are not in it; by primary key."""
    asked = TupleItem.objects.for_scores(campaign).filter(pair=OuterRef("pk"))
    return pairs_fitting(campaign.dataset, campaign.pair_filter).filter(~Exists(asked)).order_by("pk")


def pairs_of(campaign: Campaign, *, search: str = "", page: int = 1) -> Page[Pair]:
    """Active pairs of the campaign's dataset, from which gold tuples are made."""
    pairs = pairs_fitting(campaign.dataset, {}).select_related("a", "b").order_by("pk")
    if search:
        holds = Q(a__text__icontains=search) | Q(b__text__icontains=search) | Q(external_id__icontains=search)
        pairs = pairs.filter(holds)
    return Paginator(pairs, PAIRS_PER_PAGE).get_page(page)


def design_work_of(campaign: Campaign) -> CampaignDesign | None:
    """What a worker is to design for the campaign, or has designed. One query."""
    return CampaignDesign.objects.filter(campaign=campaign).first()


def guidelines_written(campaign: Campaign) -> bool:
    """Whether the newest guidelines say or show anything. One query."""
    newest = campaign.guidelines.first()
    return newest is not None and bool(newest.text or newest.examples)


_JUDGED = Q(Exists(Judgement.objects.filter(participation=OuterRef("participations"))))


def campaigns_in(datasets: QuerySet[Dataset], *, archived: bool = False) -> QuerySet[Campaign]:
    """Every campaign of these datasets that is archived, or that is not, newest first, with its `collected` and
    `required` judgements and how many `annotators` gave them, of whom `simulated` are programs. One query.
    """
    return (
        Campaign.objects.filter(dataset__in=datasets, archived=archived)
        .select_related("dataset")
        .annotate(
            collected=_sum_of_tuples("collected"),
            required=_sum_of_tuples("required"),
            annotators=Count("participations", filter=_JUDGED),
            simulated=Count("participations", filter=_JUDGED & Q(participations__user__simulated=True)),
        )
    )


def _sum_of_tuples(field: str) -> Coalesce:
    tuples = Tuple.objects.filter(campaign=OuterRef("pk")).order_by().values("campaign")
    return Coalesce(Subquery(tuples.annotate(sum=Sum(field)).values("sum")), 0)


def campaigns_of(user: User) -> QuerySet[Campaign]:
    """The open and paused campaigns that the person may judge in, with how many tuples they `judged` and when they did
    last (`last_at`), whether they are `stopped` or came `by_crowd`, whether something may be `left` for them (how much
    they did, not how much there is), and the number of a norming session under way (`norming_number`). One query.

    Where the person `rates` in the slider arm, also closed campaigns while it is open (`rating_open`), with how many
    pairs they `rated`.
    """
    rates = Participation.objects.filter(campaign=OuterRef("pk"), user=user, rates=True)
    going_on = SliderArm.objects.filter(campaign=OuterRef("pk"), state=SliderArm.State.OPEN)
    under_way_or_rated = Q(state__in=[Campaign.State.OPEN, Campaign.State.PAUSED]) | Q(
        archived=False, rates=True, rating_open=True
    )
    running = Campaign.objects.annotate(rates=Exists(rates), rating_open=Exists(going_on)).filter(
        under_way_or_rated
    )
    came = CrowdPerson.objects.filter(participation__campaign=OuterRef("pk"), participation__user=user)
    if not user.is_superuser:
        member = Membership.objects.filter(dataset=OuterRef("dataset"), user=user)
        running = running.filter(Q(Exists(member)) | Q(Exists(came)))
    own = Judgement.objects.filter(
        participation__campaign=OuterRef("pk"), participation__user=user
    ).order_by()
    stopped = Participation.objects.filter(
        campaign=OuterRef("pk"), user=user, state=Participation.State.STOPPED
    )
    done = Lease.objects.filter(
        tuple=OuterRef("pk"),
        participation__user=user,
        state__in=[Lease.State.ANSWERED, Lease.State.SKIPPED],
    )
    rated = PairRating.objects.filter(
        participation__campaign=OuterRef("pk"), participation__user=user, value__isnull=False
    ).order_by()
    under_way = NormingSession.objects.filter(campaign=OuterRef("pk")).exclude(
        state=NormingSession.State.CLOSED
    )
    left = Tuple.objects.filter(~Exists(done), campaign=OuterRef("pk"), collected__lt=F("required"))
    return running.select_related("dataset").annotate(
        judged=Coalesce(Subquery(own.values("participation").annotate(n=Count("pk")).values("n")), 0),
        rated=Coalesce(Subquery(rated.values("participation").annotate(n=Count("pk")).values("n")), 0),
        last_at=Subquery(own.values("participation").annotate(last=Max("submitted_at")).values("last")),
        stopped=Exists(stopped),
        by_crowd=Exists(came),
        left=Exists(left),
        norming_number=Subquery(under_way.values("number")[:1]),
    )


def flags_open(campaign: Campaign) -> int:
    """How many skips and flags wait for somebody to look at them."""
    return Flag.objects.filter(tuple__campaign=campaign, resolved_at=None).count()


def flags_of(campaign: Campaign, *, resolved: bool = False, page: int = 1) -> CardsPage:
    """Skips and flags, newest first, with the cards of their tuples in the order of the design."""
    flags = Flag.objects.filter(tuple__campaign=campaign, resolved_at__isnull=not resolved)
    selected = flags.select_related("tuple", "participation__user", "resolved_by").order_by("-pk")
    page_of_flags: CardsPage = Paginator(selected, ROWS_PER_PAGE).get_page(page)
    cards = cards_by_tuple(flag.tuple_id for flag in page_of_flags)
    for flag in page_of_flags:
        flag.cards = cards[flag.tuple_id]
    return page_of_flags
