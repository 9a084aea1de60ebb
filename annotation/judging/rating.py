"""A rater in a campaign's slider arm: one pair after another, each rated from 0 to 100.

There are no leases. The next pair is the first of the person's own order that lacks ratings; where two people rate the
last one at the same moment, both ratings are kept.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.campaigns.seeds import Stream, campaign_rng
from annotation.judging.assignment import FETCHED_AHEAD, RefusedError, timings_likely
from annotation.judging.screen import words
from annotation.judging.settling import participation_lock
from annotation.models import PairRating, Participation, SliderArm, SliderPair
from curation.people.access import dataset_require_active

SHOWN_AT_ONCE = 1 + FETCHED_AHEAD


@dataclass(frozen=True)
class RatingScreen:
    """A pair to rate. value: the choice to start from, where a rating was taken back; else none."""

    item: SliderPair
    client_id: UUID
    value: int | None = None


def pairs_left(person: Participation) -> list[SliderPair]:
    """What the person has still to rate, in an order drawn for them: pairs that lack ratings and that they have not
    rated or skipped. Only primary keys and numbers are loaded.
    """
    if shut_sentence(person):
        return []
    arm = person.campaign.slider_arm
    own = PairRating.objects.filter(rated=OuterRef("pk"), participation=person)
    given = Count("ratings", filter=Q(ratings__value__isnull=False))
    open_pairs = arm.pairs.filter(~Exists(own)).annotate(given=given).filter(given__lt=arm.ratings_per_pair)
    left = list(open_pairs.only("pk", "number"))
    if not left:
        return []
    rng = campaign_rng(person.campaign, Stream.SLIDER_ORDER, person.user_id)
    places = rng.permutation(arm.pairs.count())
    return sorted(left, key=lambda item: places[item.number - 1])


def shut_sentence(person: Participation) -> str:
    """Why nothing is handed to this person at all; empty where something may be."""
    campaign = person.campaign
    if person.state == Participation.State.STOPPED:
        return _("Your part in this campaign has ended.")
    if campaign.dataset.archived or campaign.archived:
        return _("This campaign is archived, so nothing is rated here. What you rated is kept.")
    if campaign.slider_arm.state != SliderArm.State.OPEN:
        return _("The rating is closed. Thank you for your work.")
    return ""


@transaction.atomic
def rating_submit(
    *,
    person: Participation,
    item: SliderPair,
    value: int | None,
    client_id: UUID,
    at: datetime,
    shown_at: datetime | None = None,
    first_input_at: datetime | None = None,
    active_ms: int | None = None,
) -> PairRating:
    """Keep a rating, once per client_id, however late it comes; without a value the pair is skipped.

    Raises RefusedError for a pair that the person has answered, or a person who does not rate.
    """
    person = participation_lock(person)
    before = PairRating.objects.filter(participation=person, client_id=client_id).first()
    if before is not None:
        return before
    dataset_require_active(person.campaign.dataset)
    if not person.rates or item.arm.campaign_id != person.campaign_id:
        raise RefusedError(_("These sentences were not given to you; load the page again."))
    if PairRating.objects.filter(participation=person, rated=item).exists():
        raise RefusedError(_("You have rated these sentences already. Undo that to change it."))
    if value is not None and not 0 <= value <= 100:
        raise RefusedError(_("Choose a number from 0 to 100."))
    times = timings_likely(at=at, shown_at=shown_at, first_input_at=first_input_at, active_ms=active_ms)
    return PairRating.objects.create(
        rated=item,
        participation=person,
        guideline=person.campaign.guidelines.first(),
        value=value,
        client_id=client_id,
        submitted_at=at,
        **times,
    )


@transaction.atomic
def rating_undo(*, person: Participation, client_id: UUID | None = None) -> PairRating | None:
    """Take back the person's last answer and give it; None where it was taken back already.

    client_id says which answer the page believes to be the last, so that a double click undoes once. Raises
    RefusedError where there is none, or nothing may be rated any more.
    """
    person = participation_lock(person)
    if sentence := shut_sentence(person):
        raise RefusedError(sentence)
    last = last_of(person)
    if last is None:
        raise RefusedError(_("There is nothing to undo."))
    if client_id is not None and client_id != last.client_id:
        return None
    PairRating.objects.filter(pk=last.pk).delete()
    return last


def last_of(person: Participation) -> PairRating | None:
    return person.pair_ratings.select_related("rated").order_by("-pk").first()


def rating_context(
    person: Participation, *, taken_back: PairRating | None = None, guidelines_open: bool = False
) -> dict[str, Any]:
    """What the rating screen shows; without a pair, why there is none."""
    left = pairs_left(person)
    screens = _screens(left, 1, taken_back)
    over = "" if screens else shut_sentence(person)
    if not screens and not over:
        rated = person.pair_ratings.filter(value__isnull=False).count()
        over = _("All other pairs have their ratings. Thank you for your work.")
        if rated == person.campaign.slider_arm.pairs.count():
            over = _("You have rated all pairs. Thank you for your work.")
    return {
        "participation": person,
        "campaign": person.campaign,
        "arm": person.campaign.slider_arm,
        "shown": screens[0] if screens else None,
        "over": over,
        "may_undo": not shut_sentence(person),
        "guideline": person.campaign.guidelines.first(),
        "guidelines_open": guidelines_open,
        "undo": _undoable(person),
        "words": words(person)
        | {
            "choose": _("Choose a place on the scale first."),
            "chosen": _("{number} of 100. Enter saves."),
            "unchosen": _("nothing chosen yet"),
            "skipped": _("Skipped."),
        },
        "addresses": addresses_of(person),
        **_progress(person, len(left)),
    }


def rating_json(
    request: HttpRequest, person: Participation, *, taken_back: PairRating | None = None
) -> dict[str, Any]:
    """What is left on the person's screen, with the next pairs. taken_back: stands first, with its value."""
    left = pairs_left(person)
    drawn = [
        {
            "pair": shown.item.pk,
            "html": render_to_string(
                "annotation/judging/_rating.html",
                {"campaign": person.campaign, "arm": person.campaign.slider_arm, "shown": shown},
            ),
        }
        for shown in _screens(left, SHOWN_AT_ONCE, taken_back)
    ]
    progress = _progress(person, len(left))
    return {
        "token": get_token(request),
        "pairs": drawn,
        "over": not drawn,
        "undo": _undoable(person),
        "progress": progress["progress"],
        "sitting": progress["sitting"]["done"],
        "note": "",
    }


