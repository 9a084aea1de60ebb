"""Invitations: whom they admit, how often, until when, and what they never do."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier, Event
from time import sleep

import pytest
from django.db import connection, transaction

from curation.foundation.errors import UserError
from curation.models import Invitation, Membership, User
from curation.people.members import (
    account_create,
    invitation_accept,
    invitation_by_token,
    invitation_create,
    invitation_refusal,
    invitation_revoke,
    invitations_of,
    member_remove,
    member_restore,
    member_set_role,
)
from tests.factories import DatasetFactory, MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


@pytest.fixture
def invite(dataset, owner):
    def make(role: str = "annotator", people: int = 1, days: int = 14, **about) -> tuple[Invitation, str]:
        made = {"by": owner, "at": NOW, **about}
        return invitation_create(dataset=dataset, role=role, people=people, days=days, **made)

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

    with pytest.raises(UserError, match=r"expired on 4 March 2026\. Ask an owner"):
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

    with pytest.raises(UserError, match="The username newcomer is taken"):
        account_create(invitation=invitation, username="newcomer", password="a long password", at=NOW)

    assert Invitation.objects.get().uses_left == 1


def test_an_open_invitation_gives_no_reason_to_refuse(invite) -> None:
    _invitation, token = invite()

    assert invitation_refusal(invitation_by_token(token), at=NOW) == ""


def test_an_invitation_belongs_to_one_dataset(invite, stranger) -> None:
    elsewhere = MembershipFactory(user=stranger, role="owner").dataset
    invitation, _token = invite("annotator")

    invitation_accept(invitation=invitation, user=stranger, at=NOW)

    assert Membership.objects.get(dataset=elsewhere, user=stranger).role == "owner"


# What removal, demotion and closed accounts do to links


@pytest.fixture
def second_owner(dataset, owner):
    return MembershipFactory(dataset=dataset, role="owner", user__username="second").user


def membership_of(user) -> Membership:
    return Membership.objects.get(user=user)


def is_in(user, dataset) -> bool:
    return Membership.objects.filter(user=user, dataset=dataset).exists()


def test_who_was_removed_does_not_come_back_by_an_old_link(invite, dataset, annotator) -> None:
    invitation, _token = invite("owner", people=5)
    member_remove(membership=membership_of(annotator), at=LATER)

    with pytest.raises(UserError, match="was made before your access to"):
        invitation_accept(invitation=invitation, user=annotator, at=LATER)

    assert not is_in(annotator, dataset)
    assert Invitation.objects.get().uses_left == 5


def test_who_was_removed_comes_back_by_a_link_that_was_made_afterwards(invite, dataset, annotator) -> None:
    member_remove(membership=membership_of(annotator), at=NOW)
    invitation, _token = invite("annotator", at=LATER)

    invitation_accept(invitation=invitation, user=annotator, at=LATER)

    assert is_in(annotator, dataset)


def test_who_came_back_is_raised_by_no_link_from_before_the_removal(invite, annotator) -> None:
    old, _token = invite("owner")
    member_remove(membership=membership_of(annotator), at=NOW)
    new, _token = invite("annotator", at=LATER)
    invitation_accept(invitation=new, user=annotator, at=LATER)

    with pytest.raises(UserError, match="was made before your access"):
        invitation_accept(invitation=old, user=annotator, at=LATER)

    assert membership_of(annotator).role == "annotator"


def test_a_removal_from_one_dataset_closes_no_link_to_another(annotator, owner) -> None:
    elsewhere = DatasetFactory()
    MembershipFactory(dataset=elsewhere, role="owner", user=owner)
    made = {"role": "annotator", "people": 1, "days": 1, "by": owner, "at": NOW}
    invitation, _token = invitation_create(dataset=elsewhere, **made)
    member_remove(membership=membership_of(annotator), at=LATER)

    invitation_accept(invitation=invitation, user=annotator, at=LATER)

    assert is_in(annotator, elsewhere)


def test_an_owner_who_was_demoted_does_not_rise_by_an_old_link(invite, second_owner) -> None:
    invitation, _token = invite("owner")
    member_set_role(membership=membership_of(second_owner), role="annotator", at=LATER)

    with pytest.raises(UserError, match="was made before your access"):
        invitation_accept(invitation=invitation, user=second_owner, at=LATER)

    assert membership_of(second_owner).role == "annotator"


@pytest.mark.parametrize(
    "ends",
    [
        lambda membership: member_remove(membership=membership, at=LATER),
        lambda membership: member_set_role(membership=membership, role="curator", at=LATER),
    ],
    ids=["removal", "demotion"],
)
def test_the_links_of_an_owner_end_with_the_role_and_stay_ended(
    invite, dataset, second_owner, stranger, ends
) -> None:
    invitation, _token = invite(by=second_owner)
    ends(membership_of(second_owner))
    Membership.objects.update_or_create(dataset=dataset, user=second_owner, defaults={"role": "owner"})

    with pytest.raises(UserError, match="was revoked"):
        invitation_accept(invitation=invitation, user=stranger, at=LATER)

    assert not is_in(stranger, dataset)


def test_the_links_of_others_outlive_a_removal(invite, dataset, second_owner, stranger) -> None:
    invitation, _token = invite()
    member_remove(membership=membership_of(second_owner), at=LATER)

    invitation_accept(invitation=invitation, user=stranger, at=LATER)

    assert is_in(stranger, dataset)


def test_raising_a_role_closes_no_link(invite, annotator) -> None:
    invitation, _token = invite("owner")
    member_set_role(membership=membership_of(annotator), role="curator", at=LATER)

    invitation_accept(invitation=invitation, user=annotator, at=LATER)

    assert membership_of(annotator).role == "owner"


def test_an_undone_removal_leaves_no_trace(invite, dataset, second_owner, stranger) -> None:
    own, _token = invite(by=second_owner)
    revoked, _token = invite(by=second_owner)
    invitation_revoke(invitation=revoked, at=NOW)
    old, _token = invite("owner")
    member_remove(membership=membership_of(second_owner), at=LATER)

    member_restore(dataset=dataset, user=second_owner, role="curator", removed_at=LATER)
    invitation_accept(invitation=old, user=second_owner, at=LATER)
    invitation_accept(invitation=own, user=stranger, at=LATER)

    assert membership_of(second_owner).role == "owner"
    assert is_in(stranger, dataset)
    assert Invitation.objects.get(pk=revoked.pk).revoked_at == NOW


def test_an_undone_removal_leaves_what_an_earlier_demotion_closed(invite, dataset, second_owner) -> None:
    old, _token = invite("owner")
    member_set_role(membership=membership_of(second_owner), role="curator", at=NOW)
    member_remove(membership=membership_of(second_owner), at=LATER)
    member_restore(dataset=dataset, user=second_owner, role="curator", removed_at=LATER)

    with pytest.raises(UserError, match="was made before your access"):
        invitation_accept(invitation=old, user=second_owner, at=LATER)


def test_the_links_of_a_closed_account_admit_nobody(invite, dataset, owner, stranger) -> None:
    invitation, token = invite()
    User.objects.filter(pk=owner.pk).update(is_active=False)

    with pytest.raises(UserError, match=r"may no longer invite people\. Ask an owner for a new invitation"):
        invitation_accept(invitation=invitation, user=stranger, at=NOW)

    assert "may no longer invite" in invitation_refusal(invitation_by_token(token), at=NOW)
    assert not is_in(stranger, dataset)


def test_the_links_of_whoever_owns_no_more_admit_nobody_however_that_came(
    invite, dataset, second_owner, stranger
) -> None:
    """Written past the services, as a person with the database's shell may do."""
    invitation, _token = invite(by=second_owner)
    Membership.objects.filter(user=second_owner).update(role="curator")

    with pytest.raises(UserError, match="may no longer invite"):
        invitation_accept(invitation=invitation, user=stranger, at=NOW)


