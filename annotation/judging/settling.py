"""What counts. One function decides it, in the transaction of whatever changed the facts.

Locks are taken in one order everywhere, so that no two people wait for each other: first the person's row,
then the rows of tuples by primary key. On gold tuples and repeats nothing changes; only an answer to one locks it.
"""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.timezone import now
from django.utils.translation import gettext as _

from annotation.bws.annotators.gold_gate import TRIALS_PER_GOLD, GateState, gold_trials_right
from annotation.campaigns.rounds import campaign_record, tuples_lock
from annotation.judging.gold import GoldFeedback
from annotation.models import Campaign, Judgement, Lease, Participation, Tuple
from annotation.reasons import gold_reason
from annotation.results.annotators import gate_of
from curation.foundation.errors import UserError
from curation.foundation.statements import built_once, row_insert, row_update, updates_once
from curation.models import User
from curation.people.audit import Action
from curation.people.webhooks.events import Event, event_happened

# A person's whole work is settled in pieces, so that no statement names more rows than SQLite takes.
TUPLES_AT_ONCE = 1000


def participation_lock(participation: Participation) -> Participation:
    """The person's row as it is now, locked until the transaction ends: two tabs are one person.

    Read what depends on the lock in its own statements. A subquery in this one would show PostgreSQL's
    snapshot from before the wait.
    """
    person = _locked.first(participation.pk)
    if person is None:
        raise Participation.DoesNotExist
    return person


@built_once
def _locked(person: int) -> QuerySet[Participation]:
    people = Participation.objects.select_for_update(of=("self",), no_key=True)
    return people.select_related("campaign__dataset").filter(pk=person)


def tuples_settle(tuple_ids: Collection[int]) -> None:
    """Decide which judgements of these tuples count, and write the tuples' counters.

    Of the judgements by people who are not excluded, the first `required` by arrival count; the others are
    extra. The caller holds the tuples' locks.
    """
    rows = (
        Judgement.objects.filter(tuple__in=tuple_ids, tuple__is_gold=False, tuple__repeats=None)
        .order_by("tuple", "pk")
        .values_list("pk", "tuple", "tuple__required", "participation__excluded", "status")
    )
    earlier: dict[int, int] = defaultdict(int)
    changed: dict[int, Judgement.Status] = {}
    for pk, tuple_id, required, excluded, before in rows:
        status = _status(excluded=excluded, earlier=earlier[tuple_id], required=required)
        earlier[tuple_id] += not excluded
        if status != before:
            changed[pk] = status
    for status in sorted(set(changed.values())):
        moved = [judgement for judgement, new in changed.items() if new == status]
        Judgement.objects.filter(pk__in=moved).update(status=status)
    Tuple.objects.for_scores().filter(pk__in=tuple_ids).update(
        collected=_number_of(Judgement.objects.filter(status=Judgement.Status.COLLECTED)),
        leased=_number_of(Lease.objects.filter(state=Lease.State.LIVE)),
    )


def judgement_settle(judgement: Judgement, *, was_live: bool) -> None:
    """Keep a new answer, and settle its tuple by what its counters say.

    It comes last, so it changes nothing about those before it, and a screenful of people need not read them again.
    was_live: the tuple was on the person's screen until now. The caller holds the person's lock and the tuple's, and
    read `judgement.tuple` with it.
    """
    judged = judgement.tuple
    judgement.status = _status(
        excluded=judgement.participation.excluded, earlier=judged.collected, required=judged.required
    )
    row_insert(judgement)
    counts = judgement.status == Judgement.Status.COLLECTED
    _tuple_answered(judged.pk, judged.collected + counts, int(was_live))


@updates_once
def _tuple_answered(tuple_id: int, collected: int, ended: int) -> tuple[QuerySet[Tuple], dict[str, Any]]:
    return Tuple.objects.filter(pk=tuple_id), {"collected": collected, "leased": F("leased") - ended}


def _status(*, excluded: bool, earlier: int, required: int) -> Judgement.Status:
    """earlier: how many judgements of the tuple came before this one, by people who are not excluded."""
    if excluded:
        return Judgement.Status.EXCLUDED
    return Judgement.Status.COLLECTED if earlier < required else Judgement.Status.EXTRA


def _number_of(rows: QuerySet[Any]) -> Coalesce:
    """How many of `rows` belong to the tuple of the outer statement."""
    counts = rows.filter(tuple=OuterRef("pk")).order_by().values("tuple").annotate(number=Count("pk"))
    return Coalesce(Subquery(counts.values("number")), 0)


def lease_end(lease: Lease, state: Lease.State) -> None:
    """End a lease, live or released; the next of the person's live ones is then on the screen."""
    lease.state = state
    row_update(lease, "state")


@transaction.atomic
def participation_stop(
    *,
    participation: Participation,
    reason: str,
    exclude: bool = False,
    by: User | None = None,
    rule: bool = False,
    gold: bool = False,
) -> Participation:
    """Hand the person nothing more; with `exclude`, count none of their judgements either.

    rule: whether a rule of the campaign stops them, and nobody asked for it. gold: whether that is the gold rule.
    """
    if not reason.strip():
        raise UserError(_("Give a reason. The person reads why they were stopped."))
    person = participation_lock(participation)
    already = person.state == Participation.State.STOPPED
    person.state = Participation.State.STOPPED
    person.excluded = person.excluded or exclude
    person.reason, person.stopped_by_gold = reason.strip(), gold
    person.save(update_fields=["state", "excluded", "reason", "stopped_by_gold"])
    _settle_again(person)
    action = Action.ANNOTATOR_EXCLUDED if person.excluded else Action.ANNOTATOR_STOPPED
    _record(person, action, by=by, rule=rule, reason=person.reason)
    if not already:
        event_happened(
            dataset=person.campaign.dataset_id,
            event=Event.ANNOTATOR_STOPPED,
            key=f"participation {person.pk} at {now().isoformat()}",
            data={"campaign": person.campaign_id, "participation": person.pk, "rule": rule, "gold": gold},
        )
    return person


