"""The slider arm of a campaign: a curator starts it, says who rates in it, closes it and removes it."""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.campaigns.rounds import campaign_lock, campaign_record, campaign_require
from annotation.campaigns.seeds import Stream, campaign_rng
from annotation.campaigns.selectors import pairs_active
from annotation.models import Campaign, Judgement, Lease, Participation, SliderArm, SliderPair
from curation.foundation.errors import UserError
from curation.models import Membership, User
from curation.people.audit import Action
from curation.people.members import members_of

FEWEST_PAIRS, MOST_PAIRS = 10, 5_000
MOST_RATINGS = 50  # of a pair
HAS_BEGUN = (Campaign.State.OPEN, Campaign.State.PAUSED, Campaign.State.CLOSED)


@transaction.atomic
def slider_start(
    *,
    campaign: Campaign,
    question: str,
    low_label: str,
    high_label: str,
    ratings_per_pair: int,
    number: int | None = None,
    by: User | None = None,
) -> SliderArm:
    """An arm for `number` pairs of the campaign, drawn with its seed, or for all; nobody rates in it yet.

    Raises UserError where the campaign has an arm, is a draft, or has too few or too many pairs.
    """
    campaign = campaign_lock(campaign)
    campaign_require(campaign, *HAS_BEGUN)
    if arm_of(campaign) is not None:
        raise UserError(_("This campaign has a rating-scale condition already. Load the page again."))
    if not 2 <= ratings_per_pair <= MOST_RATINGS:
        raise UserError(_("Each pair needs 2 to %(most)d ratings."), most=MOST_RATINGS)
    pairs = list(pairs_active(campaign).values_list("pk", flat=True))
    wanted = len(pairs) if number is None else number
    if wanted > len(pairs):
        raise UserError(
            _("The campaign has %(there)d pairs, so %(wanted)d cannot be sampled."),
            there=len(pairs),
            wanted=wanted,
        )
    if not FEWEST_PAIRS <= wanted <= MOST_PAIRS:
        raise UserError(
            _("A rating-scale condition has %(fewest)d to %(most)d pairs, not %(wanted)d."),
            fewest=FEWEST_PAIRS,
            most=MOST_PAIRS,
            wanted=wanted,
        )
    arm = SliderArm.objects.create(
        campaign=campaign,
        question=question,
        low_label=low_label,
        high_label=high_label,
        ratings_per_pair=ratings_per_pair,
    )
    drawn = campaign_rng(campaign, Stream.SLIDER_PAIRS).permutation(len(pairs))[:wanted]
    SliderPair.objects.bulk_create(
        (SliderPair(arm=arm, number=place, pair_id=pairs[index]) for place, index in enumerate(drawn, 1)),
        batch_size=1000,
    )
    campaign_record(campaign, Action.SLIDER_STARTED, by=by, pairs=wanted, ratings_per_pair=ratings_per_pair)
    return arm


def arm_of(campaign: Campaign) -> SliderArm | None:
    """The campaign's slider arm, if it has one. One query."""
    return SliderArm.objects.filter(campaign=campaign).first()


def can_rate(campaign: Campaign) -> QuerySet[Membership]:
    """Members of the dataset who may rate: they have judged nothing in the campaign, hold no tuple of it and are not
    stopped, so that nobody rates pairs that they have compared.
    """
    own = Participation.objects.filter(campaign=campaign, user=OuterRef("user"))
    judged = Judgement.objects.filter(participation__campaign=campaign, participation__user=OuterRef("user"))
    held = Lease.objects.filter(
        participation__campaign=campaign, participation__user=OuterRef("user")
    ).exclude(state=Lease.State.RELEASED)
    not_free = Q(rates=True) | ~Q(state=Participation.State.ACTIVE)
    return members_of(campaign.dataset).filter(
        ~Exists(own.filter(not_free)), ~Exists(judged), ~Exists(held), user__is_active=True
    )


