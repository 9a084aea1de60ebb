"""Tokens for programs: made, shown once, their scopes and their ends; passwords and sessions that change."""

import re
from datetime import timedelta
from io import StringIO
from unittest.mock import patch

import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client
from django.utils.timezone import now

import semblance.settings
from curation.models import ApiToken, User
from tests.factories import CampaignFactory, client_of, token_of

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
NEW_TOKEN = {"name": "exports", "scope": "write", "days": "90"}


def opens(token: str) -> bool:
    answer = Client().get("/api/v1/datasets/", headers={"Authorization": f"Token {token}"})
    assert answer.status_code in {200, 401}
    return answer.status_code == 200


@pytest.fixture
def token(owner, client_of) -> str:
    owner.set_password(PASSWORD)
    owner.save()
    shown = client_of(owner).post("/accounts/tokens/", NEW_TOKEN).content.decode()
    return re.search(r"Authorization: Token (\w+)", shown)[1]


def test_a_token_is_shown_once_and_opens_the_api(owner, token, client_of) -> None:
    again = client_of(owner).get("/accounts/tokens/").content.decode()

    assert opens(token)
    assert token not in again
    assert f"begins with <code>{token[:8]}</code>" in again


def test_the_database_does_not_hold_what_opens_the_api(token) -> None:
    assert token not in str(ApiToken.objects.values().get())


@pytest.mark.parametrize("wrong", ["", "x", "é" * 64, "0" * 64, "two words"])
def test_what_is_no_token_opens_nothing_and_a_sentence_says_so(token, wrong: str) -> None:
    answer = Client().get("/api/v1/datasets/", headers={"Authorization": f"Token {wrong}"})

    assert answer.status_code == 401
    assert "oken" in answer.json()["detail"]


def test_a_token_that_is_revoked_opens_nothing_and_the_others_still_do(owner, token, client_of) -> None:
    other = token_of(owner)

    client_of(owner).post(f"/accounts/tokens/{owner.api_tokens.get(beginning=token[:8]).pk}/revoke/")

    assert not opens(token)
    assert opens(other)


def test_nobody_revokes_the_token_of_somebody_else(owner, stranger, token, client_of) -> None:
    client_of(stranger).post(f"/accounts/tokens/{owner.api_tokens.get().pk}/revoke/")

    assert opens(token)


def test_a_second_token_of_one_name_is_refused_in_a_sentence(owner, token, client_of) -> None:
    page = client_of(owner).post("/accounts/tokens/", NEW_TOKEN).content.decode()

    assert "You have a token with the name “exports”." in page
    assert owner.api_tokens.count() == 1


def test_a_person_has_at_most_twenty_tokens(owner, client_of) -> None:
    for _number in range(20):
        token_of(owner)

    page = client_of(owner).post("/accounts/tokens/", NEW_TOKEN).content.decode()

    assert "You have 20 tokens, the most that one person can have." in page


def test_an_expired_token_opens_nothing_and_says_when_it_expired(owner, client_of) -> None:
    token = token_of(owner, expires_at=now() - timedelta(seconds=1))

    answer = Client().get("/api/v1/datasets/", headers={"Authorization": f"Token {token}"})

    assert answer.status_code == 401
    assert "This token expired on 20" in answer.json()["detail"]
    assert "expired" in client_of(owner).get("/accounts/tokens/").content.decode()


def test_the_last_use_of_a_token_is_shown_and_noted_every_five_minutes(owner, token, client_of) -> None:
    unused = client_of(owner).get("/accounts/tokens/").content.decode()
    opens(token)
    first = owner.api_tokens.get().last_used_at
    opens(token)
    again = owner.api_tokens.get().last_used_at
    owner.api_tokens.update(last_used_at=first - timedelta(minutes=5))
    opens(token)

    assert "never used" in unused
    assert "last used" in client_of(owner).get("/accounts/tokens/").content.decode()
    assert first == again
    assert owner.api_tokens.get().last_used_at > first


