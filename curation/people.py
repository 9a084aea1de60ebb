"""Members, invitations, accounts, wrong passwords and tokens: who belongs to a dataset and how they came."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Case, F, IntegerField, QuerySet, Value, When
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from rest_framework.authtoken.models import Token

from curation.archiving import dataset_require_active
from curation.errors import UserError
from curation.models import Dataset, Invitation, LoginFailure, Membership, Role, User

# Whoever guesses waits. Five wrong passwords from one place close the name to that place, fifty from anywhere
# close it to all: more than a forgetful person needs, far too few to find a password of ten characters.
FAILURES_REMEMBERED = timedelta(minutes=15)
FAILURES_FROM_ONE_PLACE = 5
FAILURES_FROM_ANYWHERE = 50


def members_of(dataset: Dataset) -> QuerySet[Membership]:
    """Owners first, then curators, then annotators, each by name."""
    places = [When(role=role, then=Value(place)) for place, role in enumerate(reversed(Role.values))]
    return dataset.memberships.select_related("user").order_by(
        Case(*places, output_field=IntegerField()), "user__username"
    )


def invitations_of(dataset: Dataset) -> QuerySet[Invitation]:
    return dataset.invitations.select_related("created_by", "dataset")


def invitation_by_token(token: str) -> Invitation | None:
    return Invitation.objects.select_related("dataset").filter(token_digest=invitation_digest(token)).first()


def member_set_role(*, membership: Membership, role: str) -> Membership:
    """Change what a member may do. The last owner stays one: without an owner, nobody could be admitted."""
    with transaction.atomic():
        _require_another_owner(membership, unless=role == Role.OWNER)
        membership.role = role
        membership.save(update_fields=["role"])
    return membership


def member_remove(*, membership: Membership) -> None:
    """Take someone out of a dataset. What the person judged or made stays."""
    with transaction.atomic():
        _require_another_owner(membership)
        membership.delete()


def member_restore(*, dataset: Dataset, user: User, role: str) -> Membership:
    """Put back someone who was just removed, unless the person has come back by an invitation meanwhile."""
    dataset_require_active(dataset)
    membership, _made = Membership.objects.get_or_create(dataset=dataset, user=user, defaults={"role": role})
    return membership


def _require_another_owner(membership: Membership, *, unless: bool = False) -> None:
    # The dataset's row is locked first: two owners who demote each other at once must not both succeed.
    dataset_require_active(Dataset.objects.select_for_update().get(pk=membership.dataset_id))
    membership.refresh_from_db()
    owners = Membership.objects.filter(dataset=membership.dataset_id, role=Role.OWNER)
    if membership.role == Role.OWNER and not unless and not owners.exclude(pk=membership.pk).exists():
        raise UserError(
            _("%(person)s is the only owner of this dataset; make another member an owner first.")
            % {"person": membership.user}
        )


def invitation_create(
    *, dataset: Dataset, role: str, people: int, days: int, by: User, at: datetime, note: str = ""
) -> tuple[Invitation, str]:
    """Make an invitation. Returns it and its token, which is kept nowhere: only a digest of it is stored."""
    dataset_require_active(dataset)
    token = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        dataset=dataset,
        role=role,
        token_digest=invitation_digest(token),
        note=note,
        uses_left=people,
        created_by=by,
        expires_at=at + timedelta(days=days),
    )
    return invitation, token


def invitation_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def invitation_revoke(*, invitation: Invitation, at: datetime) -> None:
    """End an invitation. Whoever came by it stays; an earlier revocation keeps its time."""
    dataset_require_active(invitation.dataset)
    Invitation.objects.filter(pk=invitation.pk, revoked_at=None).update(revoked_at=at)


def invitation_refusal(invitation: Invitation, *, at: datetime) -> str:
    """Why the invitation admits nobody now, as one sentence, or nothing if it does."""
    if invitation.revoked_at:
        sentence = _("This invitation to %(dataset)s was revoked; ask an owner for a new one.")
    elif invitation.expires_at <= at:
        sentence = _("This invitation to %(dataset)s expired on %(date)s; ask an owner for a new one.")
    elif invitation.dataset.archived:
        sentence = _("%(dataset)s is archived, so nobody can join it; ask an owner to bring it back.")
    elif invitation.uses_left == 0:
        sentence = _("This invitation to %(dataset)s is used up; ask an owner for a new one.")
    else:
        return ""
    return sentence % {
        "dataset": invitation.dataset.name,
        "date": date_format(invitation.expires_at, "j F Y"),
    }


@transaction.atomic
def invitation_accept(*, invitation: Invitation, user: User, at: datetime) -> Membership:
    """Make `user` a member and spend one use. Whoever is as much already spends nothing and loses nothing."""
    # Locked, so that one person who opens the link in two tabs at once spends one use, not two.
    locked = Invitation.objects.select_for_update(of=("self",)).select_related("dataset")
    invitation = locked.get(pk=invitation.pk)
    dataset_require_active(invitation.dataset)
    membership = Membership.objects.filter(dataset=invitation.dataset, user=user).first()
    if membership and not role_is_more(invitation.role, than=membership.role):
        return membership
    _invitation_spend(invitation, at=at)
    membership, _made = Membership.objects.update_or_create(
        dataset=invitation.dataset, user=user, defaults={"role": invitation.role}
    )
    return membership


def _invitation_spend(invitation: Invitation, *, at: datetime) -> None:
    usable = Invitation.objects.filter(pk=invitation.pk, uses_left__gt=0, expires_at__gt=at, revoked_at=None)
    if not usable.update(uses_left=F("uses_left") - 1, admitted=F("admitted") + 1):
        raise UserError(invitation_refusal(invitation, at=at))


def role_is_more(role: str, *, than: str) -> bool:
    return Role.values.index(role) > Role.values.index(than)


def account_create(*, invitation: Invitation, username: str, password: str, at: datetime) -> User:
    """A new account for someone who came by an invitation. Where that is refused, no account is made."""
    try:
        with transaction.atomic():
            user = User.objects.create_user(username=username, password=password)
            invitation_accept(invitation=invitation, user=user, at=at)
    except IntegrityError as error:
        raise UserError(_("The name %(name)s is taken; choose another.") % {"name": username}) from error
    return user


def login_is_closed(*, username: str, address: str | None, at: datetime) -> bool:
    """Whether too many wrong passwords came for this name within the last quarter of an hour."""
    recent = LoginFailure.objects.filter(name_digest=_name_digest(username), at__gt=at - FAILURES_REMEMBERED)
    addresses = list(recent.values_list("address", flat=True)[:FAILURES_FROM_ANYWHERE])
    return len(addresses) >= FAILURES_FROM_ANYWHERE or addresses.count(address) >= FAILURES_FROM_ONE_PLACE


def login_failure_record(*, username: str, address: str | None, at: datetime) -> None:
    """Remember a wrong password, and forget the old ones."""
    LoginFailure.objects.filter(at__lte=at - FAILURES_REMEMBERED).delete()
    LoginFailure.objects.create(name_digest=_name_digest(username), address=address, at=at)


def login_failures_forget(*, username: str, address: str | None) -> None:
    """The right password was given: earlier slips from this place no longer count."""
    LoginFailure.objects.filter(name_digest=_name_digest(username), address=address).delete()


def _name_digest(username: str) -> str:
    # People type passwords into the wrong field: what was typed is not kept in the clear.
    return hashlib.sha256(username.strip().lower().encode()).hexdigest()


def api_token_renew(*, user: User) -> str:
    """A new token for the API. An earlier one stops working at once."""
    with transaction.atomic():
        Token.objects.filter(user=user).delete()
        return str(Token.objects.create(user=user).key)


def api_token_revoke(*, user: User) -> None:
    Token.objects.filter(user=user).delete()
