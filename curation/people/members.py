"""Members, invitations and accounts: who belongs to a dataset and how they came."""

import hashlib
import secrets
from datetime import datetime, timedelta

from allauth.socialaccount.models import SocialAccount
from django.db import IntegrityError, transaction
from django.db.models import Case, Exists, F, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.foundation.roles import Role
from curation.models import ApiToken, Dataset, Invitation, InvitationBar, Mail, Membership, SecondFactor, User
from curation.people.access import dataset_lock, dataset_require_active
from curation.people.audit import Action, audit_person_rename, audit_record

ERASED_NAME_BYTES = 5
INVITATIONS_SHOWN = 50


def members_of(dataset: Dataset) -> QuerySet[Membership]:
    """Owners first, then curators, then annotators, each by name."""
    ranks = [When(role=role, then=Value(rank)) for rank, role in enumerate(reversed(Role.values))]
    by_role = Case(*ranks, output_field=IntegerField())
    return dataset.memberships.select_related("user").order_by(by_role, "user__username")


def invitations_of(dataset: Dataset) -> QuerySet[Invitation]:
    return _with_inviter(dataset.invitations.select_related("created_by", "dataset", "mail"))


def invitations_shown(dataset: Dataset, *, at: datetime) -> list[tuple[Invitation, str]]:
    """The newest invitations, each with why it admits nobody now; nothing if it does."""
    newest = invitations_of(dataset)[:INVITATIONS_SHOWN]
    return [(invitation, invitation_refusal(invitation, at=at)) for invitation in newest]


def invitation_by_token(token: str) -> Invitation | None:
    invitations = Invitation.objects.select_related("dataset").filter(token_digest=invitation_digest(token))
    return _with_inviter(invitations).first()


def _with_inviter(invitations: QuerySet[Invitation]) -> QuerySet[Invitation]:
    """With `inviter_owns`: whether the person who made the invitation might make it now."""
    owners = Membership.objects.filter(dataset=OuterRef("dataset"), role=Role.OWNER)
    may = Q(created_by__is_active=True) & (
        Q(created_by__is_superuser=True) | Exists(owners.filter(user=OuterRef("created_by")))
    )
    return invitations.annotate(inviter_owns=may)


@transaction.atomic
def member_give(*, dataset: Dataset, user: User, role: str) -> Membership:
    """Make somebody a member because of a group of theirs at the provider of single sign-on: by a rule of the site."""
    dataset_require_active(dataset)
    membership = Membership.objects.create(dataset=dataset, user=user, role=role)
    _recorded(membership, Action.MEMBER_JOINED, None, role=role, rule=True)
    return membership


@transaction.atomic
def member_set_role(
    *, membership: Membership, role: str, at: datetime, by: User | None = None, rule: bool = False
) -> None:
    """Change what a member may do. The last owner stays one: without an owner, nobody could be admitted.

    rule: whether a rule of the site asks for it, and no person.
    """
    _member_lock(membership)
    if role_is_more(membership.role, than=role):
        _rights_end(membership, at=at)
    before, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    if before != role:
        _recorded(membership, Action.MEMBER_CHANGED, by, role=[before, role], rule=rule)


@transaction.atomic
def member_remove(
    *, membership: Membership, at: datetime, by: User | None = None, rule: bool = False
) -> None:
    """Take someone out of a dataset. What the person judged or made stays; the person's invitations end."""
    _member_lock(membership)
    _rights_end(membership, at=at)
    _recorded(membership, Action.MEMBER_REMOVED, by, role=membership.role, rule=rule)
    membership.delete()


@transaction.atomic
def member_restore(
    *, dataset: Dataset, user: User, role: str, removed_at: datetime, by: User | None = None
) -> None:
    """Undo the removal of that time, and the end of the invitations that ended with it.

    Where the person has come back by a new invitation in the meantime, or was removed again, nothing changes.
    """
    dataset_require_active(dataset)
    _person_lock(user)
    bars = InvitationBar.objects.filter(dataset=dataset, user=user)
    if bars.filter(until__gt=removed_at).exists() or not bars.filter(until=removed_at).exists():
        return
    membership, made = Membership.objects.get_or_create(dataset=dataset, user=user, defaults={"role": role})
    if made:
        _recorded(membership, Action.MEMBER_RESTORED, by, role=role)
        bars.filter(until=removed_at).delete()
        ended = Invitation.objects.filter(dataset=dataset, created_by=user, revoked_at=removed_at)
        ended.update(revoked_at=None)


