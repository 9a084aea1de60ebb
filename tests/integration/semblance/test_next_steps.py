"""What a page says after it did something leads to what comes next."""

import re

import pytest
from django.contrib.messages import get_messages
from django.contrib.messages.storage.fallback import FallbackStorage
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign
from curation.views.said import success_say
from tests.factories import CampaignFactory, PairFactory, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def owning(owner) -> Client:
    return client_of(owner)


@pytest.fixture
def campaign(dataset) -> Campaign:
    return CampaignFactory(dataset=dataset)


def next_step(answer) -> str:
    """The address behind the link of the message."""
    notice = re.search(r'<div class="notice success" role="status">(.*?)</div>', answer.text, re.DOTALL)
    assert notice, "no message"
    link = re.search(r'<a href="([^"]+)">', notice[1])
    assert link, notice[1]
    return link[1]


def test_saved_guidelines_lead_to_the_campaign(owning, campaign) -> None:
    guidelines = reverse("annotation:guidelines", args=[campaign.pk])

    answer = owning.post(guidelines, {"text": "Read <both> sentences."}, follow=True)

    assert next_step(answer) == reverse("annotation:campaign", args=[campaign.pk])


def test_saved_settings_lead_to_the_pairs(owning, dataset) -> None:
    page = reverse("curation:settings", args=[dataset.slug])
    form = owning.get(page).context["form"]
    sent = {name: value for name, value in form.initial.items() if value is not None}

    answer = owning.post(page, sent, follow=True)

    assert next_step(answer) == reverse("curation:dataset", args=[dataset.slug])


def test_a_snapshot_leads_to_the_export(owning, dataset) -> None:
    PairFactory(dataset=dataset)
    page = reverse("curation:snapshots", args=[dataset.slug])
    form = owning.get(page).context["form"]
    sent = {bound.name: bound.initial for bound in form if bound.initial is not None}

    answer = owning.post(page, sent, follow=True)

    assert next_step(answer) == reverse("curation:export", args=[dataset.slug])


def test_what_people_wrote_is_text_in_a_message(rf) -> None:
    request = rf.get("/")
    request.session = {}
    request._messages = FallbackStorage(request)

    success_say(request, "<b>", then="next", address="/a/?b=1&c=2")

    assert [message.message for message in get_messages(request)] == [
        '&lt;b&gt; <a href="/a/?b=1&amp;c=2">next</a>'
    ]