def test_an_administrator_invites_without_being_a_member(invite, dataset, admin, stranger) -> None:
    invitation, _token = invite(by=admin)

    invitation_accept(invitation=invitation, user=stranger, at=NOW)

    assert is_in(stranger, dataset)


def test_a_list_of_invitations_asks_once_who_may_still_invite(
    invite, dataset, django_assert_num_queries
) -> None:
    for _time in range(5):
        invite()

    with django_assert_num_queries(1):
        refusals = [invitation_refusal(each, at=NOW) for each in invitations_of(dataset)]

    assert refusals == [""] * 5


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(5))
def test_who_is_removed_while_accepting_is_not_a_member_afterwards(
    invite, dataset, curator, attempt: int
) -> None:
    invitation, _token = invite("owner")
    together = Barrier(2)

    def at_the_same_time(change) -> None:
        together.wait(timeout=60)
        try:
            change()
        except UserError:
            pass
        finally:
            connection.close()

    membership = membership_of(curator)
    changes = [
        lambda: invitation_accept(invitation=invitation, user=curator, at=LATER),
        lambda: member_remove(membership=membership, at=LATER),
    ]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(at_the_same_time, changes))

    assert not is_in(curator, dataset)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_an_acceptance_waits_for_a_removal_that_has_begun(invite, dataset, curator) -> None:
    invitation, _token = invite("owner")
    begun = Event()

    def accept() -> str:
        begun.wait(timeout=60)
        try:
            invitation_accept(invitation=invitation, user=curator, at=LATER)
        except UserError as error:
            return str(error)
        finally:
            connection.close()
        return "in"

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            member_remove(membership=membership_of(curator), at=LATER)
            accepted = pool.submit(accept)
            begun.set()
            sleep(0.5)  # it waits for the lock; without one it would read the membership that is still there
        outcome = accepted.result(timeout=60)

    assert "was made before your access" in outcome
    assert not is_in(curator, dataset)
