"""A judgement's life: a tuple is claimed, answered, taken back, skipped or flagged. One transaction each.

An answer may hand out the next tuple in its own transaction: people wait for both, screen after screen.

Each locks the person's row first, so that two tabs are one person; `settling` says in which order locks are
taken and what counts.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, QuerySet, Subquery
from django.utils.timezone import is_aware
from django.utils.translation import gettext as _

from annotation.access import campaign_for, participation_for
from annotation.bws.studies.costs import PAUSE_MINUTES
from annotation.campaigns.adapting import adaptive_phase, block_make
from annotation.campaigns.rounds import tuples_lock
from annotation.judging.choosing import (
    NoTupleReason,
    cursor_start,
    is_plenty_open,
    no_tuple_reason,
    order_draw,
    shut_for,
    tuple_choose,
)
from annotation.judging.gold import EXPECTED_SEEN, GoldFeedback, gold_feedback
from annotation.judging.settling import (
    gold_unweigh,
    gold_weigh,
    judgement_settle,
    lease_end,
    leases_expire,
    participation_lock,
    tuples_settle,
)
from annotation.models import (
    Campaign,
    Flag,
    Guideline,
    Judgement,
    JudgementRevision,
    Lease,
    Participation,
    Sitting,
    Tuple,
)
from annotation.reasons import FlagReason
from curation.foundation.errors import UserError
from curation.foundation.statements import built_once, row_insert, row_update, updates_once
from curation.models import User
from curation.people.access import dataset_require_active

NOTHING_LEFT = frozenset({NoTupleReason.JUDGED, NoTupleReason.YOURS, NoTupleReason.LEASED})
FETCHED_AHEAD = (
    5  # tuples besides the one on the screen, so that as many judgements survive a lost connection
)
PLENTY = 50  # open tuples: with fewer, only one is fetched ahead
LEASE_TIME = timedelta(minutes=30)
SITTING_PAUSE = timedelta(minutes=PAUSE_MINUTES)
SEEN_AGAIN = timedelta(minutes=1)  # noted this often at most: one write less for most judgements
CLOCK_SKEW = timedelta(minutes=5)
LONGEST_ON_SCREEN = timedelta(days=7)


class RefusedError(UserError):
    """A judgement or a wish that cannot be kept, and will not be however often it is sent."""


@dataclass(frozen=True)
class Submission:
    """The result of a judgement. `gold` is the feedback where the tuple was a gold one.

    following: the next tuple or why there is none, where it was asked for. held: what `tuples_fetch` gave, where that
    was asked for and the judgement was a new one.
    """

    judgement: Judgement
    repeated: bool
    gold: GoldFeedback | None
    stopped: bool
    following: Lease | NoTupleReason | None = None
    held: list[Lease] | None = None


def participation_of(*, user: User, campaign_pk: int) -> Participation:
    """The person's row in the campaign, made when they first come. Raises what `campaign_for` raises."""
    person = participation_for(user, campaign_pk)
    if person is None:
        campaign = campaign_for(user, campaign_pk, may="annotate")
        person = participation_join(campaign=campaign, user=user)
    return person


def participation_join(*, campaign: Campaign, user: User) -> Participation:
    """The person's row in the campaign, made when they first come."""
    person = Participation.objects.filter(campaign=campaign, user=user).first()
    if person is None:
        dataset_require_active(campaign.dataset)
        start = cursor_start(campaign, user)
        person, _made = Participation.objects.get_or_create(
            campaign=campaign, user=user, defaults={"cursor": start}
        )
    person.campaign = campaign
    return person


@transaction.atomic
def walk_move(*, participation: Participation, number: int) -> None:
    """Let the person's walk through the tuples go on at that one: it is the next they get, if it is open for them."""
    person = participation_lock(participation)
    position = (
        person.campaign.tuples.for_scores().filter(number=number).values_list("priority", flat=True).first()
    )
    if position is not None:
        person.cursor = position
        person.save(update_fields=["cursor"])


