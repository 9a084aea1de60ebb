"""Every address needs a login, but for the few that are named here: a walk through the resolver finds them all."""

import re
import uuid
from collections.abc import Iterator
from contextlib import closing

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RegexPattern, RoutePattern

pytestmark = pytest.mark.django_db

# What a stranger may open: logging in, joining by invitation or a crowd's link, the icon, and the two health checks.
OPEN = {
    "accounts/login/",
    "admin/login/",
    "crowd/x/",
    "crowd/x/consent/",
    "favicon.ico",
    "healthz",
    "invitations/x/",
    "livez",
}
# What has the guide for readers without an account, and 404 for a page that it does not have (test_guide.py).
OF_THE_GUIDE = {"guide/", "guide/x/", "guide/pictures/x"}
# Says that one is logged out, which a stranger is, or keeps a language in a cookie; there is nothing to protect.
HARMLESS = {"accounts/language/", "accounts/logout/", "admin/logout/", "admin/jsi18n/"}
# Open to the program that has the token of the settings, and nothing at all without that setting (test_metrics.py).
OF_A_PROGRAM = {"metrics"}
# Leads to the provider of single sign-on and back; nothing at all without one (test_sign_on.py).
OF_PROVIDER = {"accounts/sign-on/", "accounts/sign-on/callback/"}
# What a command printed for a superuser; a link that is none is refused (test_sign_on.py).
OF_COMMAND = {"accounts/link/x/x/"}
# Open to who forgot a password, and nothing at all without a mail server (test_mail.py).
OF_MAIL = {"accounts/password/new/", "accounts/password/new/done/", "accounts/password/new/x/x/"}
EXAMPLES = {
    "number": "1",
    "slug": "x",
    "str": "x",
    "path": "x",
    "anything": "x",
    "uuid": str(uuid.UUID(int=1)),
}


def addresses(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        address = before + example(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, address)
        else:
            yield address


def example(pattern: RoutePattern | RegexPattern) -> str:
    """An address that the pattern matches."""
    if isinstance(pattern, RegexPattern):
        regex = str(pattern).removeprefix("^").removesuffix("$")
        return re.sub(r"\(\?P<\w+>([^)]*)\)", lambda group: example_of_group(group[1]), regex)
    text = str(pattern)
    for name, converter in pattern.converters.items():
        kind = type(converter).__name__.removesuffix("Converter").lower().replace("string", "str")
        text = text.replace(f"<{kind}:{name}>", EXAMPLES[kind]).replace(f"<{name}>", EXAMPLES[kind])
    return text


def example_of_group(regex: str) -> str:
    first, *others = regex.split("|")
    return first if others else "1"


ALL = sorted(set(addresses(get_resolver().url_patterns)))


def test_the_walk_finds_the_pages_of_every_app() -> None:
    expected = {"", "datasets/x/pairs/1/", "campaigns/1/judge/", "runs/1/", "api/v1/datasets/x/", "admin/"}

    assert expected | OPEN <= set(ALL)


def asks_for_a_login(answer: HttpResponse) -> bool:
    sent = answer.status_code == 302 and "/login/?next=" in answer["Location"]
    return sent or answer.status_code in {401, 403}


@pytest.mark.exhaustive
@pytest.mark.parametrize("method", ["get", "post"])
def test_every_other_address_asks_a_stranger_to_log_in(method: str) -> None:
    closed = [
        f"/{address}"
        for address in ALL
        if address not in OPEN | HARMLESS | OF_A_PROGRAM | OF_MAIL | OF_PROVIDER | OF_COMMAND | OF_THE_GUIDE
    ]

    ask = getattr(Client(), method)
    answers = {address: ask(address) for address in closed}

    assert {a: answer.status_code for a, answer in answers.items() if not asks_for_a_login(answer)} == {}


@pytest.mark.parametrize(
    "address", sorted(OPEN - {"crowd/x/", "crowd/x/consent/", "favicon.ico", "invitations/x/"})
)
def test_what_is_open_answers_a_stranger(address: str) -> None:
    answer = Client().get(f"/{address}")

    assert answer.status_code == 200


def test_an_invitation_that_does_not_exist_says_so_without_a_login() -> None:
    answer = Client().get("/invitations/x/")

    assert answer.status_code == 404
    assert b"This invitation does not exist" in answer.content


@pytest.mark.parametrize("address", ["crowd/x/", "crowd/x/consent/"])
def test_a_crowds_link_that_does_not_exist_says_so_without_a_login(address: str) -> None:
    answer = Client().get(f"/{address}")

    assert answer.status_code == 404
    assert b"Open the study from" in answer.content


@pytest.mark.parametrize("address", sorted(HARMLESS))
def test_what_is_harmless_shows_a_stranger_nothing(address: str) -> None:
    answer = Client().get(f"/{address}")

    assert answer.status_code in {200, 302, 405}
    assert b"<table" not in answer.content


def test_static_files_need_no_login() -> None:
    with closing(Client().get("/static/css/app.css")) as answer:
        assert answer.status_code == 200


def test_static_files_carry_the_content_security_policy_too() -> None:
    with closing(Client().get("/static/icon.svg")) as answer:
        assert answer.status_code == 200
        assert "default-src 'self'" in answer["Content-Security-Policy"]


def test_the_icon_is_found_at_its_old_address(client) -> None:
    answer = client.get("/favicon.ico")

    assert answer.status_code == 301
    assert answer.headers["Location"].endswith(".svg")
