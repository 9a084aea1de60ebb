"""The home page says what waits, by role; the head of the site and of a dataset has few entries."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils.timezone import now

from curation.models import Dataset
from tests.factories import (
    CampaignFactory,
    DatasetFactory,
    GeneratedPairFactory,
    MembershipFactory,
    PairFactory,
    RunFactory,
    ScoreSetFactory,
    TupleFactory,
    client_of,
)

pytestmark = pytest.mark.django_db


def links_of(text: str, label: str) -> list[str]:
    """The words of the links in the navigation with this label."""
    part = text.split(f'aria-label="{label}"')[1].split("</nav>", maxsplit=1)[0]
    return [" ".join(link.split(">")[-1].split()) for link in part.split("</a>")[:-1]]


def test_the_first_page_is_where_the_persons_work_is(curator, annotator, staff) -> None:
    addresses = [client_of(who).get("/")["Location"] for who in (curator, staff, annotator)]

    assert addresses == ["/overview/", "/overview/", "/judge/"]
    assert client_of(annotator).get("/overview/")["Location"] == "/"


def test_an_installation_without_a_dataset_names_three_ways_to_begin(staff) -> None:
    answer = client_of(staff).get("/overview/")

    assert "There are three ways to begin" in answer.text
    assert reverse("curation:dataset_create") in answer.text
    assert reverse("guide") in answer.text
    assert "semblance demo" in answer.text


def test_the_home_page_names_what_waits_for_a_curator(curator, dataset) -> None:
    campaign = CampaignFactory(dataset=dataset, name="Much to do", state="open")
    TupleFactory(campaign=campaign, required=2)
    draft = CampaignFactory(dataset=dataset, name="Half made", state="draft")
    run = RunFactory(dataset=dataset, started_by=curator, state="failed", message="Too few pairs.")
    run.finished_at = now()
    run.save()

    answer = client_of(curator).get("/overview/")

    assert "Questions to annotate" in answer.text
    assert reverse("annotation:judge", args=[campaign.pk]) in answer.text
    assert "0 of 2 judgements are collected" in " ".join(answer.text.split())
    assert reverse("annotation:campaign", args=[draft.pk]) in answer.text
    assert "Too few pairs." in answer.text


def test_the_home_page_counts_sentences_that_wait_for_review(curator, dataset) -> None:
    pair = GeneratedPairFactory(dataset=dataset)
    scores = ScoreSetFactory(dataset=dataset, kind="realism", name="run 7: p_D")
    scores.scores.create(pair=pair, value=0.1)

    answer = client_of(curator).get("/overview/")

    assert "1 machine-written sentence waits for a decision." in " ".join(answer.text.split())
    assert f"{reverse('curation:review', args=[dataset.slug])}?set={scores.pk}" in answer.text


def test_runs_of_others_and_of_long_ago_do_not_wait(curator, staff, dataset) -> None:
    RunFactory(
        dataset=dataset, started_by=staff, state="succeeded", finished_at=now(), message="of somebody else"
    )
    long_ago = now() - timedelta(days=8)
    RunFactory(
        dataset=dataset, started_by=curator, state="succeeded", finished_at=long_ago, message="of long ago"
    )

    answer = client_of(curator).get("/overview/")

    assert "of somebody else" not in answer.text
    assert "of long ago" not in answer.text
    assert "Nothing waits for you now" in answer.text


def test_the_home_page_asks_as_much_however_many_datasets_there_are(
    staff, django_assert_max_num_queries
) -> None:
    for number in range(3):
        dataset: Dataset = DatasetFactory()
        MembershipFactory(dataset=dataset, user=staff, role="owner")
        CampaignFactory(dataset=dataset, state="open")
        PairFactory(dataset=dataset)
        RunFactory(dataset=dataset, started_by=staff, state="queued", message=f"run {number}")
    client = client_of(staff)
    client.get("/overview/")

    with django_assert_max_num_queries(16):
        client.get("/overview/")


def test_the_head_of_the_site_has_four_entries_and_the_lists_below_them(staff) -> None:
    client = client_of(staff)
    MembershipFactory(user=staff, role="curator")

    home = client.get("/overview/").text
    datasets = client.get(reverse("curation:dataset_list")).text

    assert links_of(home, "Main") == ["Annotate", "Datasets", "Models", "Runs"]
    assert links_of(datasets, "Datasets") == ["Datasets", "Campaigns", "Review"]
    assert 'class="tabs"' not in home


def test_the_head_of_a_dataset_has_five_tabs_with_the_pages_of_the_open_one(curator, dataset) -> None:
    client = client_of(curator)

    members = client.get(reverse("curation:members", args=[dataset.slug])).text
    campaigns = client.get(reverse("annotation:campaign_list"), {"dataset": dataset.slug}).text

    tabs = ["Pairs", "Campaigns", "Generate and review", "Results", "Settings"]
    label = f"Dataset {dataset.name}"
    assert links_of(members, label) == links_of(campaigns, label) == tabs
    assert "Pages of this tab" not in campaigns
    assert links_of(client.get(reverse("curation:splits", args=[dataset.slug])).text, "Pages of this tab") == [
        "Pairs", "Import", "Splits", "Snapshots",
    ]  # fmt: skip
