"""The dashboard's one sentence and its one primary action, phase by phase."""

import re

import pytest

from annotation.campaigns.services import campaign_pause
from annotation.models import Campaign
from annotation.results.publishing import scores_publish
from tests.factories import MembershipFactory, TupleFactory, client_of
from tests.integration.annotation.pages import address, text_of

STEP = re.compile(r'(?s)<div class="next-step row spread">\s*<div>\s*<p>(.*?)</p>(.*?)<section')


def step_for(campaign: Campaign, role: str = "owner") -> tuple[str, str, str]:
    """The sentence, the label and the address of the primary action."""
    site = client_of(MembershipFactory(dataset=campaign.dataset, role=role).user)
    sentence, action = STEP.search(site.get(address("campaign", campaign)).content.decode()).groups()
    found = re.search(r'href="([^"]*)">([^<]*)<', action)
    return (sentence, found[2].strip(), found[1]) if found else (sentence, "", "")


def test_before_anybody_judged_annotators_are_invited(campaign) -> None:
    assert step_for(campaign) == ("Nobody has annotated yet.", "Invite annotators", "#invite")
    assert step_for(campaign, role="curator") == ("Nobody has annotated yet.", "", "")


def test_while_people_judge_there_is_nothing_to_do(campaign, anna, answer) -> None:
    answer(anna)
    TupleFactory.create_batch(9, campaign=campaign)

    assert step_for(campaign) == ("People are annotating: 1 of 24 judgements are there.", "", "")


def test_where_one_tuple_is_left_the_owner_can_judge_it(campaign, anna, ben, answer) -> None:
    for _ in range(3):
        answer(anna)
    for _ in range(2):
        answer(ben)

    sentence, label, where = step_for(campaign)

    assert "needs one more judgement" in sentence
    assert sentence.count(".") == 1
    assert label == "Annotate it"
    assert where.startswith(address("judge", campaign))


@pytest.mark.exhaustive
def test_when_all_is_judged_the_scores_are_published_and_then_exported(campaign, anna, ben, answer) -> None:
    for person in (anna, ben):
        for _ in range(3):
            answer(person)

    before = step_for(campaign)
    scores_publish(campaign=campaign, by=campaign.created_by)
    after = step_for(campaign)

    assert before == (
        "All judgements are there. Nothing is published yet.",
        "Publish these scores",
        address("publish", campaign),
    )
    assert after == (
        "The scores are published.",
        "Export the dataset",
        f"/datasets/{campaign.dataset.slug}/export/",
    )


def test_scores_that_are_older_than_the_judgements_are_published_again(campaign, anna, ben, answer) -> None:
    for _ in range(3):
        answer(anna)
    scores_publish(campaign=campaign, by=campaign.created_by)
    for _ in range(3):
        answer(ben)

    assert step_for(campaign) == (
        "The newest published scores are older than the judgements: 3 judgements came since.",
        "Publish scores again",
        address("publish", campaign),
    )


def test_who_publishes_early_is_told_what_is_missing_before_and_after(campaign, anna, answer) -> None:
    site = client_of(MembershipFactory(dataset=campaign.dataset, role="owner").user)
    required = sum(campaign.tuples.for_scores().values_list("required", flat=True))
    answer(anna)

    form = text_of(site.get(address("publish", campaign)))
    refused = text_of(site.post(address("publish", campaign), {"method": "nothing like it", "name": "mine"}))
    site.post(address("publish", campaign), {"method": "counting"})
    answer(anna)
    page = text_of(site.get(address("scores", campaign)))

    for shown in (form, refused):
        assert f"1 of {required} judgements are there. Published scores stay as they are" in shown
    assert f"from 1 of {required} judgements · 1 judgement came since" in page
    (result,) = site.get(f"/api/v1/campaigns/{campaign.pk}/results/").json()
    assert (result["judgements_collected"], result["judgements_required"]) == (1, required)


def test_a_paused_campaign_says_so(campaign, anna, answer) -> None:
    answer(anna)
    campaign_pause(campaign=campaign)

    assert step_for(campaign)[0] == "The campaign is paused; nobody gets tuples."


def test_who_may_only_read_gets_the_sentence_without_the_action(campaign, staff, anna, answer) -> None:
    answer(anna)
    site = client_of(staff)

    sentence, action = STEP.search(site.get(address("campaign", campaign)).content.decode()).groups()

    assert sentence
    assert "href" not in action
