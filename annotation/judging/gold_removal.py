"""Take a gold tuple that people have answered out of use, or put it back, and let the gold rule decide again."""

from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.campaigns.rounds import campaign_lock, campaign_record, tuples_lock
from annotation.judging.settling import participation_lock, participation_reopen, participation_stop
from annotation.models import Campaign, GoldAnswer, Lease, Participation, Tuple
from annotation.reasons import gold_reason
from annotation.results.gold_doubts import gate_stops, gold_answers, gold_counts
from curation.foundation.errors import UserError
from curation.models import User
from curation.people.access import dataset_require_active
from curation.people.audit import Action


@dataclass(frozen=True)
class GateAgain:
    """Whom the gold rule treats otherwise than before."""

    reinstated: list[Participation]
    stopped: list[Participation]


@transaction.atomic
def gold_withdraw(*, gold: Tuple, by: User | None = None) -> GateAgain:
    """Ask nobody this gold tuple any more, and weigh no answer to it.

    People whom the gold rule would not have stopped without it may go on, and their judgements count again; people whom
    it stops without it are stopped. `gold_restore` undoes all of that.
    """
    return _use(gold, withdrawn=True, by=by)


@transaction.atomic
def gold_restore(*, gold: Tuple, by: User | None = None) -> GateAgain:
    """Put a gold tuple back that was taken out of use. Its answers weigh again, those given in the meantime too."""
    return _use(gold, withdrawn=False, by=by)


def _use(gold: Tuple, *, withdrawn: bool, by: User | None) -> GateAgain:
    campaign = campaign_lock(gold.campaign)
    dataset_require_active(campaign.dataset)
    if campaign.state == Campaign.State.CLOSED:
        raise UserError(
            _("“%(name)s” is closed. Open it again to change its attention checks."), name=campaign.name
        )
    answer = GoldAnswer.objects.get(tuple=gold)
    if answer.withdrawn == withdrawn:
        return GateAgain([], [])
    answer.withdrawn = withdrawn
    answer.save(update_fields=["withdrawn"])
    answered = gold.judgements.order_by("participation").values_list("participation", flat=True)

    # All people are locked before any tuple, and the tuples in one order, so that nobody waits in a circle.
    locked = [participation_lock(Participation(pk=pk)) for pk in list(answered)]
    answers = gold_answers(campaign)
    counts = {person.pk: gold_counts(answers, person) for person in locked}
    reinstated = [
        person for person in locked if person.stopped_by_gold and not gate_stops(counts[person.pk], campaign)
    ]
    stopped = [
        person
        for person in locked
        if person.state == Participation.State.ACTIVE and gate_stops(counts[person.pk], campaign)
    ]
    held = Lease.objects.filter(
        participation__in=reinstated + stopped,
        state__in=[Lease.State.LIVE, Lease.State.ANSWERED],
        tuple__is_gold=False,
    )
    tuples_lock(held.values_list("tuple", flat=True))
    for person in locked:
        again = counts[person.pk]
        person.gold_trials, person.gold_right = again.trials, again.right
        person.forgiven_trials = again.trials - again.trials_since
        person.forgiven_right = again.right - again.right_since
        person.save(update_fields=["gold_trials", "gold_right", "forgiven_trials", "forgiven_right"])
    for person in reinstated:
        participation_reopen(person, by=by)
    for person in stopped:
        found = counts[person.pk]
        reason = gold_reason(found.trials_since, found.right_since, campaign.gold_threshold)
        participation_stop(participation=person, reason=reason, exclude=True, rule=True, gold=True)

    action = Action.GOLD_REMOVED if withdrawn else Action.GOLD_ADDED
    campaign_record(campaign, action, by=by, tuple=gold.number)
    return GateAgain(reinstated, stopped)