def _screens(left: list[SliderPair], count: int, taken_back: PairRating | None) -> list[RatingScreen]:
    shown = [item.pk for item in left]
    if taken_back is not None:
        shown = [taken_back.rated_id, *(pk for pk in shown if pk != taken_back.rated_id)]
    items: QuerySet[SliderPair] = SliderPair.objects.select_related("pair__a", "pair__b")
    loaded = items.in_bulk(shown[:count])
    value_of = {taken_back.rated_id: taken_back.value} if taken_back else {}
    return [RatingScreen(loaded[pk], uuid4(), value_of.get(pk)) for pk in shown[:count]]


def _undoable(person: Participation) -> str:
    last = last_of(person)
    return str(last.client_id) if last else ""


def _progress(person: Participation, left: int) -> dict[str, Any]:
    """How much the person did; not a share of all, because others rate the same pairs."""
    done = person.pair_ratings.count()
    said = _("%(done)d rated, at most %(left)d left for you") % {"done": done, "left": left}
    return {"progress": said, "sitting": {"screens": done + left, "done": done}}


def addresses_of(person: Participation) -> dict[str, str]:
    place = [person.campaign_id]
    return {
        name: reverse(f"annotation:{address}", args=place)
        for name, address in (
            ("answer", "rating_answer"),
            ("screen", "rating_screen"),
            ("undo", "rating_undo"),
            ("page", "rate"),
        )
    }
