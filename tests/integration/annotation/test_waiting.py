"""What a campaign waits for: which tuple needs whom, and what the page offers."""

import pytest

from annotation.judging.assignment import participation_join, tuple_claim, tuple_skip
from annotation.judging.settling import participation_stop
from annotation.models import Lease
from annotation.results.waiting import tuples_waiting
from curation.models import Invitation
from tests.factories import CampaignFactory, MembershipFactory, TupleFactory, client_of
from tests.integration.annotation.pages import address, text_of


@pytest.fixture
def left(campaign, anna, ben, answer, at):
    """All is judged but for the one tuple that anna skipped. Gives its number."""
    skipped = tuple_claim(participation=anna, at=at)
    tuple_skip(
        participation=anna, tuple_id=skipped.tuple_id, reason="cannot_tell", note="What is a fipple?", at=at
    )
    for person in (anna, ben):
        while isinstance(tuple_claim(participation=person, at=at), Lease):
            answer(person)
    return skipped.tuple.number


@pytest.mark.exhaustive
def test_the_dashboard_names_the_tuple_that_everybody_has_answered_or_skipped_and_says_why(
    campaign, left, owner
) -> None:
    page = text_of(client_of(owner).get(address("campaign", campaign)))

    assert "5 / 6" in page
    assert (
        f"Tuple {left} needs one more judgement; everyone in the campaign has answered or skipped it." in page
    )
    assert "anna skipped it: cannot tell (“What is a fipple?”)." in page


def test_who_can_still_judge_it_is_named(campaign, left, cleo, annotator) -> None:
    [row] = tuples_waiting(campaign).rows

    assert (row.number, row.missing) == (left, 1)
    assert [str(person) for person in row.able] == ["cleo", "annotator"]


def test_whoever_was_stopped_cannot_give_what_is_missing(campaign, left, cleo) -> None:
    participation_stop(participation=cleo, reason="Asked to leave.")

    [row] = tuples_waiting(campaign).rows
    assert row.able == []
    assert tuples_waiting(campaign).people == 1


def test_the_owner_is_led_to_the_tuple_itself(campaign, left, owner) -> None:
    TupleFactory.create_batch(4, campaign=campaign)
    site = client_of(owner)

    page = site.get(address("campaign", campaign)).content.decode()
    judge = f"{address('judge', campaign)}?tuple={left}"
    assert judge in page
    site.get(judge)

    mine = campaign.participations.get(user=owner)
    assert mine.leases.order_by("turn")[0].tuple.number == left


def test_an_annotator_does_not_choose_among_the_tuples(campaign, left, annotator) -> None:
    assert client_of(annotator).get(f"{address('judge', campaign)}?tuple={left}").status_code == 403


def test_an_owner_who_has_judged_it_is_offered_no_link(campaign, owner, answer, at) -> None:
    mine = participation_join(campaign=campaign, user=owner)
    for _tuple in range(3):
        answer(mine)

    page = text_of(client_of(owner).get(address("campaign", campaign)))

    said = (
        "3 tuples need 3 more judgements, and everyone in the campaign has answered or skipped them. Invite another "
        "annotator."
    )
    assert "For 1 annotator, valid for 14 days." in page
    assert page.count(said) == 2  # as the next step, and above the form of the invitation
    assert "needs one more judgement" not in page
    assert "Annotate it yourself" not in page


def test_in_a_large_campaign_a_tuple_is_told_once_it_was_skipped_or_nothing_else_is_left(
    dataset, at, answer
) -> None:
    campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=2, tuples=8)
    anna, ben = (
        participation_join(campaign=campaign, user=MembershipFactory(dataset=dataset, role="annotator").user)
        for _name in range(2)
    )
    answer(anna)
    assert tuples_waiting(campaign) is None

    skipped = tuple_claim(participation=anna, at=at)
    tuple_skip(participation=anna, tuple_id=skipped.tuple_id, reason="broken", at=at)
    assert [row.number for row in tuples_waiting(campaign).rows] == [skipped.tuple.number]

    while isinstance(tuple_claim(participation=anna, at=at), Lease):
        answer(anna)
    waiting = tuples_waiting(campaign)
    assert (len(waiting.rows), waiting.others, waiting.missing) == (5, 3, 9)
    assert ben.user in waiting.rows[0].able


def test_what_is_on_somebody_s_screen_does_not_wait(campaign, left, cleo, at) -> None:
    tuple_claim(participation=cleo, at=at)

    assert tuples_waiting(campaign) is None


def test_looking_for_what_waits_costs_the_same_queries_however_many_wait(
    campaign, left, django_assert_max_num_queries
) -> None:
    TupleFactory.create_batch(12, campaign=campaign)

    with django_assert_max_num_queries(11):
        tuples_waiting(campaign)


def test_one_click_makes_an_invitation_whose_link_is_shown_once(campaign, owner) -> None:
    site = client_of(owner)
    page = site.get(address("campaign", campaign)).content.decode()
    assert "Make an invitation link" in page
    sent = {"role": "annotator", "people": 1, "days": 14, "note": f"For the campaign {campaign.name}"}
    for name, value in sent.items():
        assert f'<input type="hidden" name="{name}" value="{value}">' in page

    answer = site.post(
        f"/datasets/{campaign.dataset.slug}/invitations/", sent, headers={"HX-Request": "true"}
    )

    made = Invitation.objects.get()
    link = answer.content.decode().split('value="http://testserver/invitations/')[1].split("/")[0]
    assert "<html" not in answer.content.decode()
    assert (made.role, made.uses_left, made.note) == ("annotator", 1, f"For the campaign {campaign.name}")
    assert made.token_digest != link
    assert link not in site.get(f"/datasets/{campaign.dataset.slug}/invitations/").content.decode()


def test_without_scripts_the_click_leads_to_the_page_of_invitations(campaign, owner) -> None:
    sent = {"role": "annotator", "people": 1, "days": 14}

    answer = client_of(owner).post(f"/datasets/{campaign.dataset.slug}/invitations/", sent)

    assert "The invitation is ready." in text_of(answer)
    assert "<html" in answer.content.decode()


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_campaign_that_is_not_open_waits_for_nobody(campaign, left, owner, state: str) -> None:
    campaign.state = state
    campaign.save()

    page = text_of(client_of(owner).get(address("campaign", campaign)))

    assert "needs one more judgement" not in page
    assert "Make an invitation link" not in page


def test_a_curator_is_told_that_an_owner_can_invite(campaign, left, curator) -> None:
    page = text_of(client_of(curator).get(address("campaign", campaign)))

    assert "An owner of the dataset can invite somebody who has not annotated yet." in page
    assert "Make an invitation link" not in page
