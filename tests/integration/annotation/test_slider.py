"""The slider arm: some people rate pairs of a campaign one by one, and judge no tuples."""

from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from annotation.campaigns.services import campaign_close
from annotation.campaigns.slider import (
    can_rate,
    rater_remove,
    raters_add,
    slider_close,
    slider_open,
    slider_remove,
    slider_start,
)
from annotation.judging.assignment import RefusedError, participation_join, tuple_claim
from annotation.judging.choosing import NoTupleReason
from annotation.judging.rating import pairs_left, rating_submit, rating_undo
from annotation.models import Judgement, PairRating, Participation, SliderArm
from annotation.results.dashboard import campaign_dashboard
from annotation.results.slider import slider_progress
from curation.foundation.errors import UserError
from tests.factories import MembershipFactory, client_of
from tests.integration.annotation.pages import address, hidden, text_of

WORDS = {"question": "How close?", "low_label": "not at all", "high_label": "the same"}


@pytest.fixture
def arm(campaign) -> SliderArm:
    return slider_start(campaign=campaign, ratings_per_pair=2, **WORDS)


@pytest.fixture
def raters(arm) -> list[Participation]:
    """Three members of the dataset."""
    users = [
        MembershipFactory(dataset=arm.campaign.dataset, user__username=name).user
        for name in ("pia", "quin", "rose")
    ]
    return raters_add(arm=arm, chosen=[user.pk for user in users])


def rate(person, value=50, *, at, item=None, **more) -> PairRating:
    return rating_submit(
        person=person,
        item=item or pairs_left(fresh(person))[0],
        value=value,
        client_id=more.pop("client_id", None) or uuid4(),
        at=at,
        **more,
    )


def fresh(person) -> Participation:
    return Participation.objects.select_related("campaign__dataset", "campaign__slider_arm").get(pk=person.pk)


def test_all_pairs_are_rated_or_so_many_as_are_drawn_with_the_seed(campaign) -> None:
    every = slider_start(campaign=campaign, ratings_per_pair=2, **WORDS)
    numbers = set(every.pairs.values_list("pair", flat=True))
    slider_remove(arm=every)
    one = list(
        slider_start(campaign=campaign, ratings_per_pair=2, number=10, **WORDS).pairs.values_list(
            "pair", flat=True
        )
    )
    slider_remove(arm=campaign.slider_arm)
    campaign.refresh_from_db()
    again = slider_start(campaign=campaign, ratings_per_pair=2, number=10, **WORDS)

    assert len(numbers) == 12
    assert len(set(one)) == 10
    assert set(one) < numbers
    assert list(again.pairs.values_list("pair", flat=True)) == one


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"number": 13}, "has 12 pairs"),
        ({"number": 9}, "10 to 5000 pairs, not 9"),
        ({"ratings_per_pair": 1}, "2 to 50 ratings"),
    ],
)
def test_what_cannot_be_rated_is_refused_in_a_sentence(campaign, asked, sentence) -> None:
    with pytest.raises(UserError, match=sentence):
        slider_start(campaign=campaign, **{"ratings_per_pair": 2, **WORDS, **asked})


def test_a_campaign_has_one_arm_and_a_draft_none(arm) -> None:
    with pytest.raises(UserError, match="already"):
        slider_start(campaign=arm.campaign, ratings_per_pair=2, **WORDS)
    slider_remove(arm=arm)
    arm.campaign.state = "draft"
    arm.campaign.save()
    with pytest.raises(UserError, match="draft"):
        slider_start(campaign=arm.campaign, ratings_per_pair=2, **WORDS)


def test_a_person_is_in_one_arm_only(arm, raters, anna, answer, at) -> None:
    answer(anna)
    MembershipFactory(dataset=arm.campaign.dataset, user=anna.user)
    quin = participation_join(campaign=arm.campaign, user=raters[1].user)

    assert tuple_claim(participation=quin, at=at) is NoTupleReason.RATES
    assert "quin" not in {str(each.user) for each in can_rate(arm.campaign)}
    with pytest.raises(UserError, match="anna has annotated"):
        raters_add(arm=arm, chosen=[anna.user.pk])


def test_who_holds_a_tuple_is_not_drawn(arm, anna, at) -> None:
    MembershipFactory(dataset=arm.campaign.dataset, user=anna.user)
    tuple_claim(participation=anna, at=at)

    with pytest.raises(UserError, match="Only 0"):
        raters_add(arm=arm, drawn=1)


