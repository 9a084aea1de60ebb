"""What all addresses of the API share: bounded pages, and refusals that are JSON with a sentence."""

from uuid import uuid4

import pytest
from django.test import Client
from rest_framework import views  # noqa: F401 - it loads the parsers of semblance.rest, which load it in turn

from semblance.rest import Pages
from tests.factories import PairFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(curator) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(curator)
    return client


@pytest.fixture
def decisions(dataset) -> str:
    return f"/api/v1/datasets/{dataset.slug}/review/decisions/"


@pytest.mark.parametrize(
    ("body", "kind", "status", "sentence"),
    [
        (b'{"a":' * 5000, "application/json", 400, "The JSON is nested too deeply."),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "application/json", 400, "The JSON is nested too deeply."),
        (b" " * 3_000_000 + b"{}", "application/json", 413, "larger than this site accepts"),
        (b"a=1&" * 2_000, "application/x-www-form-urlencoded", 413, "more fields than this site accepts"),
        (b"{", "application/json", 400, "JSON parse error"),
        (b"{}", "text/plain", 415, "Unsupported media type"),
    ],
)
def test_a_body_that_cannot_be_read_is_answered_in_a_sentence(
    client, decisions, body, kind, status, sentence
) -> None:
    answer = client.generic("POST", decisions, body, kind)

    assert answer.status_code == status
    assert sentence in answer.json()["detail"]


def test_what_a_service_refuses_is_answered_in_its_own_sentence(client, decisions, dataset) -> None:
    imported = PairFactory(dataset=dataset)
    asked = {"pair": imported.pk, "verdict": "keep", "client_id": str(uuid4())}

    answer = client.post(decisions, asked, content_type="application/json")

    assert answer.status_code == 400
    assert "contains no machine-written sentence" in answer.json()["detail"]


@pytest.mark.parametrize(
    "address", ["datasets/", "campaigns/", "runs/", "artifacts/", "evaluations/", "datasets/{slug}/pairs/"]
)
def test_no_page_is_longer_than_its_bound(client, dataset, curator, monkeypatch, address) -> None:
    monkeypatch.setattr(Pages, "max_limit", 2)

    answer = client.get(f"/api/v1/{address.format(slug=dataset.slug)}?limit=1000000000").json()

    assert answer["next"] is None
    assert len(answer["results"]) <= 2


@pytest.mark.parametrize("address", ["", "nonsense/", "datasets/x/nonsense/1/"])
def test_an_address_that_is_none_is_answered_in_a_sentence(client, address) -> None:
    answer = client.get(f"/api/v1/{address}")

    assert answer.status_code == 404
    assert "describes every address" in answer.json()["detail"]


def test_an_address_without_its_last_slash_leads_to_the_one_with_it(client) -> None:
    assert client.get("/api/v1/datasets")["Location"] == "/api/v1/datasets/"


@pytest.mark.parametrize("name", ["limit", "offset"])
@pytest.mark.parametrize("value", ["-1", "1.5", "many", "", "9" * 30, "9" * 5000])
@pytest.mark.parametrize("address", ["datasets/", "runs/", "datasets/{slug}/pairs/"])
def test_a_limit_or_an_offset_that_is_no_number_is_refused(client, dataset, address, name, value) -> None:
    answer = client.get(f"/api/v1/{address.format(slug=dataset.slug)}", {name: value})

    assert answer.status_code == 400
    assert "Give a whole number from" in answer.json()[name][0]


def test_pages_of_the_length_and_from_the_place_that_were_asked_for(client, dataset) -> None:
    PairFactory.create_batch(5, dataset=dataset)

    answer = client.get(f"/api/v1/datasets/{dataset.slug}/pairs/?limit=2&offset=3").json()

    assert (answer["count"], len(answer["results"])) == (5, 2)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b'{"note": "x\\u0000y"}', "NUL"),
        (b'{"x\\u0000": 1}', "NUL"),
        (b'{"note": ["\\ud800"]}', "lone surrogate"),
    ],
)
def test_text_that_no_database_stores_is_refused_in_a_sentence(client, decisions, body, sentence) -> None:
    answer = client.generic("POST", decisions, body, "application/json")

    assert answer.status_code == 400
    assert sentence in answer.json()["detail"]
