"""Entering a campaign by its crowd's link.

One account per external id and campaign, without a password. Who knows somebody's external id cannot enter as them: an
account that exists goes on in the browser in which it began, and elsewhere only with one of its submissions' ids, which
the platform draws for each submission and tells nobody but the participant.
"""

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.about import LABELS
from annotation.judging.assignment import participation_join
from annotation.judging.settling import participation_reinstate
from annotation.models import (
    Campaign,
    Crowd,
    CrowdAnswers,
    CrowdConsent,
    CrowdPerson,
    CrowdSubmission,
    Participation,
)
from curation.foundation.errors import UserError
from curation.models import User
from curation.people.accounts.guessing import arrival_count

LONGEST_ID = 200
NAME_BYTES = 5
ABOUT = tuple(LABELS)
Outcome = CrowdSubmission.Outcome


@dataclass(frozen=True)
class Arrival:
    """What the link said about somebody: "" where the platform has no such parameter."""

    external_id: str
    study: str = ""
    submission: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


class EntryRefusedError(UserError):
    """Somebody cannot enter; sending the same again will not help."""

    status = 403


def crowd_by_token(token: str) -> Crowd | None:
    return Crowd.objects.select_related("campaign__dataset").filter(token=token).first()


def arrival_read(crowd: Crowd, query: Mapping[str, str]) -> Arrival:
    """Who comes, from the parameters of the link. Raises UserError where the id is missing, or cannot be one."""
    named = {
        "external_id": crowd.external_id_parameter,
        "study": crowd.study_parameter,
        "submission": crowd.submission_parameter,
    }
    values = {field: query.get(name, "").strip() if name else "" for field, name in named.items()}
    if not values["external_id"]:
        raise UserError(
            _(
                "This link lacks your id (%(name)s). Open the study from the page of the platform that sent you."
            ),
            name=crowd.external_id_parameter,
        )
    for field, value in values.items():
        if len(value) > LONGEST_ID or not value.isprintable() or "{{" in value:
            raise UserError(
                _(
                    "The part %(name)s of this link is not valid. Open the study from the page of the platform."
                ),
                name=named[field],
            )
    return Arrival(**values)


def entry_refusal(crowd: Crowd) -> str:
    """Why nobody new can enter now, as one sentence; nothing if they can."""
    if crowd.campaign.dataset.archived or crowd.campaign.state == Campaign.State.CLOSED:
        return _(
            "This study has ended. Return your submission on the platform; you need not do anything else."
        )
    if not crowd.is_open or crowd.campaign.state != Campaign.State.OPEN:
        return _(
            "This study is not open at the moment. Try again later, or return your submission on the platform."
        )
    if crowd.people.count() >= crowd.places:
        return _("All places of this study are taken. Return your submission on the platform.")
    return ""


def consent_newest(crowd: Crowd) -> CrowdConsent | None:
    return crowd.consents.first()


def person_known(crowd: Crowd, arrival: Arrival) -> CrowdPerson | None:
    people = crowd.people.select_related("participation__user", "participation__campaign__dataset", "consent")
    return people.filter(external_id=arrival.external_id).first()


def crowd_enter(
    *,
    crowd: Crowd,
    arrival: Arrival,
    agreed: int,
    at: datetime,
    user: User | None = None,
    address: str = "",
    about: Mapping[str, str] | None = None,
) -> CrowdPerson:
    """Let somebody in who agreed to that version of the consent; their account is made when they first come.

    user: who is logged in. address: the visitor's, which entries are counted by. about: what people say of themselves.
    Raises EntryRefusedError, or UserError where the consent has changed in the meantime or too many
    people came from one address.
    """
    known = person_known(crowd, arrival)
    if known is None or known.participation.user != user:
        # In its own transaction: a refusal afterwards does not take the count back.
        arrival_count(name=f"{crowd.pk} {arrival.external_id}", address=address, at=at)
    return _enter(crowd, arrival, agreed=agreed, at=at, user=user, about=about or {})


@transaction.atomic
def _enter(
    crowd: Crowd, arrival: Arrival, *, agreed: int, at: datetime, user: User | None, about: Mapping[str, str]
) -> CrowdPerson:
    # Locked, so that two tabs make one account, and no more people enter than there are places.
    locked = Crowd.objects.select_for_update(of=("self",)).select_related("campaign__dataset")
    crowd = locked.get(pk=crowd.pk)
    consent = consent_newest(crowd)
    if consent is None or consent.version != agreed:
        raise UserError(_("The consent has changed in the meantime. Read it again."))
    person = person_known(crowd, arrival)
    if person is None:
        if refusal := entry_refusal(crowd):
            raise EntryRefusedError(refusal)
        # create_user without a password sets one that no text equals.
        account = User.objects.create_user(username=f"crowd-{secrets.token_hex(NAME_BYTES)}")
        participation = participation_join(campaign=crowd.campaign, user=account)
        participation.quota = crowd.screens
        participation.save(update_fields=["quota"])
        person = CrowdPerson.objects.create(
            crowd=crowd,
            participation=participation,
            external_id=arrival.external_id,
            consent=consent,
            consented_at=at,
        )
    else:
        # Otherwise nothing but the external id says that this is the person.
        begun = person.submissions.filter(submission=arrival.submission)
        if person.participation.user != user and not (arrival.submission and begun.exists()):
            raise EntryRefusedError(
                _(
                    "Somebody with your id has taken part already. To go on, use the browser in which you began; "
                    "otherwise, write to the people who run this study."
                )
            )
        if person.consent_id != consent.pk:
            person.consent, person.consented_at = consent, at
            person.save(update_fields=["consent", "consented_at"])
    # A submission that is new gets a row. Who had left early and is sent again goes on where they were.
    last = person.submissions.last()
    begun = person.submissions.filter(submission=arrival.submission)
    if last is None or (arrival.submission and not begun.exists()):
        CrowdSubmission.objects.create(
            person=person, study=arrival.study, submission=arrival.submission, entered_at=at
        )
        stopped = person.participation.state == Participation.State.STOPPED
        if last is not None and last.outcome == Outcome.LEFT and stopped:
            participation_reinstate(participation=person.participation, rule=True)
    if crowd.asks_about_person:
        about_save(person=person, about=about)
    return person


def about_save(*, person: CrowdPerson, about: Mapping[str, str]) -> None:
    """Keep what a person says about themself; nothing is kept where they say nothing."""
    said = {name: about.get(name, "").strip() for name in ABOUT}
    if any(said.values()):
        CrowdAnswers.objects.update_or_create(person=person, defaults=said)


def about_delete(*, person: CrowdPerson) -> None:
    CrowdAnswers.objects.filter(person=person).delete()
