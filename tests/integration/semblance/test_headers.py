"""What each answer tells the browser: what it may load and keep, and whom it may tell; and the cookies of a login."""

import pytest
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from tests.factories import UserFactory, client_of

pytestmark = pytest.mark.django_db


def answers(client: Client) -> dict[str, HttpResponse]:
    """A page, one that does not exist, an answer of the API and one for monitoring."""
    pages = ["/accounts/login/", "/nowhere/", "/api/v1/datasets/", "/livez"]
    return {page: client.get(page) for page in pages}


def test_no_answer_is_guessed_framed_or_told_to_other_sites(client) -> None:
    for answer in answers(client).values():
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert "Access-Control-Allow-Origin" not in answer.headers


def test_every_answer_has_a_policy_that_loads_nothing_from_elsewhere(client) -> None:
    for answer in answers(client).values():
        policy = answer.headers["Content-Security-Policy"]
        rules = dict(rule.split(maxsplit=1) for rule in policy.split("; "))
        assert rules["frame-ancestors"] == rules["base-uri"] == rules["object-src"] == "'none'"
        assert rules["script-src"] == "'self'"
        assert "unsafe-eval" not in policy


def test_the_cookies_of_a_login_are_no_scripts_and_no_other_sites_business(client) -> None:
    user = UserFactory(username="anna")
    user.set_password("a right password")
    user.save()

    client.post(reverse("login"), {"username": "anna", "password": "a right password"})

    session = client.cookies[settings.SESSION_COOKIE_NAME]
    assert session["httponly"]
    assert session["samesite"] == "Lax"
    assert settings.CSRF_COOKIE_SAMESITE == settings.LANGUAGE_COOKIE_SAMESITE == "Lax"


def test_the_cookies_of_a_site_with_https_fulfil_what_their_names_promise(settings) -> None:
    """A browser takes a cookie called `__Host-` only with Secure, for the whole host and no domain."""
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
    user = UserFactory(username="anna")
    user.set_password("a right password")
    user.save()
    client = Client(enforce_csrf_checks=True)
    client.get(reverse("login"))
    fields = {"username": "anna", "password": "a right password"}

    told = client.post(
        reverse("login"), {**fields, "csrfmiddlewaretoken": client.cookies["__Host-csrftoken"].value}
    )

    assert told.status_code == 302
    assert client.get("/datasets/").status_code == 200
    for cookie in client.cookies.values():
        assert (cookie["secure"], cookie["path"], cookie["domain"]) == (True, "/", "")


@pytest.mark.parametrize("address", ["/datasets/", "/api/v1/datasets/"])
def test_nothing_is_sent_back_that_trace_sent(staff, address: str) -> None:
    answer = client_of(staff).trace(address, headers={"X-Told": "an own header"})

    assert "an own header" not in answer.content.decode()
    assert answer.status_code in (403, 405)


@pytest.mark.parametrize("password", ["1234567890", "password123", "short", "anna-lena-k"])
def test_passwords_that_are_guessed_first_are_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password, UserFactory.build(username="anna-lena-k"))


def test_a_password_of_letters_alone_and_a_long_one_are_taken() -> None:
    validate_password("correcthorsebatterystaple")
    validate_password("p" * 40 + "q" * 40)
