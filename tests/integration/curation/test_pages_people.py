"""The pages of people: members, invitations and what their link opens, logging in, tokens."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.timezone import now

from curation.models import Invitation, Membership, PasswordTries, User
from curation.people.accounts.guessing import TRIES_FROM_ONE_ADDRESS, TRIES_OF_A_NAME_FROM_ONE_ADDRESS
from curation.people.members import invitation_create, member_remove
from tests.factories import DatasetFactory, MembershipFactory, UserFactory, client_of

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
NEW_ACCOUNT = {"username": "newcomer", "password1": PASSWORD, "password2": PASSWORD}


@pytest.fixture
def address(dataset) -> str:
    return f"/datasets/{dataset.slug}/"


@pytest.fixture
def link(dataset, owner):
    """The address of a new invitation."""

    def make(role: str = "annotator", people: int = 1, days: int = 14) -> str:
        made = {"role": role, "people": people, "days": days, "by": owner, "at": now()}
        _invitation, token = invitation_create(dataset=dataset, **made)
        return f"/invitations/{token}/"

    return make


# Members


def test_an_owner_changes_a_role(owner, curator, address, client_of) -> None:
    member = Membership.objects.get(user=curator)

    page = client_of(owner).post(f"{address}members/{member.pk}/role/", {"role": "owner"}, follow=True)

    assert "curator is now owner." in page.content.decode()
    assert Membership.objects.get(user=curator).role == "owner"


def test_a_role_that_does_not_exist_changes_nothing(owner, curator, address, client_of) -> None:
    member = Membership.objects.get(user=curator)

    client_of(owner).post(f"{address}members/{member.pk}/role/", {"role": "emperor"})

    assert Membership.objects.get(user=curator).role == "curator"


def test_the_last_owner_is_told_why_leaving_is_not_possible(owner, address, client_of) -> None:
    member = Membership.objects.get(user=owner)

    answer = client_of(owner).post(f"{address}members/{member.pk}/remove/")

    assert answer.status_code == 400
    assert (
        "owner is the only owner of this dataset. Make another member an owner first."
        in answer.content.decode()
    )


def test_a_removal_can_be_undone(owner, annotator, dataset, address, client_of) -> None:
    client, member = client_of(owner), Membership.objects.get(user=annotator)

    page = client.post(f"{address}members/{member.pk}/remove/", follow=True).content.decode()
    client.post(f"{address}members/restore/")

    assert "annotator is no longer a member." in page
    assert Membership.objects.get(dataset=dataset, user=annotator).role == "annotator"


def test_an_undone_removal_leaves_the_persons_own_links_as_they_were(
    dataset, owner, address, stranger, client_of
) -> None:
    second = MembershipFactory(dataset=dataset, role="owner")
    invited = {"role": "annotator", "people": 1, "days": 7, "by": second.user, "at": now()}
    _invitation, token = invitation_create(dataset=dataset, **invited)
    client = client_of(owner)
    client.post(f"{address}members/{second.pk}/remove/")
    client.post(f"{address}members/restore/")

    answer = client_of(stranger).post(f"/invitations/{token}/")

    assert answer.status_code == 302
    assert Membership.objects.get(user=second.user).role == "owner"


def test_undo_restores_nobody_whom_one_has_not_just_removed(owner, stranger, address, client_of) -> None:
    client_of(owner).post(f"{address}members/restore/", {"user": stranger.pk, "role": "owner"})

    assert not Membership.objects.filter(user=stranger).exists()


def test_a_removal_from_one_dataset_is_not_undone_into_another(owner, annotator, address, client_of) -> None:
    other = MembershipFactory(user=owner, role="owner", dataset=DatasetFactory()).dataset
    client, member = client_of(owner), Membership.objects.get(user=annotator)
    client.post(f"{address}members/{member.pk}/remove/")

    client.post(f"/datasets/{other.slug}/members/restore/")

    assert not Membership.objects.filter(user=annotator).exists()


def test_a_curator_may_leave(curator, address, client_of) -> None:
    member = Membership.objects.get(user=curator)

    answer = client_of(curator).post(f"{address}members/{member.pk}/remove/")

    assert answer.status_code == 302
    assert answer["Location"] == "/"
    assert not Membership.objects.filter(user=curator).exists()


def test_a_simulated_annotator_is_marked_as_such(owner, dataset, address, client_of) -> None:
    MembershipFactory(dataset=dataset, user=UserFactory(username="robot", simulated=True))

    page = client_of(owner).get(f"{address}members/").content.decode()

    assert "simulated" in page


# Invitations


def test_a_new_invitation_shows_its_link_this_once(owner, address, client_of) -> None:
    client = client_of(owner)
    asked = {"role": "annotator", "people": 3, "days": 7, "note": "the seminar"}

    shown = client.post(f"{address}invitations/", asked).content.decode()
    again = client.get(f"{address}invitations/").content.decode()

    token = re.search(r"/invitations/([\w-]+)/", shown)[1]
    assert Client().get(f"/invitations/{token}/").status_code == 200
    assert token not in again
    assert "the seminar" in again


@pytest.mark.parametrize(
    ("host", "alone"),
    [
        ("127.0.0.1:8000", True),
        ("localhost:8000", True),
        ("[::1]:8000", True),
        ("site.localhost", True),
        ("192.168.1.20:8000", False),
        ("semblance.example.org", False),
    ],
)
def test_a_link_of_this_machine_says_that_nobody_elsewhere_can_open_it(
    owner, address, client_of, settings, host, alone
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    asked = {"role": "annotator", "people": 3, "days": 7}

    shown = client_of(owner).post(f"{address}invitations/", asked, headers={"host": host}).content.decode()

    assert f"http://{host}/invitations/" in shown
    assert ("Nobody on another machine can open this link" in shown) == alone
    assert ("/guide/install/" in shown) == alone


@pytest.mark.parametrize(
    "wrong", [{"people": 0}, {"days": 0}, {"days": 4000}, {"role": "emperor"}, {"people": "many"}]
)
def test_an_invitation_that_makes_no_sense_is_not_made(
    owner, address, client_of, wrong: dict[str, object]
) -> None:
    answer = client_of(owner).post(
        f"{address}invitations/", {"role": "annotator", "people": 1, "days": 7} | wrong
    )

    assert 'class="error"' in answer.content.decode()
    assert not Invitation.objects.exists()


def test_a_revoked_invitation_says_so(owner, address, link, client_of) -> None:
    opened = link()
    client_of(owner).post(f"{address}invitations/{Invitation.objects.get().pk}/revoke/")

    answer = Client().get(opened)

    assert answer.status_code == 410
    assert "was revoked. Ask an owner for a new invitation." in answer.content.decode()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"uses_left": 0}, "is used up"),
        ({"expires_at": now() - timedelta(days=1)}, "expired on"),
    ],
)
def test_an_invitation_that_admits_nobody_says_why(link, stranger, client_of, changed, sentence: str) -> None:
    opened = link()
    Invitation.objects.update(**changed)

    answers = [Client().get(opened), client_of(stranger).get(opened), client_of(stranger).post(opened)]

    assert [answer.status_code for answer in answers] == [410, 410, 410]
    assert all(sentence in answer.content.decode() for answer in answers)
    assert not Membership.objects.filter(user=stranger).exists()


def test_who_was_removed_reads_why_an_old_link_does_not_bring_them_back(
    link, owner, annotator, dataset, client_of
) -> None:
    opened = link("curator")
    member_remove(membership=Membership.objects.get(user=annotator), at=now())
    client = client_of(annotator)

    answers = [client.get(opened), client.post(opened)]

    sentence = (
        "This invitation was made before your access to .* was changed. Ask an owner for a new invitation."
    )
    assert [answer.status_code for answer in answers] == [410, 410]
    assert all(re.search(sentence, answer.content.decode()) for answer in answers)
    assert not Membership.objects.filter(user=annotator).exists()


def test_an_owner_who_was_removed_does_not_come_back_by_a_link_of_their_own(
    dataset, owner, address, client_of
) -> None:
    second = MembershipFactory(dataset=dataset, role="owner")
    invited = {"role": "owner", "people": 9, "days": 7, "by": second.user, "at": now()}
    _invitation, token = invitation_create(dataset=dataset, **invited)
    client_of(owner).post(f"{address}members/{second.pk}/remove/")

    answers = [visitor.post(f"/invitations/{token}/") for visitor in (client_of(second.user), Client())]

    assert [answer.status_code for answer in answers] == [410, 410]
    assert not Membership.objects.filter(user=second.user).exists()


def test_an_account_that_is_closed_in_the_administration_invites_nobody(
    link, owner, admin, stranger, client_of
) -> None:
    opened = link()
    page = f"/admin/curation/user/{owner.pk}/change/"
    form = client_of(admin).get(page).context["adminform"].form
    closed = {name: form.initial.get(name) or "" for name in form.fields} | {
        "groups": [],
        "user_permissions": [],
    }
    closed |= {
        "date_joined_0": "2026-01-01",
        "date_joined_1": "12:00:00",
        "last_login_0": "",
        "last_login_1": "",
    }
    del closed["is_active"], closed["password"]
    client_of(admin).post(page, {name: value for name, value in closed.items() if value is not False})

    answer = client_of(stranger).post(opened)

    assert not User.objects.get(pk=owner.pk).is_active
    assert answer.status_code == 410
    assert "may no longer invite people. Ask an owner for a new invitation." in answer.content.decode()


def test_looking_at_an_invitation_spends_nothing(link, stranger, client_of) -> None:
    opened = link()

    client_of(stranger).get(opened)

    assert not Membership.objects.filter(user=stranger).exists()
    assert Invitation.objects.get().uses_left == 1


def test_someone_with_an_account_joins_with_one_button(link, stranger, dataset, client_of) -> None:
    answer = client_of(stranger).post(link("curator"))

    assert answer["Location"] == f"/datasets/{dataset.slug}/"
    assert Membership.objects.get(user=stranger).role == "curator"


def test_someone_new_makes_an_account_and_is_in(link, dataset) -> None:
    client = Client()

    answer = client.post(link(), NEW_ACCOUNT)

    assert answer.status_code == 302
    assert Membership.objects.get(user__username="newcomer", dataset=dataset).role == "annotator"
    assert client.session["_auth_user_id"] == str(User.objects.get(username="newcomer").pk)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"password2": "something else"}, "The two password fields didn"),
        ({"password1": "1234", "password2": "1234"}, "This password is too short"),
        ({"username": "owner"}, "A user with that username already exists"),
        ({"username": "<script>"}, "Enter a valid username"),
    ],
)
def test_an_account_that_cannot_be_made_says_why_and_spends_nothing(
    link, wrong: dict[str, str], sentence: str
) -> None:
    answer = Client().post(link(), NEW_ACCOUNT | wrong)

    assert sentence in answer.content.decode()
    assert Invitation.objects.get().uses_left == 1


def test_a_member_who_opens_a_weaker_invitation_keeps_the_role(link, curator, client_of) -> None:
    answer = client_of(curator).post(link("annotator"))

    assert "with the role curator. This link changes nothing for you." in answer.content.decode()
    assert Membership.objects.get(user=curator).role == "curator"


def test_who_has_an_account_logs_in_and_comes_back(link, stranger) -> None:
    stranger.set_password(PASSWORD)
    stranger.save()
    opened = link()
    client = Client()

    page = client.get(opened).content.decode()
    answer = client.post(f"/accounts/login/?next={opened}", {"username": "stranger", "password": PASSWORD})

    assert f"/accounts/login/?next={opened}" in page
    assert answer["Location"] == opened


# Logging in


@pytest.fixture
def log_in(owner):
    owner.set_password(PASSWORD)
    owner.save()

    def attempt(
        password: str, *, address: str = "10.0.0.1", page: str = "/accounts/login/", forwarded: str = ""
    ) -> str:
        client = Client(REMOTE_ADDR=address, headers={"X-Forwarded-For": forwarded})
        answer = client.post(page, {"username": "owner", "password": password})
        return "in" if answer.status_code == 302 else answer.content.decode()

    return attempt


def test_a_wrong_password_is_said_without_saying_which_was_wrong(log_in) -> None:
    assert "The username or the password is wrong" in log_in("wrong")


def test_after_five_wrong_passwords_the_right_one_has_to_wait(log_in) -> None:
    for _time in range(TRIES_OF_A_NAME_FROM_ONE_ADDRESS):
        log_in("wrong")

    assert "There were too many wrong passwords. Wait 15 minutes, then try again." in log_in(PASSWORD)


def test_whoever_guesses_does_not_lock_out_the_person_elsewhere(log_in) -> None:
    for _time in range(TRIES_OF_A_NAME_FROM_ONE_ADDRESS):
        log_in("wrong", address="10.0.0.66")

    assert log_in(PASSWORD) == "in"


def test_behind_a_proxy_whoever_guesses_does_not_lock_out_the_person_elsewhere(log_in, settings) -> None:
    settings.TRUSTED_PROXIES = 1
    for place in range(TRIES_OF_A_NAME_FROM_ONE_ADDRESS + 1):
        guessed = log_in("wrong", forwarded=f"10.9.9.{place}, 10.0.0.66")

    assert "too many wrong passwords" in guessed  # the entries to the left are the guesser's own
    assert log_in(PASSWORD, forwarded="10.0.0.7") == "in"


def test_where_no_proxy_is_trusted_nobody_chooses_the_address_that_counts(log_in) -> None:
    for place in range(TRIES_OF_A_NAME_FROM_ONE_ADDRESS):
        log_in("wrong", forwarded=f"10.9.9.{place}")

    assert "too many wrong passwords" in log_in(PASSWORD, forwarded="10.0.0.7")


def test_a_quarter_of_an_hour_later_the_name_is_open_again(log_in) -> None:
    for _time in range(TRIES_OF_A_NAME_FROM_ONE_ADDRESS):
        log_in("wrong")
    PasswordTries.objects.update(ends_at=now())

    assert log_in(PASSWORD) == "in"


def test_the_right_password_forgets_earlier_slips(log_in) -> None:
    for _time in range(TRIES_OF_A_NAME_FROM_ONE_ADDRESS - 1):
        log_in("wrong")
    log_in(PASSWORD)

    answers = [log_in("wrong") for _time in range(TRIES_OF_A_NAME_FROM_ONE_ADDRESS)]

    assert not any("too many wrong passwords" in answer for answer in answers)


def test_an_empty_password_is_no_try(log_in) -> None:
    for _time in range(TRIES_OF_A_NAME_FROM_ONE_ADDRESS):
        log_in("")

    assert log_in(PASSWORD) == "in"


def test_the_administrations_login_guesses_no_faster(log_in) -> None:
    for _time in range(TRIES_OF_A_NAME_FROM_ONE_ADDRESS):
        log_in("wrong", page="/admin/login/")

    assert "too many wrong passwords" in log_in(PASSWORD)
    assert "too many wrong passwords" in log_in(PASSWORD, page="/admin/login/")


@pytest.mark.parametrize("page", ["/accounts/password/", "/admin/password_change/"])
def test_the_old_password_is_guessed_no_faster_where_a_new_one_is_set(admin, page: str) -> None:
    """Whoever finds an open browser must not find the password by this form."""
    admin.set_password(PASSWORD)
    admin.save()
    client = client_of(admin)
    new = {"new_password1": "another long one", "new_password2": "another long one"}
    form = client.get(page, follow=True).request["PATH_INFO"]
    for _time in range(TRIES_OF_A_NAME_FROM_ONE_ADDRESS):
        client.post(form, new | {"old_password": "wrong"})

    refused = client.post(form, new | {"old_password": PASSWORD})

    assert "too many wrong passwords" in refused.content.decode()
    assert User.objects.get(pk=admin.pk).check_password(PASSWORD)


def test_an_invitation_lists_no_names_quickly(link) -> None:
    opened = link()
    UserFactory(username="somebody")
    asked = Client().post(opened, NEW_ACCOUNT | {"username": "Somebody"})
    PasswordTries.objects.filter(tries=1).update(tries=TRIES_FROM_ONE_ADDRESS)

    refused = Client().post(opened, NEW_ACCOUNT)

    assert "A user with that username already exists" in asked.content.decode()
    assert "too many wrong passwords" in refused.content.decode()
    assert not User.objects.filter(username="newcomer").exists()


def test_a_new_password_needs_the_old_one(owner, log_in) -> None:
    client = client_of(owner)
    new = {"new_password1": "another long one", "new_password2": "another long one"}

    refused = client.post("/accounts/password/", new | {"old_password": "wrong"})
    client.post("/accounts/password/", new | {"old_password": PASSWORD})

    assert "Your old password was entered incorrectly" in refused.content.decode()
    assert log_in("another long one") == "in"


# The first page


def test_who_belongs_nowhere_is_told_how_that_changes(stranger, client_of) -> None:
    answer = client_of(stranger).get("/")

    assert "Open the invitation link that an owner of a dataset" in answer.content.decode()
