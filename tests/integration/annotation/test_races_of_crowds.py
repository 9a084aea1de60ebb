"""People, tabs and programs that come at the same moment, over HTTP: nothing double, nothing lost, no error."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connections
from django.test import Client
from django.urls import reverse

from annotation.crowds.services import crowd_change
from annotation.judging.assignment import participation_join
from annotation.models import Crowd, CrowdPerson, CrowdSubmission, Judgement, Lease, Participation
from curation.models import User
from curation.people.accounts.guessing import ARRIVALS_OF_ONE_ID
from tests.factories import CampaignFactory, MembershipFactory, client_of
from tests.integration.annotation.test_assignment_hammer import lost, wrong_counters

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
AT_ONCE = 20


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """What each call gives, all begun at the same moment in threads with connections of their own."""
    together = Barrier(len(calls))

    def call(one: Callable[[], Any]) -> Any:
        try:
            together.wait()
            return one()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(call, calls))


@pytest.fixture
def campaign() -> Any:
    return CampaignFactory(judgements_per_tuple=2, tuples=4)


# Arriving


@pytest.fixture
def crowd(campaign) -> Crowd:
    facts = {"external_id_parameter": "ID", "submission_parameter": "SUBMISSION", "screens": 2}
    return crowd_change(campaign=campaign, consent="You may stop.", is_open=True, places=5, **facts)


@pytest.fixture
def arriving(crowd) -> Callable[[list[tuple[str, str]]], Counter[int]]:
    """Everybody reads the consent, and then all agree at once: how often each status was the answer."""

    def arriving(people: list[tuple[str, str]]) -> Counter[int]:
        clients = [Client() for _person in people]
        for client, (name, submission) in zip(clients, people, strict=True):
            link = reverse("annotation:crowd_entry", args=[crowd.token])
            client.get(link, {"ID": name, "SUBMISSION": submission})
        consent = reverse("annotation:crowd_consent", args=[crowd.token])
        agree = {"version": 1, "agree": "on"}
        return Counter(
            at_once([lambda client=client: client.post(consent, agree).status_code for client in clients])
        )

    return arriving


def test_twenty_arrivals_with_one_id_are_one_person(arriving) -> None:
    answers = arriving([("pia", "s1")] * AT_ONCE)

    assert answers == {302: ARRIVALS_OF_ONE_ID, 400: AT_ONCE - ARRIVALS_OF_ONE_ID}
    assert (CrowdPerson.objects.count(), CrowdSubmission.objects.count()) == (1, 1)
    assert User.objects.filter(username__startswith="crowd-").count() == 1
    assert Participation.objects.count() == 1


@pytest.mark.exhaustive
def test_whoever_knows_an_id_alone_does_not_enter_beside_the_person(arriving) -> None:
    answers = arriving([("pia", f"s{number}") for number in range(ARRIVALS_OF_ONE_ID)])

    assert answers == {302: 1, 403: ARRIVALS_OF_ONE_ID - 1}
    assert (CrowdPerson.objects.count(), CrowdSubmission.objects.count()) == (1, 1)


@pytest.mark.exhaustive
def test_no_more_people_enter_at_once_than_there_are_places(arriving) -> None:
    answers = arriving([(f"person {number}", "s") for number in range(AT_ONCE)])

    assert answers == {302: 5, 403: AT_ONCE - 5}
    assert Participation.objects.count() == CrowdPerson.objects.count() == 5


# Judging


@pytest.fixture
def anna(campaign) -> "Judge":
    return Judge(campaign)


class Judge:
    """Somebody who judges in several tabs, each with the same session."""

    def __init__(self, campaign: Any) -> None:
        self.campaign = campaign
        user = MembershipFactory(dataset=campaign.dataset, role="annotator").user
        self.person = participation_join(campaign=campaign, user=user)
        client = client_of(self.person.user)
        self._session = client.cookies["sessionid"].value

    def post(self, name: str, **body: Any) -> Any:
        tab = Client()
        tab.cookies["sessionid"] = self._session
        return tab.post(reverse(name, args=[self.campaign.pk]), body, content_type="application/json")

    def claim(self) -> int:
        return int(self.post("api_claim").json()["lease"])

    def answer(self, lease: int, client_id: UUID) -> int:
        answer = {"lease": lease, "best": 0, "worst": 1, "client_id": str(client_id)}
        return int(self.post("api_judgements", **answer).status_code)

    def undo(self, client_id: UUID) -> int:
        return int(self.post("api_undo", client_id=str(client_id)).status_code)


def test_one_lease_answered_by_many_tabs_at_once_is_one_judgement(anna, campaign) -> None:
    lease, ids = anna.claim(), [uuid4() for _tab in range(AT_ONCE)]

    answers = at_once([lambda client_id=client_id: anna.answer(lease, client_id) for client_id in ids])

    assert Counter(answers) == {200: 1, 400: AT_ONCE - 1}
    assert Judgement.objects.get().client_id == ids[answers.index(200)]
    assert wrong_counters(campaign) == []


@pytest.mark.exhaustive
def test_one_answer_sent_many_times_at_once_is_one_judgement_and_always_kept(anna, campaign) -> None:
    lease, client_id = anna.claim(), uuid4()

    answers = at_once([lambda: anna.answer(lease, client_id)] * AT_ONCE)

    assert Counter(answers) == {200: AT_ONCE}
    assert Judgement.objects.get().client_id == client_id
    assert wrong_counters(campaign) == []


@pytest.mark.parametrize("attempt", range(3))
@pytest.mark.exhaustive
def test_an_undo_and_an_answer_at_once_are_both_done_or_one_is_refused(anna, campaign, attempt) -> None:
    first, second = uuid4(), uuid4()
    assert anna.answer(anna.claim(), first) == 200
    lease = anna.claim()

    undone, undone_again, answered = at_once(
        [lambda: anna.undo(first), lambda: anna.undo(first), lambda: anna.answer(lease, second)]
    )

    assert {undone, undone_again, answered} <= {200, 400, 409}
    kept = {first: 200 not in {undone, undone_again}, second: answered == 200}
    assert {row.client_id for row in Judgement.objects.all()} == {
        each for each, is_kept in kept.items() if is_kept
    }
    assert lost([each for each, is_kept in kept.items() if is_kept]) == set()
    assert Lease.objects.filter(state="live").count() <= 2
    assert wrong_counters(campaign) == []
