"""The demonstration's accounts: three people to log in as, and simulated annotators nobody can log in as."""

import secrets
from dataclasses import dataclass

from django.db import transaction

from curation.models import Dataset, Membership, Role, User


@dataclass(frozen=True)
class Account:
    """A person to log in as. The password is shown once and kept nowhere."""

    user: User
    password: str


@transaction.atomic
def accounts_prepare() -> list[Account]:
    """An administrator, a curator and an annotator with new passwords; made where they are missing."""
    return [
        _account("demo-admin", is_staff=True, is_superuser=True),
        _account("demo-curator"),
        _account("demo-annotator"),
    ]


@transaction.atomic
def members_add(*, dataset: Dataset, curator: User, annotators: list[User]) -> None:
    roles = [(curator, Role.CURATOR), *((annotator, Role.ANNOTATOR) for annotator in annotators)]
    for user, role in roles:
        Membership.objects.get_or_create(dataset=dataset, user=user, defaults={"role": role})


def simulated_annotators(count: int) -> list[User]:
    """Users marked as simulated, without a usable password."""
    return _simulated([f"simulated-{number}" for number in range(1, count + 1)])


@transaction.atomic
def simulated_curators(dataset: Dataset, count: int) -> list[User]:
    """The same, with the role of a curator in the dataset."""
    users = _simulated([f"simulated-curator-{number}" for number in range(1, count + 1)])
    for user in users:
        Membership.objects.get_or_create(dataset=dataset, user=user, defaults={"role": Role.CURATOR})
    return users


@transaction.atomic
def _simulated(names: list[str]) -> list[User]:
    users = []
    for name in names:
        user, made = User.objects.get_or_create(username=name, defaults={"simulated": True})
        if made:
            user.set_unusable_password()
            user.save()
        users.append(user)
    return users


def _account(username: str, **flags: bool) -> Account:
    user, _ = User.objects.get_or_create(username=username, defaults=flags)
    password = secrets.token_urlsafe(9)
    user.set_password(password)
    user.save()
    return Account(user, password)