@pytest.mark.parametrize(
    ("scope", "may_read", "may_judge", "may_change"),
    [("read", True, False, False), ("judge", False, True, False), ("write", True, True, True)],
)
def test_a_token_does_what_its_scope_says(
    owner, dataset, scope: str, may_read, may_judge, may_change
) -> None:
    campaign = CampaignFactory(dataset=dataset, tuples=1)
    client = Client(headers={"Authorization": f"Token {token_of(owner, scope)}"})

    read = client.get(f"/api/v1/datasets/{dataset.slug}/")
    judged = client.post(f"/api/v1/campaigns/{campaign.pk}/claim/")
    changed = client.post(f"/api/v1/datasets/{dataset.slug}/snapshots/", {}, "application/json")

    assert (read.status_code == 200, judged.status_code == 200, changed.status_code == 201) == (
        may_read,
        may_judge,
        may_change,
    )
    refusals = [answer.json()["detail"] for answer in (read, judged, changed) if answer.status_code == 403]
    assert all("its scope is too small" in sentence for sentence in refusals)


# Sessions


def test_a_login_and_a_new_password_change_the_id_of_the_session(owner, token) -> None:
    client = Client()
    client.get("/accounts/login/")
    session = client.session
    session["planted"] = True
    session.save()
    client.cookies["sessionid"] = before = session.session_key

    client.post("/accounts/login/", {"username": "owner", "password": PASSWORD})
    logged_in = client.cookies["sessionid"].value
    new = {"old_password": PASSWORD, "new_password1": "another long one", "new_password2": "another long one"}
    client.post("/accounts/password/", new)
    changed = client.cookies["sessionid"].value

    assert len({before, logged_in, changed}) == 3
    assert not Session.objects.filter(session_key__in=[before, logged_in]).exists()


def test_a_new_password_logs_every_other_browser_out(owner, token) -> None:
    here, elsewhere = Client(), Client()
    for client in (here, elsewhere):
        client.post("/accounts/login/", {"username": "owner", "password": PASSWORD})
    new = {"old_password": PASSWORD, "new_password1": "another long one", "new_password2": "another long one"}

    here.post("/accounts/password/", new)

    assert here.get("/datasets/").status_code == 200
    assert elsewhere.get("/datasets/").status_code == 302


def test_an_old_hash_is_replaced_by_argon2_at_the_next_login(owner, token, settings) -> None:
    hashers = [hasher for hasher in semblance.settings.PASSWORD_HASHERS if "Argon2" in hasher]
    settings.PASSWORD_HASHERS = [*hashers, *settings.PASSWORD_HASHERS]

    Client().post("/accounts/login/", {"username": "owner", "password": PASSWORD})

    assert User.objects.get(pk=owner.pk).password.startswith("argon2$argon2id$")
    assert opens(token)


def changed_by_its_owner(owner, admin) -> None:
    client = client_of(owner)
    new = {"old_password": PASSWORD, "new_password1": "another long one", "new_password2": "another long one"}
    assert client.post("/accounts/password/", new).status_code == 302


def changed_by_an_administrator(owner, admin) -> None:
    client = client_of(admin)
    new = {"password1": "another long one", "password2": "another long one", "usable_password": "true"}
    assert client.post(f"/admin/curation/user/{owner.pk}/password/", new).status_code == 302


def changed_by_the_command(owner, admin) -> None:
    with patch("getpass.getpass", return_value="another long one"):  # there is no terminal to type at
        call_command("changepassword", "owner", stdout=StringIO())


def closed_by_an_administrator(owner, admin) -> None:
    User.objects.filter(pk=owner.pk).update(is_active=False)


@pytest.mark.parametrize(
    "change",
    [
        changed_by_its_owner,
        changed_by_an_administrator,
        changed_by_the_command,
        closed_by_an_administrator,
    ],
)
def test_a_token_ends_with_the_password_however_it_is_changed(owner, admin, token, change) -> None:
    assert opens(token)

    change(owner, admin)

    assert not opens(token)


def test_who_changed_the_password_sees_that_there_is_no_token(owner, token, client_of) -> None:
    owner.set_password("another long one")
    owner.save()

    page = client_of(owner).get("/accounts/tokens/").content.decode()

    assert "You have no token yet." in page


def test_a_stronger_hash_of_the_same_password_ends_no_token(owner, token, settings) -> None:
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.ScryptPasswordHasher",
        *settings.PASSWORD_HASHERS,
    ]
    weaker = owner.password

    Client().post("/accounts/login/", {"username": "owner", "password": PASSWORD})

    assert User.objects.get(pk=owner.pk).password != weaker
    assert opens(token)


def test_no_page_of_the_administration_lists_tokens(admin, token, client_of) -> None:
    index = client_of(admin).get("/admin/").content.decode()

    assert "token/" not in index