def test_people_drawn_by_chance_are_others_than_those_chosen(arm) -> None:
    users = [each.user for each in MembershipFactory.create_batch(5, dataset=arm.campaign.dataset)]
    people = raters_add(arm=arm, chosen=[users[2].pk], drawn=2)

    assert len({person.user_id for person in people}) == 3
    assert people[0].user_id == users[2].pk
    assert (
        arm.campaign.dataset.audit_entries.filter(action="slider_changed").get().details["people_added"] == 3
    )


def test_who_has_not_rated_may_judge_instead(arm, raters, at) -> None:
    rate(raters[0], at=at)

    rater_remove(arm=arm, user_pk=raters[1].user_id)
    with pytest.raises(UserError, match="pia has rated already"):
        rater_remove(arm=arm, user_pk=raters[0].user_id)
    assert tuple_claim(participation=raters[1], at=at) not in list(NoTupleReason)


def test_each_person_has_an_order_of_their_own_and_it_stays(arm, raters, at) -> None:
    orders = [[item.pk for item in pairs_left(fresh(person))] for person in raters]
    rate(raters[0], at=at)

    assert len(set(map(tuple, orders))) == 3
    assert [item.pk for item in pairs_left(fresh(raters[0]))] == orders[0][1:]


def test_a_pair_with_all_its_ratings_is_asked_of_nobody_and_a_skip_is_none(arm, raters, at) -> None:
    item = arm.pairs.first()
    rate(raters[0], at=at, item=item)
    rate(raters[1], None, at=at, item=item)
    before = {each.pk for each in pairs_left(fresh(raters[2]))}
    rate(raters[2], at=at, item=item)

    assert item.pk in before
    assert item.pk not in {each.pk for each in pairs_left(fresh(raters[1]))}
    progress = slider_progress(arm)
    assert (progress.ratings, progress.done, progress.skipped, progress.required) == (2, 1, 1, 24)
    fourth = raters_add(arm=arm, chosen=[MembershipFactory(dataset=arm.campaign.dataset).user.pk])[0]
    assert item.pk not in {each.pk for each in pairs_left(fresh(fourth))}


def test_what_is_sent_twice_is_kept_once_and_nobody_rates_a_pair_twice(arm, raters, at) -> None:
    item, client_id = arm.pairs.first(), uuid4()
    first = rate(raters[0], 20, at=at, item=item, client_id=client_id)

    assert rate(raters[0], 90, at=at, item=item, client_id=client_id) == first
    with pytest.raises(RefusedError, match="already"):
        rate(raters[0], 90, at=at, item=item)
    assert PairRating.objects.get().value == 20


def test_who_does_not_rate_and_what_is_no_number_of_the_scale_is_refused(arm, raters, anna, at) -> None:
    with pytest.raises(RefusedError, match="not given to you"):
        rate(anna, at=at, item=arm.pairs.first())
    with pytest.raises(RefusedError, match="0 to 100"):
        rate(raters[0], 101, at=at)
    wrong = PairRating(
        rated=arm.pairs.first(), participation=raters[0], value=101, client_id=uuid4(), submitted_at=at
    )
    with pytest.raises(ValidationError, match="ratings_are_0_to_100"):
        wrong.validate_constraints()


def test_a_double_click_undoes_once(arm, raters, at) -> None:
    rate(raters[0], at=at)
    last = rate(raters[0], at=at)

    assert rating_undo(person=raters[0], client_id=last.client_id) == last
    assert rating_undo(person=raters[0], client_id=last.client_id) is None
    assert raters[0].pair_ratings.count() == 1


def test_after_the_end_nothing_is_handed_out_and_late_ratings_are_kept(arm, raters, at) -> None:
    item = pairs_left(fresh(raters[0]))[0]
    slider_close(arm=arm)

    assert pairs_left(fresh(raters[0])) == []
    rate(raters[0], at=at, item=item)
    with pytest.raises(RefusedError, match="closed"):
        rating_undo(person=raters[0])
    with pytest.raises(UserError, match="has ratings, so it stays"):
        slider_remove(arm=arm)
    slider_open(arm=arm)
    assert len(pairs_left(fresh(raters[0]))) == 11


