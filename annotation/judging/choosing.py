"""Which tuple a person gets next, in which order of cards, or why there is none.

The caller holds the person's lock.
"""

from collections.abc import Iterator

from django.db import models
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.campaigns.seeds import Stream, campaign_rng
from annotation.judging.gold import gold_choose, gold_is_due
from annotation.judging.repeats import order_again, repeat_choose, repeat_is_due
from annotation.models import Campaign, Lease, Participation, Tuple
from curation.foundation.statements import built_once
from curation.models import User


class NoTupleReason(models.TextChoices):
    """Why there is no tuple for a person. The label is the sentence they read."""

    JUDGED = "judged", _("Every tuple of this campaign has its judgements. Thank you for your work.")
    YOURS = (
        "yours",
        _("You have answered all questions that you can. The remaining tuples are for other people."),
    )
    LEASED = "leased", _("The remaining tuples are on other people's screens. Come back in some minutes.")
    CHOOSING = "choosing", _("The next pairs are being chosen. Come back in a minute.")
    QUOTA = "quota", _("You have answered all questions that you were asked. Thank you for your work.")
    DRAFT = "draft", _("This campaign is not open yet.")
    PAUSED = "paused", _("This campaign is paused. Come back when it continues.")
    ARCHIVED = (
        "archived",
        _("This dataset is archived, so nothing is annotated here. What you annotated is kept."),
    )
    CLOSED = "closed", _("This campaign is closed. Thank you for your work.")
    STOPPED = "stopped", _("You get no more tuples in this campaign.")
    QUIZ = "quiz", _("Answer the questions about the guidelines first.")
    RATES = (
        "rates",
        _("In this campaign you rate pairs one by one, so you get no questions with several pairs."),
    )


def cursor_start(campaign: Campaign, user: User) -> int:
    """Where the person's walk through the tuples begins: a crowd must not queue at one row."""
    tuples = campaign.tuples.for_scores().aggregate(last=Max("number"))["last"] or 1
    return int(campaign_rng(campaign, Stream.CURSOR, user.pk).integers(tuples))


def shut_for(person: Participation) -> NoTupleReason | None:
    """Why nothing is handed to this person at all, if so."""
    if person.state == Participation.State.STOPPED:
        return NoTupleReason.STOPPED
    if person.rates:
        return NoTupleReason.RATES
    if person.campaign.dataset.archived:
        return NoTupleReason.ARCHIVED
    if person.campaign.state != Campaign.State.OPEN:
        return NoTupleReason(person.campaign.state)
    return NoTupleReason.QUIZ if quiz_is_due(person) else None


def quiz_is_due(person: Participation) -> bool:
    """Whether the person answers the quiz before anything else; nobody who has got a tuple is asked it."""
    return person.campaign.has_quiz and person.quiz_passed_at is None and not person.handed


def tuple_choose(person: Participation, *, wait: bool = True) -> Tuple | None:
    """A gold tuple where one is due, or the next that is open, which is then locked; in its stead a repeat.

    Whoever has nothing else left gets no repeat: it would be asked for nothing.
    """
    if quota_is_full(person):
        return None
    gold = gold_choose(person) if gold_is_due(person) else None
    if gold is not None:
        return gold
    following = _open_choose(person, wait=wait)
    if following is None or not repeat_is_due(person):
        return following
    return repeat_choose(person) or following


def quota_is_full(person: Participation, *, judged: bool = False) -> bool:
    """Whether the person judged or holds as many tuples as they are asked for; with `judged`, judged them all."""
    if person.quota is None:
        return False
    held = 0 if judged else person.leases.filter(state=Lease.State.LIVE).count()
    return person.judgements.count() + held >= person.quota


def is_something_open(person: Participation) -> bool:
    """Whether the person could go on judging at this moment."""
    if shut_for(person) is not None or quota_is_full(person, judged=True):
        return False
    return person.leases.filter(state=Lease.State.LIVE).exists() or is_plenty_open(person, 1)


def _open_choose(person: Participation, *, wait: bool) -> Tuple | None:
    """The first open tuple from the person's cursor on, round by round, locked.

    Rows that others hold are passed over; with `wait` they are waited for before nothing is found.
    """
    for skip_locked in (True, False) if wait else (True,):
        for number in _rounds_open(person.campaign):
            for onwards in (True, False):
                place = (person.pk, person.campaign_id, number, person.cursor)
                chosen = _open_from.first(*place, onwards=onwards, skip_locked=skip_locked)
                if chosen is not None:
                    return chosen
    return None


@built_once
def _open_from(
    person: int, campaign: int, number: int, cursor: int, *, onwards: bool, skip_locked: bool
) -> QuerySet[Tuple]:
    """The first open tuple of the round, locked: from the cursor onwards, or of those before it."""
    side = Q(priority__gte=cursor) if onwards else Q(priority__lt=cursor)
    tuples = _open_for(person, campaign).filter(side, round=number).order_by("priority")
    return tuples.select_for_update(of=("self",), no_key=True, skip_locked=skip_locked)[:1]


def _rounds_open(campaign: Campaign) -> Iterator[int]:
    """The rounds in which something is still required, first to last.

    Each is one step in the index: rounds that are done cost a claim nothing, however many there are.
    """
    if campaign.rounds == 1:
        yield 1
        return
    required = campaign.tuples.filter(collected__lt=F("required")).order_by("round", "priority")
    number = 0
    while (
        next_round := required.filter(round__gt=number).values_list("round", flat=True).first()
    ) is not None:
        yield next_round
        number = next_round


def _open_for(person: int, campaign: int) -> QuerySet[Tuple]:
    theirs = Lease.objects.filter(tuple=OuterRef("pk"), participation=person).exclude(
        state=Lease.State.RELEASED
    )
    tuples = Tuple.objects.filter(~Exists(theirs), campaign=campaign)
    # The first condition is the index's own; the second is checked on the few rows that it leaves.
    return tuples.filter(collected__lt=F("required")).filter(collected__lt=F("required") - F("leased"))


def is_plenty_open(person: Participation, number: int) -> bool:
    """Whether at least so many tuples are open for the person."""
    return len(_open_numbers(person.pk, person.campaign_id, at_most=number)) >= number


@built_once
def _open_numbers(person: int, campaign: int, *, at_most: int) -> QuerySet[Tuple, tuple[int]]:
    return _open_for(person, campaign).values_list("pk")[:at_most]


def order_draw(person: Participation, chosen: Tuple) -> list[int]:
    """The cards' order on the screen: slots, drawn per person and tuple, so that no position is favoured."""
    if chosen.repeats_id is not None:
        return order_again(person, chosen)
    rng = campaign_rng(person.campaign, Stream.ORDER, person.user_id, chosen.number, chosen.is_gold)
    return [int(slot) for slot in rng.permutation(person.campaign.tuple_size)]


def no_tuple_reason(person: Participation) -> NoTupleReason:
    """Why no tuple is open for the person now, in a campaign that is open and a participation that is active.

    The first reason that holds is returned: the person's quota is full; every tuple has its judgements; other people
    lease what is left, which may become free again; the person judged or skipped all that is left.
    """
    if quota_is_full(person):
        return NoTupleReason.QUOTA
    required = Tuple.objects.filter(campaign=person.campaign_id, collected__lt=F("required"))
    done = Lease.objects.filter(
        tuple=OuterRef("pk"), participation=person, state__in=[Lease.State.ANSWERED, Lease.State.SKIPPED]
    )
    if not required.exists():
        return NoTupleReason.JUDGED
    return NoTupleReason.LEASED if required.filter(~Exists(done)).exists() else NoTupleReason.YOURS
