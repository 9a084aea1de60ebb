"""An annotator in a norming session: judges its tuples alone, comments on them, and judges them again.

The screen is the judging screen, with its own addresses. Nothing here touches a lease, a tuple or a judgement of the
campaign.
"""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.campaigns.norming import discussion_begin, norming_lock
from annotation.campaigns.seeds import Stream, campaign_rng
from annotation.cards import Card
from annotation.judging.assignment import RefusedError, participation_join
from annotation.judging.screen import TupleScreen, words
from annotation.models import (
    Campaign,
    NormingComment,
    NormingJudgement,
    NormingSession,
    NormingTuple,
    Participation,
)
from annotation.results.norming import people_finished
from curation.foundation.errors import UserError
from curation.models import User
from curation.people.access import dataset_require_active

ROUNDS = {NormingSession.State.JUDGING: 1, NormingSession.State.DISCUSSING: 2}


def norming_join(*, campaign: Campaign, user: User) -> Participation:
    """The person's row in the campaign. Raises UserError where their part in it has ended."""
    person = participation_join(campaign=campaign, user=user)
    if person.state == Participation.State.STOPPED:
        raise UserError(
            _("Your part in this campaign has ended, so you take no part in its calibration sessions.")
        )
    return person


def round_now(session: NormingSession) -> int:
    """1 before the discussion, 2 from its beginning, 0 when the session is closed."""
    return ROUNDS.get(NormingSession.State(session.state), 0)


def tuples_left(session: NormingSession, person: Participation, number: int) -> QuerySet[NormingTuple]:
    """What the person has still to judge in round `number`: in the second, what they judged in the first."""
    own = NormingJudgement.objects.filter(tuple=OuterRef("pk"), participation=person)
    left = session.tuples.filter(~Exists(own.filter(round=number)))
    return left.filter(Exists(own.filter(round=1))) if number == 2 else left


@transaction.atomic
def norming_submit(
    *,
    person: Participation,
    row: NormingTuple,
    number: int,
    best: int | None,
    worst: int | None,
    client_id: UUID,
    at: datetime,
    active_ms: int | None = None,
) -> NormingJudgement:
    """Keep an answer of round `number`; best and worst are screen positions, None in a tie.

    The last answer of the last person begins the discussion. Sent twice, it is kept once. Raises RefusedError for an
    answer to a round that is over, or to a tuple that the person has answered.
    """
    session = norming_lock(row.session)
    dataset_require_active(session.campaign.dataset)
    before = NormingJudgement.objects.filter(tuple=row, participation=person, round=number).first()
    if before is not None and before.client_id == client_id:
        return before
    if number != round_now(session):
        raise RefusedError(_("This part of the calibration session is over, so this answer is not kept."))
    if before is not None or not tuples_left(session, person, number).filter(pk=row.pk).exists():
        raise RefusedError(_("You have answered this question already."))
    if best is None and not session.campaign.allows_ties:
        raise RefusedError(_("This campaign does not offer “too close to call”; choose two pairs."))
    order = order_shown(person, row, number)
    judgement = NormingJudgement.objects.create(
        tuple=row,
        participation=person,
        round=number,
        guideline=session.campaign.guidelines.first(),
        best_slot=None if best is None else order[best],
        worst_slot=None if worst is None else order[worst],
        client_id=client_id,
        submitted_at=at,
        active_ms=active_ms,
    )
    if number == 1 and people_finished(session) >= session.people:
        discussion_begin(session=session, at=at)
    return judgement


@transaction.atomic
def norming_undo(*, session: NormingSession, person: Participation) -> NormingJudgement:
    """Take back the person's last answer of the round that is under way."""
    session = norming_lock(session)
    last = last_of(session, person)
    if last is None:
        raise UserError(_("There is nothing to undo."))
    NormingJudgement.objects.filter(pk=last.pk).delete()
    return last


def last_of(session: NormingSession, person: Participation) -> NormingJudgement | None:
    """The person's last answer of the round that is under way."""
    own = NormingJudgement.objects.filter(tuple__session=session, participation=person)
    return own.filter(round=round_now(session)).select_related("tuple").order_by("-pk").first()


@transaction.atomic
def norming_comment(*, person: Participation, row: NormingTuple, text: str, at: datetime) -> NormingComment:
    """Say something about a tuple while its session is discussed."""
    session = norming_lock(row.session)
    dataset_require_active(session.campaign.dataset)
    if session.state != NormingSession.State.DISCUSSING:
        raise UserError(_("Comments are written while the session is discussed. Load the page again."))
    return NormingComment.objects.create(tuple=row, participation=person, text=text.strip(), created_at=at)


