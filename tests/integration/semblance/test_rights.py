"""Every address, every method and every kind of visitor, asked for the objects of a dataset, against a table.

`rights.txt` has a row for each address and method that is answered: what each visitor gets. A new address without a
row fails. `SEMBLANCE_KEEP_RIGHTS=1 pytest tests/integration/semblance/test_rights.py -n 0` writes the table again; read
what changed before you commit it. "elsewhere" is the owner of another dataset. "read", "judge" and "write" are tokens
of the dataset's owner with these scopes; pages know no tokens.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.http import HttpResponse
from django.template import Template
from django.test import Client

from tests.factories import client_of, token_of
from tests.integration.semblance.every_address import ALL, PAGES, PARTS, Address, asked, part_of, path_of
from tests.integration.semblance.objects_of_others import PEOPLE, Others

pytestmark = pytest.mark.django_db

TABLE = Path(__file__).parent / "rights.txt"
SCOPES = ("read", "judge", "write")
VISITORS = ("anonymous", *PEOPLE, *SCOPES)
OF_ADMIN = (
    "anonymous",
    "owner",
    "staff",
    "superuser",
)  # the administration knows no datasets, so these are enough
REFUSED = {"401", "403", "404", "login"}


def outcome(answer: HttpResponse) -> str:
    """`in` where the visitor got past the question who they are; what they then got depends on what they sent."""
    if answer.status_code == 302 and "/login/?next=" in answer["Location"]:
        return "login"
    code = str(answer.status_code)
    return code if code in REFUSED or code == "405" or answer.status_code >= 500 else "in"


class Visitors:
    def __init__(self, others: Others) -> None:
        self.others = others
        self._superuser = ""  # what the superuser got last, when a page was asked whether it takes the method
        self._sessions = {}
        self._handler = Client().handler  # one site, which loads its middleware once
        for name in PEOPLE:
            client = client_of(others.people[name])
            self._sessions[name] = client.cookies["sessionid"].value
        self._tokens = {scope: token_of(others.people["owner"], scope) for scope in SCOPES}

    def client(self, name: str) -> Client:
        client = Client(raise_request_exception=False)
        client.handler = self._handler
        if name in self._sessions:
            client.cookies["sessionid"] = self._sessions[name]
        elif name in SCOPES:
            client.defaults["HTTP_AUTHORIZATION"] = f"Token {self._tokens[name]}"
        return client

    def outcomes(self, address: Address, method: str) -> list[str]:
        path = path_of(address, self.others)
        body = self.others.bodies.get(address.name)
        names = OF_ADMIN if path.startswith("/admin/") else VISITORS if "/api/" in path else (*VISITORS[:-3],)
        known = {"superuser": self._superuser} if self._superuser and not address.programs else {}
        found = {n: known.get(n) or outcome(asked(self.client(n), method, path, body)) for n in names}
        return [found.get(name, "-") for name in VISITORS]

    def methods(self, address: Address) -> Iterator[str]:
        """The methods that the address takes."""
        path = path_of(address, self.others)
        for method in address.programs or PAGES:
            if not address.programs:
                self._superuser = outcome(asked(self.client("superuser"), method, path))
            if address.programs or self._superuser != "405":
                yield method


def rows_of(part: str, visitors: Visitors) -> dict[str, list[str]]:
    found = {}
    for address in ALL:
        if part_of(address) == part:
            for method in visitors.methods(address):
                found[f"{method} /{address.route}"] = visitors.outcomes(address, method)
    return found


def table() -> dict[str, list[str]]:
    rows = [line.split() for line in TABLE.read_text().splitlines()[1:]]
    return {f"{method} {route}": outcomes for method, route, *outcomes in rows}


def written(rows: dict[str, list[str]]) -> str:
    width = max(len(row) for row in rows) + 2
    lines = [("METHOD /ADDRESS", list(VISITORS)), *sorted(rows.items(), key=lambda row: row[0].split()[::-1])]
    return "".join(
        f"{name:{width}}" + " ".join(f"{outcome:9}" for outcome in outcomes).rstrip() + "\n"
        for name, outcomes in lines
    )


@pytest.fixture
def visitors(monkeypatch, settings) -> Visitors:
    """Who gets in is decided before a page is drawn, which takes most of the time and has tests of its own."""
    settings.MAIL_SERVER = True
    settings.OIDC_ISSUER = "http://127.0.0.1:9"  # nobody answers there
    monkeypatch.setattr(Template, "render", lambda _template, _context: "")
    return Visitors(Others())


@pytest.mark.skipif("SEMBLANCE_KEEP_RIGHTS" not in os.environ, reason="writes the table")
def test_the_table_is_written(visitors) -> None:
    rows: dict[str, list[str]] = {}
    for part in PARTS:
        rows |= rows_of(part, visitors)
    TABLE.write_text(written(rows))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.exhaustive
def test_everybody_gets_what_the_table_says(part: str, visitors) -> None:
    found = rows_of(part, visitors)

    of_this_part = {
        row: outcomes for row, outcomes in table().items() if part_of(Address(row.split(" /")[1], "")) == part
    }
    assert found == of_this_part


def test_the_table_lets_nobody_in_who_does_not_belong() -> None:
    """What no row may say, whoever writes the table."""
    column = {name: place for place, name in enumerate(VISITORS)}
    broken = []
    for row, outcomes in table().items():
        got = {name: outcomes[place] for name, place in column.items()}
        about_an_object = re.search(r"<(?:slug:slug|number:\w*pk)>", row) and "/admin/" not in row
        if about_an_object and not re.search("token_pk|session_pk|own_", row):
            broken += [row for name in ("stranger", "elsewhere") if got[name] not in REFUSED]
        broken += [row for name in VISITORS if got[name].startswith("5")]
        if "/admin/" in row and not re.search("/log(in|out)/|/jsi18n/|/admin/password_change/", row):
            broken += [row for name in ("anonymous", "owner") if got[name] == "in"]
        if "/api/" in row:
            broken += [row for scope in SCOPES if got[scope] == "in" and got["owner"] != "in"]
            broken += [row] * (got["read"] == "in" and not row.startswith("GET"))

    assert broken == []


@pytest.mark.exhaustive
def test_no_object_is_found_under_the_dataset_of_somebody_else(visitors) -> None:
    """The owner of one dataset asks for numbers of another one's objects under their own dataset."""
    others, client = visitors.others, visitors.client("elsewhere")
    others.values["slug"] = others.elsewhere.slug
    found = {}
    for address in ALL:
        below = re.search(r"<slug:slug>.*<number:", address.route)
        if below and "/admin/" not in address.route:
            for method in address.programs or PAGES:
                found[f"{method} /{address.route}"] = outcome(asked(client, method, path_of(address, others)))

    assert len(found) > 60
    assert {row: got for row, got in found.items() if got not in {"404", "405"}} == {}
    assert connection.in_atomic_block  # the test's own transaction: nothing that was asked is kept
