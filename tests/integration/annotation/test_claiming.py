"""Who gets which tuple, and what a person is told when there is none."""

from datetime import timedelta

import pytest

from annotation.judging.assignment import LEASE_TIME, participation_join, tuple_claim, tuple_skip
from annotation.judging.choosing import NoTupleReason
from annotation.judging.settling import participation_stop
from annotation.models import Campaign, Lease
from tests.factories import CampaignFactory, TupleFactory, UserFactory


def claim(person, at, *, ahead=False):
    return tuple_claim(participation=person, at=at, ahead=ahead)


def test_reloading_the_page_shows_the_same_tuple_in_the_same_order(anna, at) -> None:
    first = claim(anna, at)

    again = claim(anna, at + timedelta(minutes=1))

    assert (again.tuple_id, again.order_shown) == (first.tuple_id, first.order_shown)


def test_two_tabs_are_one_person(campaign, anna, at) -> None:
    same_person = participation_join(campaign=campaign, user=anna.user)

    first, second = claim(anna, at), claim(same_person, at)

    assert first == second == Lease.objects.get()


def test_the_tuple_fetched_ahead_is_another_one_and_comes_next(anna, at, answer) -> None:
    screen = claim(anna, at)
    ahead = claim(anna, at, ahead=True)

    answer.submit(anna, screen.tuple_id)

    assert ahead.tuple_id != screen.tuple_id
    assert claim(anna, at).tuple_id == ahead.tuple_id


def test_a_person_holds_at_most_two_tuples(anna, at) -> None:
    for _ in range(3):
        claim(anna, at)
        claim(anna, at, ahead=True)

    assert anna.leases.filter(state="live").count() == 2


def test_what_a_person_holds_is_part_of_what_they_are_asked_for(anna, at) -> None:
    anna.quota = 1
    anna.save()
    claim(anna, at)

    ahead = claim(anna, at, ahead=True)

    assert ahead is NoTupleReason.QUOTA
    assert anna.leases.count() == 1


def test_no_more_leases_are_given_than_judgements_are_wanted(campaign, at) -> None:
    people = [
        participation_join(campaign=campaign, user=UserFactory()) for _ in range(7)
    ]  # three tuples, two judgements each: there is work for six

    claimed = [claim(person, at) for person in people]

    assert claimed.count(NoTupleReason.LEASED) == 1
    assert all(tuple_.leased <= tuple_.required for tuple_ in campaign.tuples.all())


def test_a_tuple_once_answered_is_never_asked_of_that_person_again(anna, at, answer) -> None:
    answered = {answer(anna).judgement.tuple_id for _ in range(3)}

    assert len(answered) == 3
    assert claim(anna, at) is NoTupleReason.YOURS


def test_a_tuple_once_skipped_is_never_asked_of_that_person_again(anna, at) -> None:
    skipped = set()
    for _ in range(3):
        lease = claim(anna, at)
        tuple_skip(participation=anna, tuple_id=lease.tuple_id, reason="language", at=at)
        skipped.add(lease.tuple_id)

    assert len(skipped) == 3
    assert claim(anna, at) is NoTupleReason.YOURS


def test_a_tuple_whose_lease_ran_out_may_be_asked_of_the_same_person_again(db, dataset, at) -> None:
    campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=1, tuples=1)
    anna, ben = (
        participation_join(campaign=campaign, user=UserFactory(username=name)) for name in ("a", "b")
    )
    lost = claim(anna, at)
    taken = claim(ben, at + LEASE_TIME)

    back = claim(anna, at + 2 * LEASE_TIME)

    assert taken.tuple_id == lost.tuple_id
    assert (back.tuple_id, back.order_shown) == (lost.tuple_id, lost.order_shown)


def test_what_ran_out_is_handed_on_without_waiting_for_the_sweep(campaign, at) -> None:
    gone = [participation_join(campaign=campaign, user=UserFactory()) for _ in range(6)]
    for person in gone:
        claim(person, at)
    late = participation_join(campaign=campaign, user=UserFactory())

    claimed = claim(late, at + LEASE_TIME)

    assert isinstance(claimed, Lease)


def test_whoever_is_at_work_keeps_what_is_on_their_screen(anna, at) -> None:
    lease = claim(anna, at)

    claim(anna, at + LEASE_TIME * 0.9)

    lease.refresh_from_db()
    assert lease.expires_at == at + LEASE_TIME * 1.9


def test_people_begin_at_different_tuples(db, dataset, at) -> None:
    campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=10, tuples=12)
    people = [participation_join(campaign=campaign, user=UserFactory()) for _ in range(8)]

    first = {claim(person, at).tuple_id for person in people}

    assert len(first) > 3


def test_the_cards_stand_in_another_order_for_other_people(db, dataset, at) -> None:
    campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=24, tuples=1)
    people = [participation_join(campaign=campaign, user=UserFactory()) for _ in range(24)]

    orders = [tuple(claim(person, at).order_shown) for person in people]

    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    assert {order[0] for order in orders} == {0, 1, 2, 3}


def test_an_earlier_round_is_handed_out_first(db, dataset, at) -> None:
    campaign = CampaignFactory(dataset=dataset, rounds=2, judgements_per_tuple=1)
    late = TupleFactory(campaign=campaign, round=2, priority=0)
    early = TupleFactory(campaign=campaign, round=1, priority=5)
    anna = participation_join(campaign=campaign, user=UserFactory())

    order = [claim(anna, at).tuple_id, claim(anna, at, ahead=True).tuple_id]

    assert order == [early.pk, late.pk]


@pytest.mark.parametrize(
    ("state", "told"),
    [("draft", NoTupleReason.DRAFT), ("paused", NoTupleReason.PAUSED), ("closed", NoTupleReason.CLOSED)],
)
def test_a_campaign_that_is_not_open_hands_out_nothing_and_says_why(campaign, anna, at, state, told) -> None:
    Campaign.objects.update(state=state)

    assert claim(anna, at) is told


def test_a_stopped_person_is_told_so(anna, at) -> None:
    participation_stop(participation=anna, reason="Thank you, that is enough.")

    assert claim(anna, at) is NoTupleReason.STOPPED


def test_when_every_judgement_is_there_everybody_is_told(anna, ben, cleo, at, answer) -> None:
    for _ in range(3):
        answer(anna)
        answer(ben)

    assert claim(cleo, at) is NoTupleReason.JUDGED


def test_claiming_takes_as_many_queries_in_a_large_campaign_as_in_a_small_one(
    db, dataset, at, no_gold_due, django_assert_num_queries
) -> None:
    for size in (2, 40):
        campaign = CampaignFactory(dataset=dataset, tuples=size)
        anna = participation_join(campaign=campaign, user=UserFactory())
        anna.cursor = 0
        anna.save()
        with django_assert_num_queries(8):  # two of them open and close the transaction
            claim(anna, at)
