"""The strip at the head of a dataset's pages: the step and one button, from a file to an export."""

import re
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.timezone import now

from annotation.judging.assignment import participation_join
from annotation.models import Judgement, Tuple
from curation.models import Dataset, ScoreSet
from tests.factories import CampaignFactory, PairFactory, ScoreSetFactory, TupleFactory, client_of

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
    judged = TupleFactory(campaign=campaign, required=1)
    seen.append(step_and_button(client, dataset))
    campaign.state = "open"
    campaign.save()
    seen.append(step_and_button(client, dataset))
    Judgement.objects.create(
        tuple=judged,
        participation=participation_join(campaign=campaign, user=owner),
        best_slot=0,
        worst_slot=1,
        order_shown=[0, 1, 2, 3],
        client_id=uuid4(),
        submitted_at=now(),
        status=Judgement.Status.COLLECTED,
    )
    Tuple.objects.filter(pk=judged.pk).update(collected=1)
    seen.append(step_and_button(client, dataset))
    campaign.state = "closed"
    campaign.closed_at = now()
    campaign.save()
    seen.append(step_and_button(client, dataset))
    ScoreSetFactory(dataset=dataset, kind=ScoreSet.Kind.HUMAN, campaign_ref=campaign.pk)
    seen.append(step_and_button(client, dataset))

    assert [step for step, *_rest in seen] == [
        "Import",
        "Campaign",
        "Campaign",
        "Annotate",
        "Publish",
        "Publish",
        "Export",
    ]
    assert [button for _step, button, _address in seen] == [
        "Import pairs",
        "Plan a campaign",
        "Open the campaign",
        "See how the annotation goes",
        "Publish the scores",  # all is judged, and nobody has closed the campaign
        "Publish the scores",
        "Keep a snapshot and export",
    ]
    assert all(client.get(address).status_code == 200 for _step, _button, address in seen[-1:])


@pytest.mark.parametrize(
    ("kind", "step", "button"),
    [
        (ScoreSet.Kind.REFERENCE, "Campaign", "Plan a campaign"),
        (ScoreSet.Kind.HUMAN, "Export", "Keep a snapshot and export"),
    ],
)
def test_reference_scores_of_a_file_do_not_replace_a_campaign(owner, dataset, kind, step, button) -> None:
    PairFactory.create_batch(4, dataset=dataset)
    ScoreSetFactory(dataset=dataset, kind=kind)

    assert step_and_button(client_of(owner), dataset)[:2] == (step, button)


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


@pytest.mark.parametrize("kind", [ScoreSet.Kind.HUMAN, ScoreSet.Kind.MODEL])
def test_strip_page_and_programs_name_the_same_step_of_a_campaign(owner, dataset, kind) -> None:
    """Also where simulated annotators judged, and where a newer campaign is still at another step."""
    client = client_of(owner)
    finished = CampaignFactory(dataset=dataset, state="closed", tuples=1)
    ScoreSetFactory(dataset=dataset, kind=kind, campaign_ref=finished.pk)
    said = [client.get(f"/api/v1/datasets/{dataset.slug}/next-step/").json()]
    newer = CampaignFactory(dataset=dataset, state="open")
    said.append(client.get(f"/api/v1/datasets/{dataset.slug}/next-step/").json())

    strip = client.get(f"/campaigns/{finished.pk}/scores/").content.decode()
    listed = {row["id"]: row["next_step"] for row in client.get("/api/v1/campaigns/").json()["results"]}

    assert said == [
        {"step": "export", "campaign": finished.pk},
        {"step": "judge", "campaign": newer.pk},
    ]
    assert listed == {finished.pk: "export", newer.pk: "judge"}
    assert client.get(f"/api/v1/campaigns/{finished.pk}/").json()["next_step"] == "export"
    assert re.search(r'aria-current="step">\s*(\w+)', strip)[1] == "Export"


def test_the_page_of_a_campaign_has_one_button_for_the_next_step(owner, dataset) -> None:
    campaign = CampaignFactory(dataset=dataset, state="open", tuples=1)

    page = client_of(owner).get(f"/campaigns/{campaign.pk}/").content.decode()

    assert "Invite annotators" in page
    assert "See how the annotation goes" not in page


@pytest.mark.parametrize(("address", "text"), [("import", "a,b\nA.,B.\n"), ("judgements", "x,y\n1,2\n")])
def test_the_page_of_an_upload_has_no_second_button_that_says_to_import(
    owner, dataset, address, text
) -> None:
    client = client_of(owner)
    file = SimpleUploadedFile("rows.csv", text.encode())

    page = client.post(f"/datasets/{dataset.slug}/{address}/", {"file": file}, follow=True).content.decode()

    strip = page[page.index('class="journey"') :].partition("</div>")[0]
    assert "rows.csv" in page
    assert "<a " not in strip
