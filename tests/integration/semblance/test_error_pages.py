"""What people see when something is not there, not theirs, not understood, or broken: one page in one voice."""

import pytest
from django.core import mail as django_mail
from django.db import connection
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse
from django.views import defaults

from curation.models import User
from curation.people.mail.sending import mails_carry_out
from semblance.failures import RETRY_AFTER, failed
from tests.factories import UserFactory, client_of

pytestmark = pytest.mark.django_db


def text(answer: HttpResponse) -> str:
    return answer.content.decode()


def test_a_page_that_does_not_exist_says_what_may_be_the_reason(owner) -> None:
    client = client_of(owner)

    answer = client.get("/nowhere/")

    assert answer.status_code == 404
    assert "it belongs to a dataset of which you are not a member" in text(answer)


def test_a_form_whose_token_is_old_says_what_to_do(owner) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)

    answer = client.post("/datasets/new/", {"name": "x"})

    assert answer.status_code == 403
    assert "load the page again, and send the form again" in text(answer)


def test_a_broken_page_and_a_malformed_request_have_pages_without_a_request() -> None:
    """These two are drawn without a context: they must not need one."""
    request = RequestFactory().get("/")

    answers = [failed(request), defaults.bad_request(request, ValueError())]

    assert [answer.status_code for answer in answers] == [500, 400]
    assert "The error is on our side and has been logged." in text(answers[0])
    assert "could not be understood" in text(answers[1])


def test_what_a_person_can_mend_is_one_sentence_on_a_page_and_a_fragment_for_htmx(owner, dataset) -> None:
    client = client_of(owner)
    address = f"/datasets/{dataset.slug}/members/{dataset.memberships.get(user=owner).pk}/remove/"

    page = client.post(address)
    fragment = client.post(address, headers={"HX-Request": "true"})

    assert page.status_code == fragment.status_code == 400
    assert "<html" in text(page)
    assert "<html" not in text(fragment)
    assert 'role="alert"' in text(fragment)
    assert "is the only owner of this dataset" in text(fragment)


@pytest.mark.parametrize(
    ("referer", "leads_back"),
    [("http://testserver/datasets/", True), ("https://elsewhere.example/datasets/", False), ("", False)],
)
def test_the_page_of_an_error_leads_back_to_where_the_button_was(owner, dataset, referer, leads_back) -> None:
    client = client_of(owner)
    address = f"/datasets/{dataset.slug}/members/{dataset.memberships.get(user=owner).pk}/remove/"

    page = text(client.post(address, headers={"Referer": referer}))

    assert (f'href="{referer}"' in page) == leads_back
    assert ("Go back" in page) == leads_back


@pytest.mark.parametrize(
    ("referer", "leads_to"),
    [
        ("http://testserver/datasets/news/members/", "http%3A//testserver/datasets/news/members/"),
        ("https://elsewhere.example/", "/"),
    ],
)
def test_a_button_pressed_after_the_session_ended_leads_back_to_its_page(referer, leads_to) -> None:
    answer = Client().post("/datasets/news/archive/", headers={"Referer": referer})

    assert answer["Location"] == f"/accounts/login/?next={leads_to}"


@pytest.mark.parametrize(
    ("address", "headers", "kind"),
    [
        ("/datasets/", {}, "text/html; charset=utf-8"),
        ("/api/v1/datasets/", {}, "application/json"),
        ("/datasets/", {"Accept": "application/json"}, "application/json"),
    ],
)
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_away_is_no_error_of_the_program(owner, address, headers, kind) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(owner)
    port = connection.settings_dict["PORT"]
    connection.close()
    connection.settings_dict["PORT"] = "9"  # where nobody listens
    try:
        away = client.get(address, headers=headers)
    finally:
        connection.settings_dict["PORT"] = port
    back = client.get("/datasets/")

    assert (away.status_code, away.headers["Content-Type"]) == (503, kind)
    assert away.headers["Retry-After"] == str(RETRY_AFTER)
    assert "The database does not answer" in text(away)
    assert back.status_code == 200


@pytest.mark.parametrize("address", ["/datasets/", "/api/v1/datasets/"])
def test_an_error_of_the_program_is_not_the_databases(owner, monkeypatch, address) -> None:
    def broken(_user: User) -> str:
        raise ValueError("The disk is on fire.")

    client = Client(raise_request_exception=False)
    client.force_login(owner)
    monkeypatch.setattr(User, "get_session_auth_hash", broken)

    answer = client.get(address)

    assert answer.status_code == 500
    assert "The error is on our side" in text(answer)
    assert "Retry-After" not in answer.headers


@pytest.mark.parametrize("host", ["evil.test", "a b", "testserver:x", "x\\y"])
@pytest.mark.parametrize("address", ["/", "/api/v1/datasets/", "/accounts/password-reset/", "/nowhere/"])
def test_a_wrong_host_is_refused_in_a_sentence_and_is_no_error_of_the_log(
    settings, caplog, host: str, address: str
) -> None:
    settings.ALLOWED_HOSTS = ["testserver"]

    answer = Client().get(address, HTTP_HOST=host)

    assert answer.status_code == 400
    assert "This site is not known by the host of your request." in answer.content.decode()
    assert [record.levelname for record in caplog.records if record.exc_info or record.levelno >= 40] == []
    assert "Invalid HTTP_HOST header" in caplog.text


def test_a_forwarded_host_is_not_believed_in_mails_about_passwords(settings, caplog) -> None:
    """The link of a new password is that of the host that was asked, never one that a header names."""
    settings.ALLOWED_HOSTS, settings.MAIL_SERVER = ["testserver"], True
    user = UserFactory(username="ann", email="ann@example.org")
    user.set_password("a-long-old-password")
    user.save()
    headers = {"HTTP_X_FORWARDED_HOST": "evil.test", "HTTP_FORWARDED": "host=evil.test"}

    Client().post(reverse("password_reset"), {"email": "ann@example.org"}, **headers)
    mails_carry_out()

    (letter,) = django_mail.outbox
    assert "://testserver/" in letter.body
    assert "evil.test" not in letter.body
