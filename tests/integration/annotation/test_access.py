"""Who gets a campaign: a stranger 404, a member who may not 403, a draft is hidden from annotators."""

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from annotation.access import campaign_for, campaign_may
from tests.factories import CampaignFactory


@pytest.fixture
def campaign(dataset):
    return CampaignFactory(dataset=dataset)


@pytest.mark.parametrize("may", ["annotate", "read", "curate", "own"])
def test_a_stranger_finds_no_campaign(campaign, stranger, may) -> None:
    with pytest.raises(Http404):
        campaign_for(stranger, campaign.pk, may=may)


def test_a_campaign_that_is_not_there_is_not_found(owner) -> None:
    with pytest.raises(Http404):
        campaign_for(owner, 404, may="own")


def test_an_annotator_judges_but_does_not_read_the_dashboard(campaign, annotator) -> None:
    assert campaign_for(annotator, campaign.pk, may="annotate") == campaign
    with pytest.raises(PermissionDenied):
        campaign_for(annotator, campaign.pk, may="read")


@pytest.mark.parametrize("may", ["annotate", "read", "curate"])
def test_a_curator_judges_reads_and_curates(campaign, curator, may) -> None:
    assert campaign_for(curator, campaign.pk, may=may) == campaign


def test_only_an_owner_owns(campaign, owner, curator) -> None:
    assert campaign_for(owner, campaign.pk, may="own") == campaign
    with pytest.raises(PermissionDenied):
        campaign_for(curator, campaign.pk, may="own")


@pytest.mark.parametrize("may", ["annotate", "read"])
def test_a_draft_is_there_for_curators_alone(campaign, annotator, curator, may) -> None:
    campaign.state = "draft"
    campaign.save()

    assert campaign_for(curator, campaign.pk, may=may) == campaign
    with pytest.raises((Http404, PermissionDenied)):
        campaign_for(annotator, campaign.pk, may=may)


def test_staff_read_every_campaign_and_change_none(campaign, staff) -> None:
    assert campaign_for(staff, campaign.pk, may="read") == campaign
    with pytest.raises(PermissionDenied):
        campaign_for(staff, campaign.pk, may="curate")


@pytest.mark.parametrize(("role", "offered"), [("annotator", False), ("curator", True), ("stranger", False)])
def test_a_button_is_offered_to_those_who_may_press_it(campaign, request, role, offered) -> None:
    assert campaign_may(request.getfixturevalue(role), campaign, may="curate") is offered