def tuple_claim(*, participation: Participation, at: datetime, ahead: bool = False) -> Lease | NoTupleReason:
    """The tuple on the person's screen, or (ahead) the one after it; a new one where there is none yet."""
    claimed = _claim(participation, at=at, ahead=ahead)
    # The sweep may not have run yet; leases that ran out are free for the person who asks.
    if claimed is NoTupleReason.LEASED and leases_expire(at=at, campaign=participation.campaign):
        claimed = _claim(participation, at=at, ahead=ahead)
    if isinstance(claimed, Lease) or claimed not in NOTHING_LEFT:
        return claimed
    # The next block of the adaptive phase may have one, which is made now where that is quick.
    phase = adaptive_phase(participation.campaign_id)
    if phase is None or not phase.designed:
        return claimed
    # A block that somebody made since would be passed over: look once more after `phase` was read.
    again = _claim(participation, at=at, ahead=ahead)
    if isinstance(again, Lease) or again not in NOTHING_LEFT:
        return again
    if not phase.quick:
        return NoTupleReason.CHOOSING if phase.ready else again
    block_make(phase)
    return _claim(participation, at=at, ahead=ahead)


@transaction.atomic
def _claim(participation: Participation, *, at: datetime, ahead: bool) -> Lease | NoTupleReason:
    person = participation_lock(participation)
    shut = shut_for(person)
    if shut is not None:
        return shut
    live = _live_renewed(person, at)
    place = 1 if ahead and live else 0
    if place < len(live):
        return live[place]
    chosen = tuple_choose(person)
    return _hand(person, chosen, at) if chosen else no_tuple_reason(person)


@transaction.atomic
def tuples_fetch(*, participation: Participation, at: datetime) -> list[Lease]:
    """What the person holds, the tuple on the screen first, with as many fetched ahead as a lost connection may need.

    Empty where nothing can be handed out without waiting for somebody: `tuple_claim` waits, and says why. Where little
    is open, one tuple is fetched ahead, so that nobody keeps from others what the campaign ends with.
    """
    return _fetched(participation_lock(participation), at)


def _fetched(person: Participation, at: datetime) -> list[Lease]:
    if shut_for(person) is not None:
        return []
    live = _live_renewed(person, at)
    while len(live) <= FETCHED_AHEAD:
        if len(live) > 1 and not is_plenty_open(person, PLENTY):
            break
        # Nobody is waited for: this transaction may hold tuples that others wait for.
        chosen = tuple_choose(person, wait=False)
        if chosen is None:
            break
        live.append(_hand(person, chosen, at))
    return live


def _live_renewed(person: Participation, at: datetime) -> list[Lease]:
    """The person's live leases in order. Who is at work keeps them; they are renewed seldom, because a page claims
    with every judgement.
    """
    live = _live_with_tuples(person.pk)
    for lease in live:
        lease.participation = person
    if any(lease.expires_at - at < LEASE_TIME / 2 for lease in live):
        _live(person.pk).update(expires_at=at + LEASE_TIME)
        for lease in live:
            lease.expires_at = at + LEASE_TIME
    return live


def _live(person: int) -> QuerySet[Lease]:
    return Lease.objects.filter(participation=person, state=Lease.State.LIVE).order_by("turn")


@built_once
def _live_with_tuples(person: int) -> QuerySet[Lease]:
    return _live(person).select_related("tuple")


def _hand(person: Participation, chosen: Tuple, at: datetime) -> Lease:
    lease = Lease(
        tuple=chosen,
        participation=person,
        state=Lease.State.LIVE,
        turn=person.handed,
        order_shown=order_draw(person, chosen),
        claimed_at=at,
        expires_at=at + LEASE_TIME,
    )
    # A released lease of the same tuple comes to life again, with the order that was drawn for it.
    row_insert(
        lease,
        unique=("tuple", "participation"),
        replaced=("state", "turn", "claimed_at", "expires_at"),
    )
    if chosen.is_for_scores:
        _tuple_leased(chosen.pk)
        person.cursor = chosen.priority
    person.handed += 1
    row_update(person, "handed", "cursor")
    return lease


@updates_once
def _tuple_leased(tuple_id: int) -> tuple[QuerySet[Tuple], dict[str, Any]]:
    return Tuple.objects.filter(pk=tuple_id), {"leased": F("leased") + 1}