def gold_weigh(person: Participation, judgement: Judgement, feedback: GoldFeedback) -> Participation:
    """Add an answer to the person's gold trials, and stop the person if the gate says so.

    The caller holds the person's lock.
    """
    person.gold_trials += TRIALS_PER_GOLD
    person.gold_right += gold_trials_right(
        judgement.best_slot, judgement.worst_slot, feedback.best_slot, feedback.worst_slot
    )
    person.save(update_fields=["gold_trials", "gold_right"])
    if person.state == Participation.State.ACTIVE and gate_of(person).state is GateState.STOPPED:
        reason = gold_reason(person.trials_since, person.right_since, person.campaign.gold_threshold)
        return participation_stop(participation=person, reason=reason, exclude=True, rule=True, gold=True)
    return person


def gold_unweigh(person: Participation, judgement: Judgement, feedback: GoldFeedback) -> None:
    """Take an answer that is undone out of the person's gold trials, and out of those that a reinstatement forgave.

    The caller holds the person's lock.
    """
    right = gold_trials_right(
        judgement.best_slot, judgement.worst_slot, feedback.best_slot, feedback.worst_slot
    )
    person.gold_trials -= TRIALS_PER_GOLD
    person.gold_right -= right
    if judgement.pk <= person.forgiven_until:
        person.forgiven_trials -= TRIALS_PER_GOLD
        person.forgiven_right -= right
    person.save(update_fields=["gold_trials", "gold_right", "forgiven_trials", "forgiven_right"])


@transaction.atomic
def participation_reinstate(
    *, participation: Participation, by: User | None = None, rule: bool = False
) -> Participation:
    """Let the person go on, and their judgements count again as far as they are still required.

    The gate starts afresh: it would otherwise stop the person at the next gold answer. rule: nobody decided it, because
    the person had left and came back; the gate then goes on where it was.
    """
    person = participation_lock(participation)
    if not rule:
        person.forgiven_trials, person.forgiven_right = person.gold_trials, person.gold_right
        last = person.judgements.filter(status=Judgement.Status.GOLD).order_by("pk").last()
        person.forgiven_until = last.pk if last else 0
        person.save(update_fields=["forgiven_trials", "forgiven_right", "forgiven_until"])
    return participation_reopen(person, by=by, rule=rule)


def participation_reopen(person: Participation, *, by: User | None, rule: bool = False) -> Participation:
    """Let a stopped person go on; the gate keeps what it knows. The caller holds the person's lock."""
    stopped = person.state == Participation.State.STOPPED
    person.state, person.stopped_by_gold = Participation.State.ACTIVE, False
    person.excluded, person.reason = False, ""
    person.save(update_fields=["state", "excluded", "reason", "stopped_by_gold"])
    _settle_again(person)
    if stopped:
        _record(person, Action.ANNOTATOR_REINSTATED, by=by, rule=rule)
    return person


def _record(
    person: Participation, action: Action, *, by: User | None, rule: bool = False, reason: str = ""
) -> None:
    """In the log, with how many judgements of the person were settled again."""
    judged = person.judgements.filter(tuple__in=Tuple.objects.for_scores()).count()
    name = person.user.username
    campaign_record(
        person.campaign, action, by=by, rule=rule, annotator=name, judgements=judged, reason=reason
    )


def _settle_again(person: Participation) -> None:
    """Take back what the person holds, and settle it and all that they answered."""
    held = person.leases.filter(state__in=[Lease.State.LIVE, Lease.State.ANSWERED], tuple__is_gold=False)
    tuple_ids = list(held.order_by("tuple").values_list("tuple", flat=True))
    person.leases.filter(state=Lease.State.LIVE).update(state=Lease.State.RELEASED)
    for start in range(0, len(tuple_ids), TUPLES_AT_ONCE):
        some = tuple_ids[start : start + TUPLES_AT_ONCE]
        tuples_lock(some)
        tuples_settle(some)


def leases_expire(*, at: datetime, campaign: Campaign | None = None) -> int:
    """Release the leases that have run out, of one campaign or of all; how many that were."""
    overdue = Lease.objects.filter(state=Lease.State.LIVE, expires_at__lte=at)
    if campaign is not None:
        overdue = overdue.filter(participation__campaign=campaign)
    people = overdue.order_by("participation").values_list("participation", flat=True).distinct()
    released = 0
    for participation_id in list(people):
        with transaction.atomic():
            # A locked row belongs to somebody who judges at this moment: the next sweep looks again.
            locked = Participation.objects.select_for_update(no_key=True, skip_locked=True)
            if locked.filter(pk=participation_id).first() is None:
                continue
            own = Lease.objects.filter(
                participation=participation_id, state=Lease.State.LIVE, expires_at__lte=at
            )
            tuple_ids = list(own.order_by("tuple").values_list("tuple", flat=True))
            tuples_lock(tuple_ids)
            own.update(state=Lease.State.RELEASED)
            tuples_settle(tuple_ids)
            released += len(tuple_ids)
    return released
