"""The demonstration's accounts: three people to log in as, and simulated annotators nobody can log in as."""

import secrets
from collections.abc import Sequence
from typing import NamedTuple

from django.db import transaction

from curation.foundation.roles import Role
from curation.models import Dataset, Membership, User


class Account(NamedTuple):
    """A person to log in as. The password is shown once and kept nowhere."""

    user: User
    password: str


@transaction.atomic
def accounts_prepare() -> list[Account]:
    """An administrator, a curator and an annotator with new passwords; made where they are missing."""
    accounts = []
    flags = {"admin": {"is_staff": True, "is_superuser": True}, "curator": {}, "annotator": {}}
    for name, given in flags.items():
        user, _made = User.objects.get_or_create(username=f"demo-{name}", defaults=given)
        password = secrets.token_urlsafe(9)
        user.set_password(password)
        user.save()
        accounts.append(Account(user, password))
    return accounts


@transaction.atomic
def members_add(*, dataset: Dataset, curators: Sequence[User], annotators: Sequence[User] = ()) -> None:
    for user in (*curators, *annotators):
        role = Role.CURATOR if user in curators else Role.ANNOTATOR
        Membership.objects.get_or_create(dataset=dataset, user=user, defaults={"role": role})


@transaction.atomic
def simulated_users(stem: str, count: int) -> list[User]:
    """Users marked as simulated, without a usable password: stem-1 and so on."""
    users = []
    for number in range(1, count + 1):
        user, made = User.objects.get_or_create(username=f"{stem}-{number}", defaults={"simulated": True})
        if made:
            user.set_unusable_password()
            user.save()
        users.append(user)
    return users