def answer_submit(
    *,
    lease: Lease,
    best: int | None,
    worst: int | None,
    client_id: UUID,
    at: datetime,
    **more: Any,
) -> Submission:
    """Keep an answer that names pairs by their screen positions, from 0. Both None: the pairs are too close to call.

    Pages and programs answer by it. more: what `judgement_submit` takes besides; it has the same errors.
    """
    slots: list[int] = lease.order_shown
    best_slot, worst_slot = (
        slots[position] if position is not None and 0 <= position < len(slots) else position
        for position in (best, worst)
    )
    return judgement_submit(
        participation=lease.participation,
        tuple_id=lease.tuple_id,
        best_slot=best_slot,
        worst_slot=worst_slot,
        client_id=client_id,
        at=at,
        **more,
    )


def judgement_submit(
    *,
    participation: Participation,
    tuple_id: int,
    best_slot: int | None,
    worst_slot: int | None,
    client_id: UUID,
    at: datetime,
    shown_at: datetime | None = None,
    first_input_at: datetime | None = None,
    active_ms: int | None = None,
    claim: bool = False,
    fetch: bool = False,
) -> Submission:
    """Keep a judgement, once per client_id, however late it comes.

    With `claim`, hand out the next tuple as well; with `fetch`, what `tuples_fetch` hands out, in one transaction.
    Slots are the design's; both None for a tie. Raises RefusedError where it cannot be a judgement of this person.
    """
    answer = {"best_slot": best_slot, "worst_slot": worst_slot, "client_id": client_id, "submitted_at": at}
    times = timings_likely(at=at, shown_at=shown_at, first_input_at=first_input_at, active_ms=active_ms)
    submitted = _submit(participation, tuple_id, answer | times, claim=claim, fetch=fetch)
    if claim and submitted.following is None:
        return replace(submitted, following=tuple_claim(participation=participation, at=at))
    return submitted


@transaction.atomic
def _submit(
    participation: Participation, tuple_id: int, answer: dict[str, Any], *, claim: bool, fetch: bool
) -> Submission:
    """following: a tuple that can be handed out without waiting for anybody."""
    person = participation_lock(participation)
    lease: Any = _lease_answered.first(person.pk, person.campaign_id, tuple_id, answer["client_id"])
    if lease is None or lease.repeated:
        first = person.judgements.filter(client_id=answer["client_id"]).select_related("tuple").first()
        if first is None:
            raise _not_given()
        return Submission(first, repeated=True, gold=gold_feedback(first), stopped=_is_stopped(person))
    _refuse(lease, answer["best_slot"], answer["worst_slot"], ties=person.campaign.allows_ties)
    at, sitting, seen = answer["submitted_at"], lease.last_sitting, lease.last_seen_at
    if sitting is None or at - seen > SITTING_PAUSE:  # the new one began when its first tuple was handed out
        started = min(max(lease.claimed_at, at - SITTING_PAUSE), at)
        sitting = Sitting.objects.create(participation=person, started_at=started, last_seen_at=at).pk
    elif at - seen >= SEEN_AGAIN:
        Sitting.objects.filter(pk=sitting).update(last_seen_at=at)
    judgement = Judgement(
        tuple=lease.tuple,
        participation=person,
        sitting_id=sitting,
        guideline_id=lease.guideline_now,
        order_shown=lease.order_shown,
        **answer,
    )
    submitted = _keep(person, lease, judgement)
    if fetch:
        return replace(submitted, held=[] if submitted.stopped else _fetched(person, at))
    if claim and not lease.others and not submitted.stopped and shut_for(person) is None:
        # Nobody is waited for here: this transaction holds a tuple that others may be waiting for.
        chosen = tuple_choose(person, wait=False)
        following = _hand(person, chosen, at) if chosen else None
        return replace(submitted, following=following)
    return submitted


def _keep(person: Participation, lease: Any, judgement: Judgement) -> Submission:
    was_live = lease.state == Lease.State.LIVE
    lease.participation = person
    lease_end(lease, Lease.State.ANSWERED)
    if lease.tuple.is_gold:
        judgement.status = Judgement.Status.GOLD
        judgement.save()
        feedback = gold_feedback(judgement)
        if feedback is not None:
            person = gold_weigh(person, judgement, feedback)
        return Submission(judgement, repeated=False, gold=feedback, stopped=_is_stopped(person))
    if lease.tuple.is_for_scores:
        judgement_settle(judgement, was_live=was_live)
    else:
        judgement.status = Judgement.Status.REPEAT
        judgement.save()
    return Submission(judgement, repeated=False, gold=None, stopped=_is_stopped(person))


