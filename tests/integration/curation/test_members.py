"""Who is in a dataset: roles, removal, and the last owner."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from django.db import connection

from curation.foundation.errors import UserError
from curation.models import Membership
from curation.people.members import member_remove, member_restore, member_set_role, members_of
from tests.factories import MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def membership_of(user) -> Membership:
    return Membership.objects.get(user=user)


def test_the_last_owner_cannot_be_demoted(owner, curator) -> None:
    with pytest.raises(UserError, match="owner is the only owner of this dataset"):
        member_set_role(membership=membership_of(owner), role="curator", at=NOW)

    assert membership_of(owner).role == "owner"


def test_the_last_owner_cannot_leave(owner) -> None:
    with pytest.raises(UserError, match="Make another member an owner first"):
        member_remove(membership=membership_of(owner), at=NOW)

    assert membership_of(owner).role == "owner"


def test_an_owner_of_another_dataset_does_not_count_as_a_second_owner(owner) -> None:
    MembershipFactory(role="owner")

    with pytest.raises(UserError):
        member_remove(membership=membership_of(owner), at=NOW)


def test_one_of_two_owners_may_leave(dataset, owner) -> None:
    MembershipFactory(dataset=dataset, role="owner")

    member_remove(membership=membership_of(owner), at=NOW)

    assert not Membership.objects.filter(user=owner).exists()


def test_an_owner_who_was_demoted_meanwhile_is_read_again(dataset, owner) -> None:
    second = MembershipFactory(dataset=dataset, role="owner")
    seen_before = membership_of(owner)
    member_set_role(membership=membership_of(owner), role="annotator", at=NOW)

    with pytest.raises(UserError):
        member_set_role(membership=second, role="curator", at=NOW)

    member_remove(membership=seen_before, at=NOW)
    assert not Membership.objects.filter(user=owner).exists()


def test_saving_the_last_owner_as_an_owner_changes_nothing(owner) -> None:
    member_set_role(membership=membership_of(owner), role="owner", at=NOW)

    assert membership_of(owner).role == "owner"


def test_putting_someone_back_does_not_touch_who_came_back_alone(dataset, owner) -> None:
    back = MembershipFactory(dataset=dataset, role="annotator").user
    member_remove(membership=membership_of(back), at=NOW)
    MembershipFactory(dataset=dataset, role="curator", user=back)

    member_restore(dataset=dataset, user=back, role="annotator", removed_at=NOW)

    assert membership_of(back).role == "curator"


def test_an_undo_does_not_undo_a_later_removal(dataset, owner, curator) -> None:
    member_remove(membership=membership_of(curator), at=NOW)
    MembershipFactory(dataset=dataset, role="annotator", user=curator)
    member_remove(membership=membership_of(curator), at=LATER)

    member_restore(dataset=dataset, user=curator, role="curator", removed_at=NOW)

    assert not Membership.objects.filter(user=curator).exists()


def test_who_was_removed_meanwhile_cannot_be_removed_again_and_a_sentence_says_so(owner, curator) -> None:
    seen_before = membership_of(curator)
    member_remove(membership=membership_of(curator), at=NOW)

    with pytest.raises(UserError, match="curator is no longer a member"):
        member_remove(membership=seen_before, at=LATER)


def test_members_stand_by_role_and_then_by_name(dataset) -> None:
    for name, role in [("zoe", "owner"), ("bea", "annotator"), ("ann", "annotator"), ("cy", "curator")]:
        MembershipFactory(dataset=dataset, role=role, user=UserFactory(username=name))

    names = [member.user.username for member in members_of(dataset)]

    assert names == ["zoe", "cy", "ann", "bea"]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_owners_who_demote_each_other_at_once_do_not_both_succeed(dataset, owner) -> None:
    other = MembershipFactory(dataset=dataset, role="owner")
    together = Barrier(2)

    def demote(membership_pk: int) -> str:
        membership = Membership.objects.get(pk=membership_pk)
        together.wait(timeout=60)
        try:
            member_set_role(membership=membership, role="curator", at=NOW)
        except UserError:
            return "refused"
        finally:
            connection.close()
        return "done"

    with ThreadPoolExecutor(2) as people:
        outcomes = sorted(people.map(demote, [other.pk, membership_of(owner).pk]))

    assert outcomes == ["done", "refused"]
