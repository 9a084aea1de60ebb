"""Every answer has an id that the log has, too: lines and JSON, and the page that says that something went wrong."""

import contextvars
import io
import json
import logging
import logging.config
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.test import Client

from semblance import home
from semblance.request_ids import HEADER, OUTSIDE, RequestIds

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["line", "json"])
def log(request) -> Iterator[tuple[str, io.StringIO]]:
    """The format, and what Django's log of requests says in it, made as the settings say."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    made_as = logging.config.DictConfigurator(settings.LOGGING)
    handler.setFormatter(made_as.configure_formatter(settings.LOGGING["formatters"][request.param]))
    handler.addFilter(RequestIds())
    logger = logging.getLogger("django.request")
    logger.addHandler(handler)
    yield request.param, written
    logger.removeHandler(handler)


@pytest.fixture
def broken(monkeypatch) -> None:
    def fail() -> dict[str, str]:
        raise RuntimeError("The disk is on fire.")

    monkeypatch.setattr(home, "problems", fail)


def test_each_request_has_an_id_of_its_own() -> None:
    ids = {Client().get("/livez").headers[HEADER] for _ in range(3)}

    assert len(ids) == 3
    assert all(len(one) == 16 for one in ids)


def test_the_id_of_a_proxy_is_kept() -> None:
    assert Client().get("/livez", headers={HEADER: "edge-7.a_B"}).headers[HEADER] == "edge-7.a_B"


@pytest.mark.parametrize("given", ["", "a b", "a\tb", "x" * 65, "<b>", "ü"])
def test_what_is_no_id_is_replaced(given: str) -> None:
    kept = Client().get("/livez", headers={HEADER: given}).headers[HEADER]

    assert kept != given
    assert len(kept) == 16


def test_the_page_of_an_error_shows_the_id_that_the_log_has(broken, log) -> None:
    form, written = log

    answer = Client(raise_request_exception=False).get("/healthz")

    id_of_request = answer.headers[HEADER]
    assert answer.status_code == 500
    assert f"<code>{id_of_request}</code>" in answer.content.decode()
    line = written.getvalue()
    assert "The disk is on fire." in line
    if form == "line":
        assert f"ERROR django.request {id_of_request}: Internal Server Error: /healthz" in line
    else:
        said = json.loads(line)
        assert (said["level"], said["logger"], said["request_id"]) == (
            "ERROR",
            "django.request",
            id_of_request,
        )
        assert said["message"] == "Internal Server Error: /healthz"
        assert "RuntimeError" in said["exc_info"]


def test_a_line_that_belongs_to_no_request_says_so() -> None:
    record = logging.makeLogRecord({"msg": "started"})
    contextvars.Context().run(RequestIds().filter, record)

    assert record.request_id == OUTSIDE


def test_a_process_is_alive_while_the_site_has_problems(monkeypatch) -> None:
    monkeypatch.setattr(home, "problems", lambda: {"database": "It does not answer."})

    assert Client().get("/healthz").status_code == 503
    assert Client().get("/livez").status_code == 200