def _recorded(
    membership: Membership, action: Action, by: User | None, role: str | list[str], *, rule: bool = False
) -> None:
    about, details = membership.user.username, {"role": role}
    audit_record(dataset=membership.dataset, action=action, by=by, subject=about, details=details, rule=rule)


def _member_lock(membership: Membership) -> None:
    """Read the membership again, with its dataset and its person locked.

    The dataset: two owners who demote each other at once must not both succeed. The person: somebody who is removed
    while they accept an invitation is either removed afterwards or not admitted.
    """
    dataset_lock(membership.dataset)
    _person_lock(membership.user)
    try:
        membership.refresh_from_db()
    except Membership.DoesNotExist as error:
        raise UserError(_("%(person)s is no longer a member."), person=membership.user) from error


def _person_lock(user: User) -> None:
    User.objects.select_for_update(no_key=True).get(pk=user.pk)


def _rights_end(membership: Membership, *, at: datetime) -> None:
    """End the invitations that the member made, and keep the member from those that anybody made until now."""
    if membership.role == Role.OWNER and not _has_another_owner(membership):
        sentence = _("%(person)s is the only owner of this dataset. Make another member an owner first.")
        raise UserError(sentence, person=membership.user)
    InvitationBar.objects.create(dataset=membership.dataset, user=membership.user, until=at)
    made = Invitation.objects.filter(dataset=membership.dataset, created_by=membership.user, revoked_at=None)
    made.update(revoked_at=at)


@transaction.atomic
def invitation_create(
    *,
    dataset: Dataset,
    role: str,
    people: int,
    days: int,
    by: User,
    at: datetime,
    note: str = "",
    token: str = "",
) -> tuple[Invitation, str]:
    """Make an invitation. Returns it and its token, which is kept nowhere: only a digest of it is stored.

    token: 256 bits that the caller can compute again; drawn where there are none.
    """
    dataset_require_active(dataset)
    token = token or secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        dataset=dataset,
        role=role,
        token_digest=invitation_digest(token),
        note=note,
        uses_left=people,
        created_by=by,
        created_at=at,
        expires_at=at + timedelta(days=days),
    )
    details = {"role": role, "people": people}
    audit_record(dataset=dataset, action=Action.INVITATION_CREATED, by=by, subject=note, details=details)
    return invitation, token


def invitation_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


@transaction.atomic
def invitation_revoke(*, invitation: Invitation, at: datetime, by: User | None = None) -> None:
    """End an invitation. Whoever came by it stays; an earlier revocation keeps its time."""
    dataset_require_active(invitation.dataset)
    if Invitation.objects.filter(pk=invitation.pk, revoked_at=None).update(revoked_at=at):
        audit_record(
            dataset=invitation.dataset,
            action=Action.INVITATION_REVOKED,
            by=by,
            subject=invitation.note,
            details={"role": invitation.role},
        )


def invitation_refusal(invitation: Invitation, *, at: datetime, user: User | None = None) -> str:
    """Why the invitation admits nobody now, or not this person, as one sentence; nothing if it does.

    invitation: from one of this module's selectors, which know whether its maker may still invite.
    """
    bars = InvitationBar.objects.filter(dataset=invitation.dataset)
    if invitation.revoked_at:
        sentence = _("This invitation to %(dataset)s was revoked. Ask an owner for a new invitation.")
    elif not invitation.inviter_owns:  # type: ignore[attr-defined]
        sentence = _(
            "The person who made this invitation to %(dataset)s may no longer invite people. Ask an "
            "owner for a new invitation."
        )
    elif invitation.expires_at <= at:
        sentence = _("This invitation to %(dataset)s expired on %(date)s. Ask an owner for a new invitation.")
    elif invitation.dataset.archived:
        sentence = _("%(dataset)s is archived, so nobody can join it. Ask an owner to restore it.")
    elif invitation.uses_left == 0:
        sentence = _(
            "This invitation to %(dataset)s is used up: it admits no more people. Ask an owner for a new one."
        )
    elif user and bars.filter(user=user, until__gte=invitation.created_at).exists():
        sentence = _(
            "This invitation was made before your access to %(dataset)s was changed. Ask an owner for a new invitation."
        )
    else:
        return ""
    return sentence % {
        "dataset": invitation.dataset.name,
        "date": date_format(invitation.expires_at, "j F Y"),
    }


