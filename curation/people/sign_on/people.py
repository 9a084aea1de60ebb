"""The accounts of people who log in with the provider, and what its groups give them here."""

import logging
import re
from datetime import datetime

from allauth.socialaccount.models import SocialAccount
from django.db import transaction
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import Dataset, Membership, User
from curation.people.mail.addresses import is_address
from curation.people.members import member_give, member_remove, member_set_role, role_is_more
from curation.people.sign_on.claims import Identity
from curation.people.sign_on.groups import Rights

NAME_MAX_CHARACTERS = 140  # of 150: a number may follow
logger = logging.getLogger(__name__)


@transaction.atomic
def person_signed_on(*, identity: Identity, rights: Rights, joins_by_email: bool, at: datetime) -> User:
    """The account of the person, made where it is their first time, with what their groups give and no longer give.

    joins_by_email: whether somebody who comes first gets the account that has their address, where the provider
    verified it. Raises UserError where the account, or one with their verified address, is closed.
    """
    accounts = SocialAccount.objects.select_for_update(of=("self",)).select_related("user")
    account = accounts.filter(provider=identity.issuer, uid=identity.subject).first()
    if account is None:
        # Nobody gets a new account instead of one that was closed, unless another with their address is open.
        with_address = User.objects.filter(email__iexact=identity.email, simulated=False)
        if identity.email and (first := with_address.order_by("-is_active").first()) is not None:
            _require_open(first)
        user = _account_to_join(identity, rights) if joins_by_email else None
        if user is None:
            # A new account without a password. An address that another account has stays with that one.
            taken = User.objects.filter(email__iexact=identity.email).exists()
            email = identity.email if identity.email and not taken and is_address(identity.email) else ""
            name = re.sub(r"[^\w.@+-]", "", identity.username)[:NAME_MAX_CHARACTERS] or "person"
            free, number = name, 1
            while User.objects.filter(username__iexact=free).exists():
                number += 1
                free = f"{name}-{number}"
            user = User(
                username=free,
                first_name=identity.first_name[:150],
                last_name=identity.last_name[:150],
                email=email,
            )
            user.set_unusable_password()
            user.save()
        account = SocialAccount.objects.create(user=user, provider=identity.issuer, uid=identity.subject)
    _require_open(account.user)
    # Give what the groups give, and take back what earlier groups gave. What owners gave by hand stays.
    signed_on: User = account.user
    before = account.extra_data or {}
    may_change = (rights.staff or before.get("staff")) and not signed_on.is_superuser
    if signed_on.is_staff != rights.staff and may_change:
        signed_on.is_staff = rights.staff
        signed_on.save(update_fields=["is_staff"])
    given: dict[str, str] = {}
    earlier: dict[str, str] = before.get("roles", {})
    for slug in sorted({*rights.roles, *earlier}):
        if role := _role_follows(signed_on, slug, rights.roles.get(slug), earlier.get(slug), at=at):
            given[slug] = role
    account.extra_data = {"staff": rights.staff, "roles": given}
    account.save()
    return signed_on


def _require_open(user: User) -> None:
    if not user.is_active:
        raise UserError(_("This account is closed. Ask the administrator of this site."))


def _account_to_join(identity: Identity, rights: Rights) -> User | None:
    """The one account with the person's verified address, unless it is another person's of the provider.

    Nor is it a superuser's, or that of staff whom no group makes staff: an address alone gives no power over the site.
    """
    if not identity.email:
        return None
    with_address = User.objects.filter(email__iexact=identity.email, is_active=True)
    taken = SocialAccount.objects.filter(provider=identity.issuer).values("user")
    found = list(with_address.filter(simulated=False)[:2])
    free = with_address.filter(is_superuser=False).exclude(pk__in=taken)
    if not rights.staff:
        free = free.filter(is_staff=False)
    return found[0] if len(found) == 1 and free.filter(pk=found[0].pk).exists() else None


def _role_follows(
    user: User, slug: str, wanted: str | None, given: str | None, *, at: datetime
) -> str | None:
    """Bring one membership in line; the role that the person then has by a group."""
    dataset = Dataset.objects.filter(slug=slug, archived=False).first()
    if dataset is None:
        return given
    membership = (
        Membership.objects.filter(dataset=dataset, user=user).select_related("dataset", "user").first()
    )
    if membership is None:
        if wanted:
            member_give(dataset=dataset, user=user, role=wanted)
        return wanted
    of_group = membership.role == given
    more = wanted is not None and role_is_more(wanted, than=membership.role)
    if wanted == membership.role or not (of_group or more):
        return given if of_group else None  # an owner gave the role, or changed it since
    try:
        if wanted is None:
            member_remove(membership=membership, at=at, rule=True)
        else:
            member_set_role(membership=membership, role=wanted, at=at, rule=True)
    except UserError as error:  # the only owner: a dataset always has one
        logger.warning("The groups of a person cannot be followed in %s: %s", slug, error)
        return given
    return wanted