def test_an_arm_can_be_rated_when_its_campaign_is_closed(arm, raters, at) -> None:
    campaign_close(campaign=arm.campaign)
    page = client_of(raters[0].user).get(reverse("annotation:mine"))

    assert "Rate pairs" in text_of(page)
    rate(raters[0], at=at)
    assert Judgement.objects.count() == 0
    assert campaign_dashboard(arm.campaign, at=at).annotators == []


def test_a_curator_starts_an_arm_lets_people_rate_and_closes_it(campaign, curator) -> None:
    MembershipFactory(dataset=campaign.dataset, user__username="pia")
    site = client_of(curator)
    empty = site.get(address("slider", campaign))
    refused = site.post(address("slider", campaign), {**WORDS, "ratings_per_pair": 2, "number": 99})
    started = site.post(address("slider", campaign), {**WORDS, "ratings_per_pair": 2}, follow=True)
    twice = site.post(address("slider", campaign), {**WORDS, "ratings_per_pair": 2}, follow=True)
    nobody = site.post(address("slider_people", campaign), {})
    added = site.post(address("slider_people", campaign), {"drawn": 1}, follow=True)
    closed = site.post(address("slider_move", campaign), {"move": "close"}, follow=True)

    assert campaign.worst_label in empty.content.decode()
    assert (refused.status_code, nobody.status_code) == (400, 400)
    assert "12 pairs" in text_of(refused)
    assert "Choose who rates in it" in text_of(started)
    assert "has a rating-scale condition already" in text_of(twice)
    assert "Choose somebody" in text_of(nobody)
    assert "1 person rates now" in text_of(added)
    assert "1 person rates, and each pair needs 2 different people: add more people." in text_of(added)
    assert "closed; nobody gets pairs" in text_of(closed)
    actions = campaign.dataset.audit_entries.values_list("action", flat=True)
    assert sorted(actions) == ["slider_changed", "slider_changed", "slider_started"]


def test_pairs_are_rated_without_a_script_and_not_without_a_choice(arm, raters) -> None:
    site, person = client_of(raters[0].user), raters[0]
    page = site.get(address("rate", arm.campaign))
    sent = {"pair": hidden(page, "pair"), "client_id": hidden(page, "client_id")}
    missing = site.post(address("rating_answer", arm.campaign), sent, follow=True)
    outside = site.post(address("rating_answer", arm.campaign), sent | {"value": 101}, follow=True)
    kept = site.post(address("rating_answer", arm.campaign), sent | {"value": 0}, follow=True)
    undone = site.post(address("rating_undo", arm.campaign), {"client_id": sent["client_id"]})

    assert 'value=""' in page.content.decode().split('name="value"')[1]  # nothing is chosen beforehand
    assert "Choose a place on the scale first." in text_of(missing)
    assert "Choose a number from 0 to 100." in text_of(outside)
    assert "1 rated, at most 11 left for you" in text_of(kept)
    assert hidden(undone, "pair") == sent["pair"]
    assert 'value="0"' in undone.content.decode().split('name="value"')[1]
    assert not person.pair_ratings.exists()


def test_the_screen_is_answered_as_json_with_five_pairs_ahead(arm, raters) -> None:
    site = client_of(raters[0].user)
    screen = site.get(address("rating_screen", arm.campaign)).json()
    sent = {"pair": screen["pairs"][0]["pair"], "client_id": str(uuid4()), "value": 70, "active_ms": 2100}
    answered = site.post(address("rating_answer", arm.campaign), sent, headers={"accept": "application/json"})
    refused = site.post(
        address("rating_answer", arm.campaign),
        sent | {"client_id": str(uuid4())},
        headers={"accept": "application/json"},
    )

    assert len(screen["pairs"]) == 6
    assert [pair["pair"] for pair in answered.json()["pairs"]][:5] == [
        pair["pair"] for pair in screen["pairs"]
    ][1:]
    assert answered.json()["undo"] == sent["client_id"]
    assert (refused.status_code, refused.json()["note"][:14]) == (400, "You have rated")
    kept = PairRating.objects.get()
    assert (kept.value, kept.active_ms) == (70, 2100)


def test_who_does_not_rate_finds_no_screen(arm, annotator) -> None:
    assert client_of(annotator).get(address("rate", arm.campaign)).status_code == 404


def test_who_rates_is_led_from_the_judging_screen_to_the_rating(arm, raters) -> None:
    page = client_of(raters[0].user).get(address("judge", arm.campaign))

    assert "You rate pairs in this campaign" in text_of(page)
    assert address("rate", arm.campaign) in page.content.decode()