def _is_stopped(person: Participation) -> bool:
    return person.state == Participation.State.STOPPED


@built_once
def _lease_answered(person: int, campaign: int, tuple_id: int, client_id: UUID) -> QuerySet[Lease]:
    """The lease under which the person saw the tuple, live or run out, and what is known of the answer, in one query.

    The tuple is locked until the transaction ends; what the subqueries read is the person's own, whom the caller holds.
    repeated: an answer of that client_id is kept already. taken_back: it was, and was undone. others: the person
    holds other tuples. guideline_now: the current guideline. last_sitting, last_seen_at: of the person, if any.
    """
    own = {"participation": person, "client_id": client_id}
    guidelines = Guideline.objects.filter(campaign=campaign).order_by("-version")
    sittings = Sitting.objects.filter(participation=person).order_by("-pk")
    return (
        Lease.objects.filter(participation=person, tuple=tuple_id)
        .select_related("tuple")
        .select_for_update(of=("tuple",), no_key=True)
        .annotate(
            repeated=Exists(Judgement.objects.filter(**own)),
            taken_back=Exists(JudgementRevision.objects.filter(**own)),
            others=Exists(_live(person).exclude(tuple=tuple_id)),
            guideline_now=Subquery(guidelines.values("pk")[:1]),
            last_sitting=Subquery(sittings.values("pk")[:1]),
            last_seen_at=Subquery(sittings.values("last_seen_at")[:1]),
        )
    )


def _refuse(lease: Any, best_slot: int | None, worst_slot: int | None, *, ties: bool) -> None:
    if lease.state == Lease.State.ANSWERED:
        raise RefusedError(_("You have answered this question already. Undo that judgement to change it."))
    if lease.state == Lease.State.SKIPPED:
        raise RefusedError(_("You have skipped these pairs, so you cannot answer this question any more."))
    if lease.taken_back:
        raise RefusedError(_("You undid this answer. Answer the question again."))
    if best_slot is None and worst_slot is None:
        if not ties:
            raise RefusedError(_("This campaign has no answer “too close to call”; choose two pairs."))
        return
    if best_slot == worst_slot:
        raise RefusedError(_("Best and worst are the same pair; choose two different pairs."))
    if not {best_slot, worst_slot} <= set(lease.order_shown):
        raise RefusedError(
            _("Best and worst must be two of the %(size)d pairs shown; load the page again."),
            size=len(lease.order_shown),
        )


def _not_given() -> RefusedError:
    return RefusedError(_("These pairs were not given to you; load the page again to get your own."))


def timings_likely(
    *, at: datetime, shown_at: datetime | None, first_input_at: datetime | None, active_ms: int | None
) -> dict[str, Any]:
    """What the page measured, as far as it can be true. A wrong clock never costs a judgement."""
    shown = shown_at if _likely(shown_at, at) else None
    touched = first_input_at if _likely(first_input_at, at) else None
    if shown and touched and touched < shown:
        touched = None
    longest = LONGEST_ON_SCREEN / timedelta(milliseconds=1)
    active = active_ms if active_ms is not None and 0 <= active_ms <= longest else None
    return {"shown_at": shown, "first_input_at": touched, "active_ms": active}


def _likely(moment: datetime | None, at: datetime) -> bool:
    return moment is not None and is_aware(moment) and at - LONGEST_ON_SCREEN <= moment <= at + CLOCK_SKEW


