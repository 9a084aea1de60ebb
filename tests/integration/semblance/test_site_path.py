"""The site under /a/b/ of its host: no link, file, redirect, cookie or address of the API leads out of it."""

import json
import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import pytest
from django.conf import settings
from django.core.signals import request_finished
from django.db import close_old_connections
from django.http import HttpResponse
from django.test import Client
from django.urls import (
    Resolver404,
    clear_script_prefix,
    get_script_prefix,
    resolve,
    reverse,
    set_script_prefix,
)

from curation.models import Dataset, User
from mlworkers.plans.kinds import KINDS
from semblance.guide.views import _page
from tests.factories import MembershipFactory, UserFactory, client_of
from tests.integration.semblance.filled import installation_filled

PATH = "/a/b"
HOST = "http://testserver"
# Pages whose title has no sign that leads to the guide: a question of a campaign, and what an account has.
UNEXPLAINED = {"annotation:judge", "curation:sessions", "password_change"}
# Attributes that are addresses. Those of scripts and of htmx are found by how their values begin.
ADDRESSES = {"href", "src", "action", "formaction"}


@pytest.fixture
def under_a_path(settings) -> Iterator[None]:
    """What SITE_PATH=/a/b/ sets when settings are read (test_settings), for the process of the tests."""
    before = get_script_prefix()
    settings.SITE_PATH = settings.FORCE_SCRIPT_NAME = PATH
    settings.STATIC_URL = f"{PATH}/static/"
    settings.SESSION_COOKIE_PATH = settings.CSRF_COOKIE_PATH = settings.LANGUAGE_COOKIE_PATH = f"{PATH}/"
    set_script_prefix(PATH)
    _page.cache_clear()
    yield
    _page.cache_clear()
    set_script_prefix(before) if before != "/" else clear_script_prefix()


@pytest.fixture
def filled(under_a_path, db, home) -> Dataset:
    installation_filled(home)
    return Dataset.objects.get()