@transaction.atomic
def raters_add(
    *, arm: SliderArm, chosen: Collection[int] = (), drawn: int = 0, by: User | None = None
) -> list[Participation]:
    """Let people rate, and judge no tuples: the users `chosen`, and `drawn` others by chance with the campaign's seed.

    Raises UserError where somebody may not rate, or so many are not there.
    """
    campaign = campaign_lock(arm.campaign)
    campaign_require(campaign, *HAS_BEGUN)
    able = list(can_rate(campaign).order_by("user_id").values_list("user_id", flat=True))
    refused = User.objects.filter(pk__in=set(chosen) - set(able)).first()
    if refused is not None:
        raise UserError(_("%(person)s has annotated in this campaign or rates already."), person=refused)
    others = [pk for pk in able if pk not in set(chosen)]
    if drawn > len(others):
        sentence = ngettext(
            "Only %(n)d other person can be sampled.", "Only %(n)d other people can be sampled.", len(others)
        )
        raise UserError(sentence, n=len(others))
    turn = campaign.participations.filter(rates=True).count()
    order = campaign_rng(campaign, Stream.SLIDER_PEOPLE, turn).permutation(len(others))
    users = [*(pk for pk in able if pk in set(chosen)), *(others[place] for place in order[:drawn])]
    if not users:
        raise UserError(_("Choose somebody, or say how many to sample."))
    people = []
    for user in users:
        Participation.objects.get_or_create(campaign=campaign, user_id=user)
        person = _person_lock(campaign, user)
        # Somebody may have begun to judge since the members were read.
        if not can_rate(campaign).filter(user=user).exists():
            raise UserError(_("%(person)s has begun to annotate in the meantime."), person=person.user)
        person.rates = True
        person.save(update_fields=["rates"])
        people.append(person)
    campaign_record(campaign, Action.SLIDER_CHANGED, by=by, people_added=len(people))
    return people


@transaction.atomic
def rater_remove(*, arm: SliderArm, user_pk: int, by: User | None = None) -> None:
    """Let somebody who has not rated yet judge tuples instead. Raises UserError where they have rated."""
    campaign = campaign_lock(arm.campaign)
    campaign_require(campaign, *HAS_BEGUN)
    person = _person_lock(campaign, user_pk)
    if person.pair_ratings.exists():
        raise UserError(
            _("%(person)s has rated already, and nobody both rates pairs and annotates tuples of them."),
            person=person.user,
        )
    person.rates = False
    person.save(update_fields=["rates"])
    campaign_record(campaign, Action.SLIDER_CHANGED, by=by, people_removed=1)


def _person_lock(campaign: Campaign, user_pk: int) -> Participation:
    people = Participation.objects.select_for_update(of=("self",), no_key=True).select_related("user")
    return people.get(campaign=campaign, user=user_pk)


def slider_open(*, arm: SliderArm, by: User | None = None) -> None:
    """Let people go on rating."""
    _change(arm, SliderArm.State.OPEN, by)


def slider_close(*, arm: SliderArm, by: User | None = None) -> None:
    """Hand out no more pairs. A rating of a pair that somebody had on the screen is still kept."""
    _change(arm, SliderArm.State.CLOSED, by)


@transaction.atomic
def _change(arm: SliderArm, state: SliderArm.State, by: User | None) -> None:
    campaign = campaign_lock(arm.campaign)
    campaign_require(campaign, *HAS_BEGUN)
    if SliderArm.objects.filter(pk=arm.pk).exclude(state=state).update(state=state):
        campaign_record(campaign, Action.SLIDER_CHANGED, by=by, state=state.value)


@transaction.atomic
def slider_remove(*, arm: SliderArm, by: User | None = None) -> None:
    """Take an arm back that nobody has rated in; its people may judge. Raises UserError where there are ratings."""
    campaign = campaign_lock(arm.campaign)
    campaign_require(campaign, *HAS_BEGUN)
    people: QuerySet[Any] = Participation.objects.select_for_update(of=("self",), no_key=True)
    locked = list(people.filter(campaign=campaign, rates=True).values_list("pk", flat=True))
    if arm.pairs.filter(ratings__isnull=False).exists():
        raise UserError(_("The condition has ratings, so it stays. Close it instead."))
    Participation.objects.filter(pk__in=locked).update(rates=False)
    arm.delete()
    campaign_record(campaign, Action.SLIDER_CHANGED, by=by, removed=True)
