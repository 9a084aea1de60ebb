"""Invitations: whom they admit, how often, until when, and what they never do."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from django.db import connection

from curation.errors import UserError
from curation.models import Invitation, Membership, User
from curation.people import (
    account_create,
    invitation_accept,
    invitation_by_token,
    invitation_create,
    invitation_refusal,
    invitation_revoke,
)
from tests.factories import MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def invite(dataset, owner):
    def make(role: str = "annotator", people: int = 1, days: int = 14) -> tuple[Invitation, str]:
        return invitation_create(dataset=dataset, role=role, people=people, days=days, by=owner, at=NOW)

    return make


def test_an_invitation_makes_a_member(invite, stranger, dataset) -> None:
    invitation, _token = invite("curator")

    invitation_accept(invitation=invitation, user=stranger, at=NOW)

    assert Membership.objects.get(dataset=dataset, user=stranger).role == "curator"


def test_the_token_finds_its_invitation_and_is_kept_nowhere(invite) -> None:
    invitation, token = invite()

    stored = Invitation.objects.filter(pk=invitation.pk).values().get()

    assert invitation_by_token(token) == invitation
    assert token not in map(str, stored.values())


def test_a_wrong_token_finds_nothing(invite) -> None:
    _invitation, token = invite()

    assert invitation_by_token(token[:-1]) is None


def test_an_invitation_for_two_admits_two_and_then_nobody(invite) -> None:
    invitation, _token = invite(people=2)
    for name in ("one", "two"):
        invitation_accept(invitation=invitation, user=UserFactory(username=name), at=NOW)

    with pytest.raises(UserError, match="is used up"):
        invitation_accept(invitation=invitation, user=UserFactory(username="three"), at=NOW)

    assert Membership.objects.filter(user__username__in=["one", "two", "three"]).count() == 2


def test_an_invitation_whose_day_has_come_admits_nobody(invite, stranger) -> None:
    invitation, _token = invite(days=3)

    with pytest.raises(UserError, match="expired on 4 March 2026; ask an owner"):
        invitation_accept(invitation=invitation, user=stranger, at=NOW + timedelta(days=3))


def test_a_revoked_invitation_admits_nobody(invite, stranger) -> None:
    invitation, _token = invite()
    invitation_revoke(invitation=invitation, at=NOW)

    with pytest.raises(UserError, match="was revoked"):
        invitation_accept(invitation=invitation, user=stranger, at=NOW)


def test_a_second_revocation_keeps_the_time_of_the_first(invite) -> None:
    invitation, _token = invite()
    invitation_revoke(invitation=invitation, at=NOW)

    invitation_revoke(invitation=invitation, at=NOW + timedelta(days=1))

    assert Invitation.objects.get().revoked_at == NOW


def test_a_refused_person_spends_nothing(invite, stranger) -> None:
    invitation, _token = invite(days=1)

    with pytest.raises(UserError):
        invitation_accept(invitation=invitation, user=stranger, at=NOW + timedelta(days=2))

    assert Invitation.objects.get().uses_left == 1


def test_a_weaker_invitation_lowers_no_role_and_is_not_spent(invite, curator) -> None:
    invitation, _token = invite("annotator")

    membership = invitation_accept(invitation=invitation, user=curator, at=NOW)

    assert membership.role == "curator"
    assert Invitation.objects.get().uses_left == 1


def test_a_stronger_invitation_raises_a_role(invite, annotator) -> None:
    invitation, _token = invite("owner")

    invitation_accept(invitation=invitation, user=annotator, at=NOW)

    assert Membership.objects.get(user=annotator).role == "owner"


def test_the_same_person_twice_spends_one_use(invite, stranger) -> None:
    invitation, _token = invite(people=2)
    invitation_accept(invitation=invitation, user=stranger, at=NOW)

    invitation_accept(invitation=invitation, user=stranger, at=NOW)

    assert Invitation.objects.values_list("uses_left", "admitted").get() == (1, 1)


def test_two_people_who_read_the_last_use_at_once_do_not_both_come_in(invite) -> None:
    """Both hold the row as it was before either came: only the conditional update decides."""
    invitation, token = invite(people=1)
    as_read_by_the_other = invitation_by_token(token)
    invitation_accept(invitation=invitation, user=UserFactory(), at=NOW)

    assert as_read_by_the_other.uses_left == 1
    with pytest.raises(UserError, match="is used up"):
        invitation_accept(invitation=as_read_by_the_other, user=UserFactory(), at=NOW)


def at_once(*people: User, invitation: Invitation) -> list[str]:
    """What comes of it when they all accept at the same moment."""
    together = Barrier(len(people))

    def accept(user: User) -> str:
        together.wait(timeout=60)
        try:
            invitation_accept(invitation=invitation, user=user, at=NOW)
        except UserError:
            return "refused"
        finally:
            connection.close()
        return "in"

    with ThreadPoolExecutor(len(people)) as pool:
        return sorted(pool.map(accept, people))


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_of_five_people_at_once_an_invitation_for_two_admits_two(invite) -> None:
    invitation, _token = invite(people=2)

    outcomes = at_once(*(UserFactory() for _person in range(5)), invitation=invitation)

    assert outcomes == ["in", "in", "refused", "refused", "refused"]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_one_person_in_two_tabs_at_once_spends_one_use(invite, stranger) -> None:
    invitation, _token = invite(people=2)

    outcomes = at_once(stranger, stranger, invitation=invitation)

    assert outcomes == ["in", "in"]
    assert Invitation.objects.get().uses_left == 1


def test_a_new_account_comes_with_its_membership(invite, dataset) -> None:
    invitation, _token = invite("annotator")

    user = account_create(invitation=invitation, username="newcomer", password="a long password", at=NOW)

    assert Membership.objects.get(dataset=dataset, user=user).role == "annotator"


def test_a_refused_invitation_makes_no_account(invite) -> None:
    invitation, _token = invite()
    invitation_revoke(invitation=invitation, at=NOW)

    with pytest.raises(UserError, match="was revoked"):
        account_create(invitation=invitation, username="newcomer", password="a long password", at=NOW)

    assert not User.objects.filter(username="newcomer").exists()


def test_a_name_that_was_taken_meanwhile_spends_nothing(invite) -> None:
    invitation, _token = invite()
    UserFactory(username="newcomer")

    with pytest.raises(UserError, match="The name newcomer is taken"):
        account_create(invitation=invitation, username="newcomer", password="a long password", at=NOW)

    assert Invitation.objects.get().uses_left == 1


def test_an_open_invitation_gives_no_reason_to_refuse(invite) -> None:
    invitation, _token = invite()

    assert invitation_refusal(invitation, at=NOW) == ""


def test_an_invitation_belongs_to_one_dataset(invite, stranger) -> None:
    elsewhere = MembershipFactory(user=stranger, role="owner").dataset
    invitation, _token = invite("annotator")

    invitation_accept(invitation=invitation, user=stranger, at=NOW)

    assert Membership.objects.get(dataset=elsewhere, user=stranger).role == "owner"
