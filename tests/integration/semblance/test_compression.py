"""What a page consists of travels compressed; downloads travel as they are."""

import gzip
import re
from contextlib import closing

import pytest
from django.http import HttpResponse
from django.test import Client

from curation.exchange.exporting import snapshot_create
from tests.factories import CampaignFactory, PairFactory, client_of

pytestmark = pytest.mark.django_db
GZIP = {"Accept-Encoding": "gzip"}
CARRIED = 100_000  # bytes that the judging screen may take on its way


@pytest.fixture
def client(owner) -> Client:
    return client_of(owner)


def bytes_of(answer: HttpResponse) -> bytes:
    if not answer.streaming:
        return answer.content
    with closing(answer):
        return b"".join(answer.streaming_content)


def test_the_judging_screen_is_small_on_its_way(client, dataset) -> None:
    campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=2, tuples=8)

    page = client.get(f"/campaigns/{campaign.pk}/judge/", headers=GZIP).content
    screen = client.get(f"/campaigns/{campaign.pk}/judge/screen/", headers=GZIP).content
    files = set(re.findall(rb'(?:src|href)="(/static/[^"]+)"', gzip.decompress(page)))
    modules = {b"/static/js/deciding.js"}  # judge.js imports it
    carried = [len(bytes_of(client.get(address.decode(), headers=GZIP))) for address in files | modules]

    assert len(files) >= 3
    assert len(page) + len(screen) + sum(carried) < CARRIED


def test_a_page_and_a_style_sheet_are_what_they_were(client) -> None:
    for address in ("/datasets/", "/static/css/app.css"):
        plain, packed = (bytes_of(client.get(address, headers=headers)) for headers in ({}, GZIP))

        assert len(packed) < len(plain) / 2
        if address.startswith("/static/"):
            assert gzip.decompress(packed) == plain


@pytest.mark.parametrize(
    ("address", "more"),
    [
        ("/campaigns/{campaign}/judgements.csv", {}),
        ("/datasets/{slug}/snapshots/1/pairs.parquet", {}),
        ("/static/css/app.css", {"Range": "bytes=0-999"}),
    ],
)
def test_a_download_and_a_part_of_a_file_are_not_compressed(client, owner, dataset, address, more) -> None:
    PairFactory.create_batch(30, dataset=dataset)
    snapshot_create(dataset=dataset, by=owner)
    campaign = CampaignFactory(dataset=dataset)

    answer = client.get(address.format(campaign=campaign.pk, slug=dataset.slug), headers=GZIP | more)

    assert answer.status_code in {200, 206}
    assert "Content-Encoding" not in answer
    assert bytes_of(answer)