@transaction.atomic
def invitation_accept(*, invitation: Invitation, user: User, at: datetime) -> Membership:
    """Make `user` a member and spend one use. Whoever is as much already spends nothing and loses nothing."""
    _person_lock(user)
    # Locked, so that one person who opens the link in two tabs at once spends one use, not two.
    locked = Invitation.objects.select_for_update(of=("self",)).select_related("dataset")
    invitation = _with_inviter(locked).get(pk=invitation.pk)
    dataset_require_active(invitation.dataset)
    membership = Membership.objects.filter(dataset=invitation.dataset, user=user).first()
    if membership and not role_is_more(invitation.role, than=membership.role):
        return membership
    if refusal := invitation_refusal(invitation, at=at, user=user):
        raise UserError(refusal)
    spent = Invitation.objects.filter(pk=invitation.pk)
    spent.update(uses_left=F("uses_left") - 1, admitted=F("admitted") + 1)
    membership, _made = Membership.objects.update_or_create(
        dataset=invitation.dataset, user=user, defaults={"role": invitation.role}
    )
    _recorded(membership, Action.MEMBER_JOINED, user, role=invitation.role)
    return membership


def role_is_more(role: str, *, than: str) -> bool:
    return Role.values.index(role) > Role.values.index(than)


def account_create(*, invitation: Invitation, username: str, password: str, at: datetime) -> User:
    """A new account for someone who came by an invitation. Where that is refused, no account is made.

    Who has the link of an e-mail received it: its address is that of the account.
    """
    email = Mail.objects.filter(invitation=invitation).values_list("to", flat=True).first()
    try:
        with transaction.atomic():
            user = User.objects.create_user(username=username, password=password, email=email)
            invitation_accept(invitation=invitation, user=user, at=at)
    except IntegrityError as error:
        raise UserError(_("The username %(name)s is taken. Choose another."), name=username) from error
    return user


def erase_refusal(user: User, *, by: User) -> str:
    """Why `by` may not have the personal data of `user` erased, as one sentence; nothing if they may.

    People may erase their own. Others may where every dataset that the person belongs to is theirs, and superusers may.
    """
    owned = Membership.objects.filter(user=by, role=Role.OWNER).values("dataset")
    elsewhere = Membership.objects.filter(user=user).exclude(dataset__in=owned).exists()
    if user != by and not by.is_superuser and (elsewhere or user.is_staff or user.is_superuser):
        sentence = _(
            "%(person)s belongs to datasets that you do not own. The person, or an administrator, can erase the data."
        )
        return sentence % {"person": user}
    only = [
        membership.dataset.name
        for membership in Membership.objects.filter(user=user, role=Role.OWNER).select_related("dataset")
        if not _has_another_owner(membership)
    ]
    if only:
        sentence = _("%(person)s is the only owner of %(datasets)s. Make another member an owner first.")
        return sentence % {"person": user, "datasets": ", ".join(only)}
    return ""


def _has_another_owner(membership: Membership) -> bool:
    owners = Membership.objects.filter(dataset=membership.dataset_id, role=Role.OWNER)
    return owners.exclude(pk=membership.pk).exists()


@transaction.atomic
def account_erase(*, user: User, by: User, at: datetime) -> str:
    """Close an account and take everything from it that says whose it was; its new name.

    What the person judged and decided stays, under the new name. Memberships, invitations and tokens end.
    Raises UserError where `by` may not ask for it.
    """
    if refusal := erase_refusal(user, by=by):
        raise UserError(refusal)
    for membership in Membership.objects.filter(user=user).select_related("dataset"):
        # Also of archived datasets: nobody has to restore one so that somebody else is forgotten.
        _rights_end(membership, at=at)
        membership.delete()
    ApiToken.objects.filter(user=user).delete()
    SocialAccount.objects.filter(user=user).delete()
    of_person = Q(to__iexact=user.email) if user.email else Q(user=user)
    Mail.objects.filter(Q(user=user) | of_person).delete()
    before, user.username = user.username, f"erased-{secrets.token_hex(ERASED_NAME_BYTES)}"
    user.first_name = user.last_name = user.email = ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.set_unusable_password()
    user.save()
    audit_person_rename(before, user.username)
    return user.username


@transaction.atomic
def second_factor_remove(*, user: User) -> bool:
    """For an administrator, where somebody lost the app and the recovery codes. Returns whether there was one."""
    removed, _rows = SecondFactor.objects.filter(user=user).delete()
    if removed:
        audit_record(dataset=None, action=Action.FACTOR_REMOVED, by=None, subject=user.get_username())
    return bool(removed)
