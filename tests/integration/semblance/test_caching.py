"""What is private stays in no cache; what is static does."""

from contextlib import closing

import pytest
from django.test import Client
from django.utils.timezone import now

from curation.exchange.exporting import snapshot_create
from curation.people.members import invitation_create
from tests.factories import PairFactory, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(owner) -> Client:
    return client_of(owner)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "pairs/{pair}/",
        "members/",
        "settings/",
        "export/",
        "snapshots/",
        "snapshots/1/",
        "snapshots/1/pairs.parquet",
        "nowhere/",
    ],
)
def test_pages_and_downloads_of_a_dataset_are_kept_nowhere(client, owner, dataset, address) -> None:
    pair = PairFactory(dataset=dataset)
    snapshot_create(dataset=dataset, by=owner)

    with closing(client.get(f"/datasets/{dataset.slug}/{address.format(pair=pair.pk)}")) as answer:
        assert "no-store" in answer["Cache-Control"]
        assert "private" in answer["Cache-Control"]


@pytest.mark.parametrize(
    "address", ["/api/v1/datasets/", "/api/v1/nowhere/", "/runs/", "/judge/", "/accounts/tokens/"]
)
def test_the_api_and_lists_are_kept_nowhere(client, address) -> None:
    assert "no-store" in client.get(address)["Cache-Control"]


def test_the_page_of_an_invitation_is_kept_nowhere(owner, dataset) -> None:
    _made, token = invitation_create(dataset=dataset, role="curator", people=1, days=1, by=owner, at=now())

    assert "no-store" in Client().get(f"/invitations/{token}/")["Cache-Control"]


def test_static_files_keep_their_own_header() -> None:
    with closing(Client().get("/static/css/app.css")) as answer:
        assert "no-store" not in answer["Cache-Control"]
        assert "public" in answer["Cache-Control"]
