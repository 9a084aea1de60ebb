"""What counts: the first required judgements of people who are not excluded, whatever happens in between."""

import pytest
from django.utils import timezone

from annotation.judging.assignment import LEASE_TIME, participation_join, tuple_claim
from annotation.judging.settling import leases_expire, participation_reinstate, participation_stop
from annotation.models import Judgement, Lease
from annotation.tasks import expire_leases
from curation.foundation.errors import UserError
from curation.models import User
from tests.factories import CampaignFactory, TupleFactory, UserFactory


@pytest.fixture
def campaign(db, dataset):
    """One tuple, one judgement required of it."""
    return CampaignFactory(dataset=dataset, judgements_per_tuple=1, tuples=1)


def standing_of(person) -> str:
    return person.judgements.get().status


def test_an_excluded_persons_judgements_are_wanted_again(campaign, anna, ben, at, answer) -> None:
    answer(anna)

    participation_stop(participation=anna, reason="Answers at random.", exclude=True)

    assert standing_of(anna) == "excluded"
    assert isinstance(tuple_claim(participation=ben, at=at), Lease)


def test_a_stopped_persons_judgements_still_count(campaign, anna, answer) -> None:
    answer(anna)

    participation_stop(participation=anna, reason="Thank you, that is enough.")

    assert standing_of(anna) == "collected"


def test_what_a_stopped_person_had_on_the_screen_goes_to_others(campaign, anna, ben, at) -> None:
    lease = tuple_claim(participation=anna, at=at)

    participation_stop(participation=anna, reason="Thank you, that is enough.")

    assert tuple_claim(participation=ben, at=at).tuple_id == lease.tuple_id


def test_an_extra_judgement_counts_when_an_earlier_one_is_excluded(campaign, anna, ben, at, answer) -> None:
    late = tuple_claim(participation=anna, at=at)
    leases_expire(at=at + LEASE_TIME)
    answer(ben)
    answer.submit(anna, late.tuple_id)

    participation_stop(participation=ben, reason="Answers at random.", exclude=True)

    assert (standing_of(anna), standing_of(ben)) == ("collected", "excluded")


def test_reinstating_someone_settles_again_without_exceeding_what_is_wanted(
    campaign, anna, ben, answer
) -> None:
    answer(anna)
    participation_stop(participation=anna, reason="Answers at random.", exclude=True)
    answer(ben)

    participation_reinstate(participation=anna)

    assert (standing_of(anna), standing_of(ben)) == ("collected", "extra")
    assert campaign.tuples.get().collected == 1


def test_a_reinstatement_that_cannot_be_logged_leaves_the_person_stopped(campaign, anna, answer) -> None:
    answer(anna)
    participation_stop(participation=anna, reason="Answers at random.", exclude=True)

    with pytest.raises(ValueError, match="unsaved"):
        participation_reinstate(participation=anna, by=User(username="nobody"))

    anna.refresh_from_db()
    assert (anna.state, anna.excluded, standing_of(anna)) == ("stopped", True, "excluded")


def test_a_person_is_told_why_they_were_stopped(anna) -> None:
    with pytest.raises(UserError, match="Give a reason"):
        participation_stop(participation=anna, reason="  ")


def test_stopping_an_excluded_person_leaves_them_excluded(anna, answer) -> None:
    answer(anna)
    participation_stop(participation=anna, reason="Answers at random.", exclude=True)

    participation_stop(participation=anna, reason="Still.")

    assert standing_of(anna) == "excluded"


def test_the_sweep_releases_what_ran_out_and_nothing_else(anna, ben, dataset, at) -> None:
    TupleFactory.create_batch(3, campaign=anna.campaign)
    old = tuple_claim(participation=anna, at=at)
    new = tuple_claim(participation=ben, at=at + LEASE_TIME / 2)

    released = leases_expire(at=at + LEASE_TIME)

    old.refresh_from_db()
    new.refresh_from_db()
    assert (released, old.state, new.state) == (1, "released", "live")
    assert old.tuple.leased == 0


def test_what_was_fetched_ahead_comes_on_the_screen_when_the_screen_runs_out(anna, at) -> None:
    TupleFactory.create_batch(3, campaign=anna.campaign)
    tuple_claim(participation=anna, at=at)
    ahead = tuple_claim(participation=anna, at=at + LEASE_TIME / 3, ahead=True)

    leases_expire(at=at + LEASE_TIME)

    assert tuple_claim(participation=anna, at=at + LEASE_TIME).tuple_id == ahead.tuple_id


def test_the_scheduled_sweep_releases_leases(anna, at) -> None:
    tuple_claim(participation=anna, at=at)  # long ago

    assert expire_leases() == 1


@pytest.mark.postgres
def test_a_worker_whose_clock_is_ahead_releases_nothing(anna, monkeypatch) -> None:
    right = timezone.now()
    tuple_claim(participation=anna, at=right)
    monkeypatch.setattr(timezone, "now", lambda: right + 10 * LEASE_TIME)

    assert expire_leases() == 0


def test_settling_a_persons_long_work_takes_a_constant_number_of_queries(
    db, dataset, answer, django_assert_num_queries
) -> None:
    for size in (2, 30):
        campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=1, tuples=size)
        anna = participation_join(campaign=campaign, user=UserFactory())
        for _ in range(size):
            answer(anna)
        with django_assert_num_queries(14):
            participation_stop(participation=anna, reason="Answers at random.", exclude=True)
    assert set(Judgement.objects.values_list("status", flat=True)) == {"excluded"}