@transaction.atomic
def judgement_undo(*, participation: Participation, at: datetime, client_id: UUID | None = None) -> Lease:
    """Take the last judgement back; its tuple is on the person's screen again, in the same order.

    client_id says which judgement the page believes to be the last, so that a double click undoes once.
    The trials of a right gold answer leave the person's count. Raises RefusedError where there is no judgement, or it
    is a gold answer that was wrong: the person has seen the expected one.
    """
    person = participation_lock(participation)
    if client_id is not None:
        # What an earlier undo of this very judgement brought back, if it is still there.
        revised = person.revisions.filter(client_id=client_id).values("tuple")
        undone = _live(person.pk).filter(tuple__in=revised).select_related("tuple").first()
        if undone is not None:
            return undone
    # The last judgement, with the feedback on it if it is an answer to a gold tuple in use.
    if (shut := shut_for(person)) is not None:
        raise RefusedError(str(shut.label))
    last = person.judgements.select_related("tuple").order_by("-pk").first()
    if last is None:
        raise RefusedError(_("There is no judgement to undo yet."))
    if client_id is not None and client_id != last.client_id:
        raise RefusedError(_("Only the last judgement can be undone, and another came after that one."))
    feedback = gold_feedback(last)
    if feedback is not None and not feedback.right:
        raise RefusedError(str(EXPECTED_SEEN))
    live = list(_live(person.pk))
    released = live[1:][-1:]
    # Before the judgement goes: who settles the tuple holds it, and then wants this judgement.
    tuples_lock([last.tuple_id, *(lease.tuple_id for lease in released)])
    left_out = {"id", "tuple", "participation", "client_id"}
    fields = [field.attname for field in Judgement._meta.concrete_fields if field.name not in left_out]
    answer = {name: getattr(last, name) for name in fields}
    JudgementRevision.objects.create(
        tuple=last.tuple, participation=person, client_id=last.client_id, answer=answer, revised_at=at
    )
    if feedback is not None:
        gold_unweigh(person, last, feedback)
    last.delete()

    # What was on the screen waits behind the tuple that comes back; the last that was fetched ahead is released.
    # The caller holds the tuples' locks. live: what the person has. released: one of it, or none.
    _live(person.pk).filter(pk__in=[lease.pk for lease in released]).update(state=Lease.State.RELEASED)
    lease = person.leases.select_related("tuple").get(tuple=last.tuple)
    lease.state, lease.turn = Lease.State.LIVE, min(other.turn for other in [*live, lease]) - 1
    lease.expires_at = at + LEASE_TIME
    lease.save(update_fields=["state", "turn", "expires_at"])
    tuples_settle([last.tuple.pk, *(lease.tuple_id for lease in released)])
    return lease


@transaction.atomic
def tuple_skip(
    *,
    participation: Participation,
    tuple_id: int,
    reason: str,
    slot: int | None = None,
    note: str = "",
    at: datetime,
) -> Flag:
    """Leave a tuple to others, and say why; it is never asked of this person again."""
    lease = _lease_shown(participation, tuple_id)
    if lease.state == Lease.State.ANSWERED:
        raise RefusedError(_("You have answered this question already; undo that judgement to skip them."))
    flag = _flag(lease, Flag.Kind.SKIP, reason=reason, slot=slot, note=note, at=at)
    lease_end(lease, Lease.State.SKIPPED)
    tuples_lock([lease.tuple_id])
    tuples_settle([lease.tuple_id])
    return flag


@transaction.atomic
def tuple_flag(
    *,
    participation: Participation,
    tuple_id: int,
    reason: str,
    slot: int | None = None,
    note: str = "",
    at: datetime,
) -> Flag:
    """Tell the owner that something is wrong with a tuple, or with one pair of it, or comment on it; it stays on the
    screen.
    """
    lease = _lease_shown(participation, tuple_id)
    return _flag(lease, Flag.Kind.FLAG, reason=reason, slot=slot, note=note, at=at)


def _lease_shown(participation: Participation, tuple_id: int) -> Lease:
    """The lease of a tuple that the person was shown; locks the person's row."""
    person = participation_lock(participation)
    lease = person.leases.filter(tuple=tuple_id).select_related("tuple").first()
    if lease is None:
        raise _not_given()
    return lease


def _flag(lease: Lease, kind: Flag.Kind, *, reason: str, slot: int | None, note: str, at: datetime) -> Flag:
    if reason not in FlagReason.values:
        raise RefusedError(_("Choose a reason from the list."))
    if reason == FlagReason.COMMENT:
        if kind == Flag.Kind.SKIP:
            raise RefusedError(_("A comment skips nothing. Flag the pairs to comment on them."))
        if not note.strip():
            raise RefusedError(_("Write the comment into the note."))
    dataset_require_active(lease.participation.campaign.dataset)
    if slot is not None and slot not in lease.order_shown:
        raise RefusedError(_("Choose one of the pairs of the question."))
    said = {"reason": reason, "slot": slot, "note": note.strip()[:500]}
    flag, _made = Flag.objects.update_or_create(
        tuple=lease.tuple,
        participation=lease.participation,
        kind=kind,
        defaults=said | {"resolved_by": None, "resolved_at": None},
        create_defaults=said | {"created_at": at},
    )
    return flag
