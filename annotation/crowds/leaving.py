"""Leaving a campaign that one entered by a crowd's link: the outcome, its code, and what becomes of the work.

The outcome is read from judgements that are stored, in one transaction with the code: no code is shown before the
answers are safe. It never depends on whether judgements count, nor does it decide about pay.
"""

from datetime import datetime, timedelta
from urllib.parse import quote

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.judging.choosing import is_something_open, quota_is_full
from annotation.judging.settling import participation_lock, participation_stop
from annotation.models import Crowd, CrowdSubmission, Participation
from curation.foundation.errors import UserError
from curation.models import User

Outcome = CrowdSubmission.Outcome


def submission_now(participation: Participation) -> CrowdSubmission | None:
    """The submission that the person is at or ended last; None for who did not come by a crowd's link."""
    mine = CrowdSubmission.objects.filter(person__participation=participation)
    return mine.select_related("person__crowd").order_by("-pk").first()


def outcome_of(participation: Participation) -> Outcome:
    """How the person's part would end at this moment."""
    if quota_is_full(participation, judged=True):
        return Outcome.COMPLETED
    return Outcome.STOPPED if participation.state == Participation.State.STOPPED else Outcome.LEFT


@transaction.atomic
def submission_end(*, participation: Participation, at: datetime, by: User | None = None) -> CrowdSubmission:
    """End the person's submission, once: the same again answers the same.

    Who could still go on leaves early: what they hold is open for others at once, and what they judged is required
    again where the crowd's settings say so. by: a curator who ends it instead of the person.
    Raises UserError for who did not come by a crowd's link.
    """
    person = participation_lock(participation)
    submission = submission_now(person)
    if submission is None:
        raise UserError(
            _("You did not come to this campaign by the link of a study, so there is no code to get.")
        )
    if submission.outcome:
        return submission
    crowd = submission.person.crowd
    outcome = outcome_of(person)
    if outcome == Outcome.LEFT and person.state == Participation.State.ACTIVE:
        early = is_something_open(person)
        reason = _("Left early.") if early else _("No more tuples were left for this person.")
        exclude = early and crowd.leavers_judged_again
        participation_stop(participation=person, reason=reason, exclude=exclude, by=by, rule=by is None)
    submission.outcome, submission.ended_at = outcome, at
    submission.code = code_of(crowd, outcome)
    submission.save(update_fields=["outcome", "ended_at", "code"])
    return submission


def code_of(crowd: Crowd, outcome: Outcome) -> str:
    return {
        Outcome.COMPLETED: crowd.code_completed,
        Outcome.STOPPED: crowd.code_stopped,
        Outcome.LEFT: crowd.code_left,
    }[outcome]


def completion_address(submission: CrowdSubmission) -> str:
    """Where the platform takes the person back; "" where it has no such address."""
    template = submission.person.crowd.completion_address
    code, number = (quote(text, safe="") for text in (submission.code, submission.submission))
    return template.replace("{code}", code).replace("{submission}", number)


def submissions_end_overdue(*, at: datetime) -> int:
    """End the submissions of people who closed the page and answer no more; how many that were."""
    ended = 0
    for crowd in Crowd.objects.filter(people__submissions__outcome="").distinct():
        # People with an open submission who entered before that time, and were last seen before it.
        before = at - timedelta(hours=crowd.hours)
        underway = crowd.people.filter(submissions__outcome="", submissions__entered_at__lt=before)
        seen = underway.annotate(seen_at=Max("participation__sittings__last_seen_at"))
        for person in seen.exclude(seen_at__gte=before).select_related("participation__campaign__dataset"):
            submission_end(participation=person.participation, at=at)
            ended += 1
    return ended
