"""Erasing what says who an annotator was, while the judgements stay under a name that says nothing."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from annotation.models import (
    Campaign,
    CrowdAnswers,
    CrowdPerson,
    CrowdSubmission,
    Flag,
    NormingComment,
    Participation,
)
from annotation.results.works import bundles_withdraw
from curation.models import Dataset, User
from curation.people.audit import Action, audit_record
from curation.people.members import account_erase


@transaction.atomic
def person_erase(*, user: User, by: User, at: datetime) -> str:
    """Erase the personal data of an annotator; the name that their judgements go by from now on.

    Gone are name, address and password, the platform's ids, what they said about themself, the notes and comments that
    they wrote, and the kept bundles that hold these. Judgements, times and who agreed to which consent stay. Raises
    UserError where `by` may not ask for it.
    """
    participations = Participation.objects.filter(user=user)
    takes_part = Q(campaigns__participations__user=user) | Q(memberships__user=user)
    datasets = list(Dataset.objects.filter(takes_part).distinct())
    itself = user == by
    name = account_erase(user=user, by=by, at=at)
    people = CrowdPerson.objects.filter(participation__in=participations)
    CrowdAnswers.objects.filter(person__in=people).delete()
    CrowdSubmission.objects.filter(person__in=people).update(study="", submission="")
    people.update(external_id="")
    Flag.objects.filter(participation__in=participations).update(note="")
    NormingComment.objects.filter(participation__in=participations).delete()
    campaigns = Campaign.objects.filter(participations__user=user)
    bundles_withdraw(campaigns)
    # And those that somebody asks for before this is committed, which hold what is still to be read until then.
    transaction.on_commit(lambda: bundles_withdraw(campaigns.all()), robust=True)
    for dataset in datasets:
        audit_record(
            dataset=dataset,
            action=Action.PERSON_ERASED,
            by=user if itself else by,
            subject=name,
        )
    return name
