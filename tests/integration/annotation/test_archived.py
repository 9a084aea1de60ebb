"""An archived dataset is read-only, campaigns included; a judgement on its way is kept all the same."""

import pytest

from annotation.access import work_may_end
from annotation.campaigns.gold import gold_change
from annotation.campaigns.services import campaign_create, campaign_pause, guideline_save
from annotation.judging.assignment import (
    judgement_undo,
    participation_join,
    tuple_claim,
    tuple_flag,
    tuple_skip,
)
from annotation.judging.choosing import NoTupleReason
from annotation.models import Campaign, CampaignWork, Judgement, Lease
from annotation.results.publishing import scores_publish
from curation.datasets.services import dataset_archive, dataset_restore
from curation.foundation.errors import UserError
from curation.people.access import ArchivedError
from tests.factories import GoldFactory, MembershipFactory, client_of
from tests.integration.annotation.pages import address, answer_on, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def archived(campaign) -> Campaign:
    dataset_archive(dataset=campaign.dataset)
    return Campaign.objects.select_related("dataset").get(pk=campaign.pk)


def test_nothing_more_is_handed_out(anna, archived, at) -> None:
    assert tuple_claim(participation=anna, at=at) is NoTupleReason.ARCHIVED


def test_a_judgement_that_was_made_before_is_kept_and_brings_no_next_tuple(campaign, annotator) -> None:
    client = client_of(annotator)
    page = client.get(address("judge", campaign))
    dataset_archive(dataset=campaign.dataset)

    sent = client.post(
        address("judgement_create", campaign), answer_on(page), headers={"Accept": "application/json"}
    )

    assert sent.status_code == 200
    assert Judgement.objects.count() == 1
    assert sent.json()["over"]
    assert "This dataset is archived" in text_of(client.get(address("judge", campaign)))


def test_what_was_judged_can_neither_be_undone_nor_skipped_nor_flagged(anna, campaign, answer, at) -> None:
    answer(anna)
    lease = tuple_claim(participation=anna, at=at)
    assert isinstance(lease, Lease)
    dataset_archive(dataset=campaign.dataset)

    with pytest.raises(UserError, match="archived"):
        judgement_undo(participation=anna, at=at)
    for keep in (tuple_skip, tuple_flag):
        with pytest.raises(UserError, match="archived"):
            keep(participation=anna, tuple_id=lease.tuple_id, reason="broken", at=at)


def test_who_has_not_judged_here_before_does_not_join(archived, stranger) -> None:
    with pytest.raises(ArchivedError):
        participation_join(campaign=archived, user=stranger)


def test_no_service_changes_a_campaign(archived, anna, answer) -> None:
    gold = GoldFactory(campaign=archived)
    changes = [
        lambda: campaign_create(dataset=archived.dataset, name="Another"),
        lambda: campaign_pause(campaign=archived),
        lambda: guideline_save(campaign=archived, text="Judge well."),
        lambda: gold_change(gold=gold, why="So it is."),
        lambda: scores_publish(campaign=archived, method="counting"),
    ]

    for change in changes:
        with pytest.raises(UserError):
            change()


CHANGES = [
    "campaign_move",
    "campaign_design",
    "campaign_repeats",
    "publish",
    "withdraw",
    "guidelines",
    "gold_new",
]
READS = ["campaign", "scores", "judgements", "judgements_file", "gold", "guidelines", "inbox"]


@pytest.mark.parametrize("name", CHANGES)
def test_an_owner_s_change_is_refused_in_a_sentence(archived, owner, name) -> None:
    refused = client_of(owner).post(address(name, archived), {"move": "close", "text": "x"})

    assert refused.status_code == 403
    assert "is archived, so nothing in it can be changed" in text_of(refused)


@pytest.mark.parametrize("name", READS)
def test_everything_can_still_be_read_and_downloaded(archived, owner, name) -> None:
    assert client_of(owner).get(address(name, archived)).status_code == 200


def test_work_on_a_bundle_can_be_ended_and_other_work_cannot(archived, owner) -> None:
    kinds = (CampaignWork.Kind.BUNDLE, CampaignWork.Kind.PUBLISH)

    may = [work_may_end(owner, CampaignWork(campaign=archived, kind=kind)) for kind in kinds]

    assert may == [True, False]


def test_brought_back_it_goes_on(archived, anna, at) -> None:
    dataset_restore(dataset=archived.dataset)

    assert isinstance(tuple_claim(participation=anna, at=at), Lease)


def test_a_program_is_told_so_too(archived, curator) -> None:
    client = client_of(curator)
    tuple_address = f"/api/v1/campaigns/{archived.pk}/claim/"

    refused = client.post(tuple_address)

    assert refused.status_code == 403
    assert "is archived" in refused.json()["detail"]


def test_a_bundle_can_still_be_downloaded(judged, stranger) -> None:
    MembershipFactory(dataset=judged.dataset, user=stranger, role="owner")
    dataset_archive(dataset=judged.dataset)

    answer = client_of(stranger).get(address("bundle", judged))

    assert answer.status_code == 200
    answer.close()