def norming_names(session: NormingSession, *, me: int = 0) -> dict[int, str]:
    """A pseudonym for everybody who judged, by participation, in an order that is drawn; `me` is you."""
    judged = NormingJudgement.objects.filter(tuple__session=session, round=1)
    people = sorted(set(judged.values_list("participation", flat=True)))
    order = campaign_rng(session.campaign, Stream.NORMING_NAMES, session.number).permutation(len(people))
    named = {
        people[place]: _("Person %(number)d") % {"number": number} for number, place in enumerate(order, 1)
    }
    return {pk: _("%(name)s (you)") % {"name": name} if pk == me else name for pk, name in named.items()}


def order_shown(person: Participation, row: NormingTuple, number: int) -> list[int]:
    """The cards' order on the screen: slots, drawn per person, tuple and round."""
    rng = campaign_rng(person.campaign, Stream.NORMING_ORDER, person.user_id, row.pk, number)
    return [int(slot) for slot in rng.permutation(person.campaign.tuple_size)]


def norming_context(session: NormingSession, person: Participation) -> dict[str, Any] | None:
    """What the judging screen shows of the session; None where nothing is left to judge for the person."""
    number = round_now(session)
    screens = _screens(session, person, number)
    if not screens:
        return None
    return {
        "participation": person,
        "campaign": session.campaign,
        "norming": session,
        "shown": screens[0],
        "addresses": addresses_of(session, number),
        "owner": _owner(session, person, number),
        "guideline": session.campaign.guidelines.first(),
        "undo": _undoable(session, person),
        "words": words(person),
        **_progress(session, person, number),
    }


def _owner(session: NormingSession, person: Participation, number: int) -> str:
    """Under which name a browser keeps what the person decides in round `number`, until the server has it."""
    return f"norming-{session.pk}-{number}-{person.pk}"


def norming_leftovers(session: NormingSession, person: Participation) -> list[dict[str, str]]:
    """Where each round that has begun takes answers that a browser may still keep, and under which name it does."""
    rounds = (1,) if session.state == NormingSession.State.JUDGING else (1, 2)
    return [{**addresses_of(session, number), "owner": _owner(session, person, number)} for number in rounds]


def addresses_of(session: NormingSession, number: int) -> dict[str, str]:
    """What `screen.addresses_of` says, for round `number` of a session."""
    place = [session.campaign_id, session.number]
    return {
        "answer": f"{reverse('annotation:norming_answer', args=place)}?round={number}",
        "screen": reverse("annotation:norming_screen", args=place),
        "undo": reverse("annotation:norming_undo", args=place),
        "page": reverse("annotation:norming_session", args=place),
        "leave": reverse("annotation:norming_session", args=place),
    }


def norming_json(
    request: HttpRequest,
    session: NormingSession,
    person: Participation,
    *,
    taken_back: NormingJudgement | None = None,
) -> dict[str, Any]:
    """What is left on the person's screen, as `screen_json` says it. taken_back: stands first, with its choice."""
    number = round_now(session)
    screens = _screens(session, person, number, taken_back)
    progress = _progress(session, person, number)
    campaign = session.campaign
    drawn = [
        {
            "lease": shown.lease_pk,
            "html": render_to_string(
                "annotation/judging/_tuple.html", {"campaign": campaign, "shown": shown}
            ),
        }
        for shown in screens
    ]
    return {
        "token": get_token(request),
        "tuple": drawn[0] if drawn else None,
        "ahead": drawn[1:],
        "over": not drawn,
        "undo": _undoable(session, person),
        "progress": progress["progress"],
        "sitting": progress["sitting"]["done"],
        "note": "",
    }


def _screens(
    session: NormingSession, person: Participation, number: int, taken_back: NormingJudgement | None = None
) -> list[TupleScreen]:
    if not number:
        return []
    rows = list(tuples_left(session, person, number).prefetch_related("items__pair__a", "items__pair__b"))
    if taken_back is not None:
        rows.sort(key=lambda row: row.pk != taken_back.tuple_id)
    screens = []
    for row in rows:
        pairs = [item.pair for item in row.items.all()]
        order = order_shown(person, row, number)
        cards = [Card(slot, position, pairs[slot]) for position, slot in enumerate(order)]
        choice: dict[str, Any] = {}
        if taken_back is not None and row.pk == taken_back.tuple_id:
            best, worst = taken_back.best_slot, taken_back.worst_slot
            choice = (
                {"tie": True}
                if best is None or worst is None
                else {"best": order.index(best), "worst": order.index(worst)}
            )
        screens.append(TupleScreen(row.pk, cards, uuid4(), **choice))
    return screens


def _undoable(session: NormingSession, person: Participation) -> str:
    last = last_of(session, person)
    return str(last.client_id) if last else ""


def _progress(session: NormingSession, person: Participation, number: int) -> dict[str, Any]:
    own = NormingJudgement.objects.filter(tuple__session=session, participation=person)
    first = own.filter(round=1).count()
    every = session.tuples.count() if number == 1 else first
    done = first if number == 1 else own.filter(round=2).count()
    said = _("%(done)d of %(all)d answered in this calibration session") % {"done": done, "all": every}
    return {"progress": said, "sitting": {"screens": every, "minutes": 0, "done": done}}
