"""What all addresses of the API share: bounded pages, and refusals that are JSON with a sentence."""

from uuid import uuid4

import pytest
from django.test import Client

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
        (b" " * 3_000_000 + b"{}", "application/json", 413, "larger than this site takes"),
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
    assert "holds no machine-written sentence" in answer.json()["detail"]


@pytest.mark.parametrize(
    "address", ["datasets/", "campaigns/", "runs/", "artifacts/", "evaluations/", "datasets/{slug}/pairs/"]
)
def test_no_page_is_longer_than_its_bound(client, dataset, curator, monkeypatch, address) -> None:
    monkeypatch.setattr("semblance.rest.Pages.max_limit", 2)

    answer = client.get(f"/api/v1/{address.format(slug=dataset.slug)}?limit=1000000000").json()

    assert answer["next"] is None
    assert len(answer["results"]) <= 2


@pytest.mark.parametrize("address", ["", "nonsense/", "datasets/x/nonsense/1/"])
def test_an_address_that_is_none_is_answered_in_a_sentence(client, address) -> None:
    answer = client.get(f"/api/v1/{address}")

    assert answer.status_code == 404
    assert "lists what there is" in answer.json()["detail"]


def test_an_address_without_its_last_slash_leads_to_the_one_with_it(client) -> None:
    assert client.get("/api/v1/datasets")["Location"] == "/api/v1/datasets/"