class Addresses(HTMLParser):
    """Every address in a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.pressed: set[str] = set()  # by buttons alone: nobody follows them
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value and (name in ADDRESSES or value.startswith(("/", "http://", "https://"))):
                (self.pressed if name in {"action", "formaction"} else self.found).add(value)

    def handle_data(self, data: str) -> None:
        """What a page shows for copying, and what its scripts read as JSON."""
        self.found.update(re.findall(rf"{HOST}[^\s\"'<]*", data))
        if data.lstrip().startswith("{") and data.rstrip().endswith("}"):
            self.found.update(texts_that_are_addresses(json.loads(data)))


def texts_that_are_addresses(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_that_are_addresses(each)
    elif isinstance(value, str) and re.fullmatch(rf"({HOST})?/\w[^\s]*", value):
        yield value


def addresses_in(answer: HttpResponse) -> tuple[set[str], set[str]]:
    """Those that somebody can follow, and those that a button sends a form to."""
    kind = answer["Content-Type"].partition(";")[0]
    found = {answer["Location"]} if answer.has_header("Location") else set()
    if answer.streaming or answer.has_header("Content-Disposition"):
        return found, set()
    if kind == "text/html":
        page = Addresses(answer.content.decode())
        return found | page.found, page.pressed
    return found | set(texts_that_are_addresses(answer.json()) if kind == "application/json" else ()), set()


def is_of_this_host(address: str) -> bool:
    return address.startswith(("/", HOST)) and not address.startswith("//")


@contextmanager
def answered(client: Client, address: str) -> Iterator[HttpResponse]:
    """The answer. Its file is closed afterwards, which Django takes for the end of its connection to the database."""
    answer = client.get(address)
    yield answer
    request_finished.disconnect(close_old_connections)
    answer.close()
    request_finished.connect(close_old_connections)


@dataclass
class Walk:
    """escaped: addresses that lead out of the path, each with the page that has it. seen: kinds of addresses.

    unexplained: the names of pages whose title has no sign that leads to the guide.
    """

    escaped: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    unexplained: set[str] = field(default_factory=set)


def walk(client: Client, *starts: str) -> Walk:
    """Follow links from page to page, one example of each kind of address."""
    walked = Walk()
    waiting = deque(starts)
    while waiting:
        page = waiting.popleft()
        with answered(client, page) as answer:
            assert answer.status_code < 500, page
            found, pressed = addresses_in(answer)
            if has_title_without_sign(answer):
                walked.unexplained.add(resolve(re.split(r"[?#]", page)[0].removeprefix(PATH)).view_name)
        for address in filter(is_of_this_host, found | pressed):
            place = re.split(r"[?#]", address.removeprefix(HOST))[0]
            if not place.startswith(f"{PATH}/"):
                walked.escaped[address] = page
                continue
            kind = kind_of(place)
            if kind and kind not in walked.seen and address in found:
                walked.seen.add(kind)
                waiting.append(address.removeprefix(HOST).partition("#")[0])
    return walked


def has_title_without_sign(answer: HttpResponse) -> bool:
    html = b"" if answer.streaming or answer.status_code != 200 else answer.content
    return b"<h1" in html and b'class="guide-link"' not in html


def kind_of(place: str) -> str:
    """The pattern of an address, and for starting runs the kind too, because each has a form of its own."""
    try:
        match = resolve(place.removeprefix(PATH))
    except Resolver404:
        assert place.startswith(f"{PATH}/static/"), place
        return ""
    return f"{match.route} {match.kwargs['kind']}" if match.kwargs.get("kind") in KINDS else match.route


@pytest.mark.exhaustive
def test_no_link_of_any_page_leads_out_of_the_path(filled) -> None:
    admin = UserFactory(is_staff=True, is_superuser=True)
    MembershipFactory(dataset=filled, user=admin, role="owner")

    walked = walk(client_of(admin), f"{PATH}/", f"{PATH}/admin/", reverse("curation:api_tokens"))

    assert walked.escaped == {}
    expected = {"campaigns/<number:campaign_pk>/judge/", "guide/<slug:name>/", "runs/<number:pk>/"}
    assert expected <= walked.seen
    assert len(walked.seen) > 100, sorted(walked.seen)  # the walk went everywhere
    unexplained = {name for name in walked.unexplained if not name.startswith(("admin:", "guide"))}
    assert unexplained <= UNEXPLAINED


def test_no_address_of_the_api_leads_out_of_the_path(filled) -> None:
    admin = UserFactory(is_staff=True, is_superuser=True)
    lists = [reverse(name) for name in ("api_datasets", "api_campaigns", "run-list")]
    pairs = f"{reverse('api_pairs', args=[filled.slug])}?limit=2"

    walked = walk(client_of(admin), *lists, pairs)

    assert walked.escaped == {}
    assert client_of(admin).get(pairs).json()["next"].startswith(f"{HOST}{PATH}/api/v1/datasets/")


@pytest.mark.parametrize("passed_on", [PATH, ""], ids=["path passed on", "path taken away"])
def test_a_proxy_may_pass_the_path_on_or_take_it_away(under_a_path, db, client, passed_on) -> None:
    answers = [client.get(f"{passed_on}{page}") for page in ("/accounts/login/", "/healthz")]
    sent = client.get(f"{passed_on}/datasets/")
    with answered(client, f"{passed_on}/static/css/app.css") as file:
        assert file.status_code == 200

    assert [answer.status_code for answer in answers] == [200, 200]
    assert sent["Location"] == f"{PATH}/accounts/login/?next={PATH}/datasets/"


def test_the_path_without_its_last_slash_leads_home(under_a_path, db, client) -> None:
    assert client.get(PATH)["Location"] == f"{PATH}/"


def test_a_path_that_only_begins_alike_is_not_the_sites(under_a_path, db, client) -> None:
    assert client.get(f"{PATH}c/accounts/login/").status_code == 404


def test_logging_in_sets_cookies_of_the_path_alone_and_leads_back(under_a_path, db, client) -> None:
    User.objects.create_user("dana", password="a-long-enough-secret")
    login = f"{PATH}/accounts/login/?next={PATH}/datasets/"

    client.get(login)
    answer = client.post(login, {"username": "dana", "password": "a-long-enough-secret"})

    assert answer["Location"] == f"{PATH}/datasets/"
    paths = {cookie.key: cookie["path"] for cookie in client.cookies.values()}
    assert paths == {settings.SESSION_COOKIE_NAME: f"{PATH}/", settings.CSRF_COOKIE_NAME: f"{PATH}/"}


def test_a_chosen_language_is_a_cookie_of_the_path(under_a_path, db, client) -> None:
    answer = client.post(reverse("set_language"), {"language": "de", "next": f"{PATH}/accounts/login/"})

    assert answer["Location"] == f"{PATH}/accounts/login/"
    assert client.cookies[settings.LANGUAGE_COOKIE_NAME]["path"] == f"{PATH}/"


def test_the_link_of_an_invitation_has_the_path(under_a_path, dataset, owner) -> None:
    page = client_of(owner).post(
        reverse("curation:invitation_list", args=[dataset.slug]),
        {"role": "annotator", "people": 1, "days": 7},
    )

    found = Addresses(page.content.decode()).found
    invitation = next(link for link in found if link.startswith(f"{HOST}{PATH}/invitations/"))
    assert Client().get(invitation.removeprefix(HOST)).status_code == 200
