"""How far a worker is with a design is seen while the worker holds a transaction open."""

import time

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.campaigns.commissioning import Progress, design_claim, design_commission
from annotation.campaigns.services import campaign_create, design_cancel
from annotation.models import CampaignDesign
from curation.foundation import heartbeats
from curation.foundation.heartbeats import ClaimLost, beating
from tests.factories import DatasetFactory, PairFactory

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 60.0  # seconds; a machine may be busy


@pytest.fixture
def progress(monkeypatch) -> Progress:
    monkeypatch.setattr(heartbeats, "SECONDS_BETWEEN_BEATS", 0.01)
    dataset = DatasetFactory()
    PairFactory.create_batch(8, dataset=dataset)
    campaign = campaign_create(dataset=dataset, name="Large", factor=1.0)
    design_commission(campaign=campaign, purpose="open", at=timezone.now())
    return Progress(design_claim(campaign_pk=campaign.pk, at=timezone.now()))


def wait_for(condition) -> None:
    until = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)


def test_progress_is_written_while_the_tuples_are_written_in_one_transaction(progress) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer: its progress stands still while the tuples are written.")
    before = CampaignDesign.objects.get().heartbeat_at

    with beating("heartbeat", progress._hold.beat), transaction.atomic():
        progress.written(3, 12)
        wait_for(lambda: CampaignDesign.objects.get().done == 3)
        work = CampaignDesign.objects.get()

    assert (work.done, work.total, work.message) == (3, 12, "Tuples are being written.")
    assert work.heartbeat_at > before


def test_a_search_that_somebody_cancelled_ends_at_its_next_round(progress) -> None:
    with beating("heartbeat", progress._hold.beat):
        design_cancel(campaign=CampaignDesign.objects.get().campaign)
        wait_for(progress._hold._lost.is_set)
        with pytest.raises(ClaimLost):
            progress.searched(1, 10)
