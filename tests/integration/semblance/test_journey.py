"""The strip at the head of a dataset's pages: the step and one button, from a file to an export."""

import re

import pytest
from django.test import Client
from django.utils.timezone import now

from curation.models import Dataset, ScoreSet
from tests.factories import CampaignFactory, PairFactory, ScoreSetFactory
from tests.integration.annotation.pages import client_of

pytestmark = pytest.mark.django_db


def step_and_button(client: Client, dataset: Dataset) -> tuple[str, str, str]:
    """The current step, what its button says, and where that leads."""
    page = client.get(f"/datasets/{dataset.slug}/").content.decode()
    strip = page[page.index('class="journey"') :].partition("</div>")[0]
    step = re.search(r'aria-current="step">\s*(\w+)', strip)[1]
    button = re.search(r'href="([^"]+)"[^>]*>\s*([^<]+?)\s*</a>', strip)
    return (step, button[2], button[1]) if button else (step, "", "")


def test_each_step_has_one_button_that_leads_on(owner, dataset) -> None:
    client = client_of(owner)
    seen = [step_and_button(client, dataset)]
    PairFactory.create_batch(4, dataset=dataset)
    seen.append(step_and_button(client, dataset))
    campaign = CampaignFactory(dataset=dataset, state="draft")
    seen.append(step_and_button(client, dataset))
    campaign.state = "open"
    campaign.save()
    seen.append(step_and_button(client, dataset))
    campaign.state = "closed"
    campaign.closed_at = now()
    campaign.save()
    seen.append(step_and_button(client, dataset))
    ScoreSetFactory(dataset=dataset, kind=ScoreSet.Kind.HUMAN, campaign_ref=campaign.pk)
    seen.append(step_and_button(client, dataset))

    assert [step for step, *_rest in seen] == ["Import", "Campaign", "Campaign", "Judge", "Publish", "Export"]
    assert [button for _step, button, _address in seen] == [
        "Import pairs",
        "Plan a campaign",
        "Open the campaign",
        "See how judging goes",
        "Publish the scores",
        "Keep a snapshot and export",
    ]
    assert all(client.get(address).status_code == 200 for _step, _button, address in seen[-1:])


def test_the_buttons_lead_to_pages(owner, dataset) -> None:
    client = client_of(owner)
    PairFactory.create_batch(4, dataset=dataset)

    for state in ("", "draft", "open"):
        if state:
            CampaignFactory(dataset=dataset, state=state)
        assert client.get(step_and_button(client, dataset)[2]).status_code == 200, state


def test_an_archived_dataset_has_no_strip(owner, dataset) -> None:
    dataset.archived = True
    dataset.save()

    assert 'class="journey"' not in client_of(owner).get(f"/datasets/{dataset.slug}/").content.decode()
