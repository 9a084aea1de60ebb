"""A small open campaign and the people in it; `at` is a moment that tests move by hand."""

from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from annotation.judging.assignment import judgement_submit, participation_join, tuple_claim
from annotation.models import Campaign, Lease
from tests.conftest import rolled_back
from tests.factories import CampaignFactory, DatasetFactory, UserFactory, client_of
from tests.integration.annotation.crowd import crowd_judge

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def at() -> datetime:
    return AT


@pytest.fixture
def campaign(db, dataset):
    """Three tuples of four pairs, two judgements required of each, no gold."""
    return CampaignFactory(dataset=dataset, judgements_per_tuple=2, tuples=3)


@pytest.fixture
def site(curator):
    return client_of(curator)


@pytest.fixture
def anna(campaign):
    return participation_join(campaign=campaign, user=UserFactory(username="anna"))


@pytest.fixture
def ben(campaign):
    return participation_join(campaign=campaign, user=UserFactory(username="ben"))


@pytest.fixture
def cleo(campaign):
    return participation_join(campaign=campaign, user=UserFactory(username="cleo"))


@pytest.fixture
def answer(at):
    """Claim a tuple for a person and judge it; gives what came of it."""

    def answer(person, *, best=0, worst=1, when=at):
        lease = tuple_claim(participation=person, at=when)
        assert isinstance(lease, Lease), lease
        return submit(person, lease.tuple_id, best=best, worst=worst, when=when)

    def submit(person, tuple_id, *, best=0, worst=1, when=at, client_id=None, **timings):
        return judgement_submit(
            participation=person,
            tuple_id=tuple_id,
            best_slot=best,
            worst_slot=worst,
            client_id=client_id or uuid4(),
            at=when,
            **timings,
        )

    answer.submit = submit
    return answer


@pytest.fixture
def no_gold_due(monkeypatch) -> None:
    """Where gold stands is drawn per person, and to look for one costs a query: whoever counts queries does without."""
    monkeypatch.setattr("annotation.judging.choosing.gold_is_due", lambda _person: False)


@pytest.fixture(scope="module")
def judged_once(django_db_setup, django_db_blocker) -> Iterator[Campaign]:
    """40 pairs, judged twice a tuple: 80 tuples, of which adaptive blocks of 5 may follow."""
    with rolled_back(django_db_blocker):
        yield crowd_judge(DatasetFactory(), each=2)


@pytest.fixture
def judged(judged_once, db) -> Campaign:
    """Read anew for each test, as other requests would read it."""
    return Campaign.objects.get(pk=judged_once.pk)
