"""Sixteen people at once on PostgreSQL: claims, answers, undos, skips, expiries, stops and reinstatements."""

import random
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.campaigns.adapting import adaptive_spend, blocks_make
from annotation.judging import repeats
from annotation.judging.assignment import (
    LEASE_TIME,
    RefusedError,
    judgement_submit,
    judgement_undo,
    participation_join,
    tuple_claim,
    tuple_skip,
)
from annotation.judging.choosing import NoTupleReason
from annotation.judging.settling import leases_expire, participation_reinstate, participation_stop
from annotation.models import Judgement, JudgementRevision, Lease, Participation, Tuple
from tests.factories import CampaignFactory, DatasetFactory, TupleFactory, UserFactory
from tests.integration.annotation.conftest import AT
from tests.integration.annotation.crowd import crowd_judge

PEOPLE, STEPS, WANTED = 16, 30, 2
ACTIONS = ["judge"] * 8 + ["judge twice", "undo", "undo", "skip", "expire", "stop", "reinstate", "come late"]


class Worker:
    """One of the threads: acts as its own person, and now and then as an owner who stops or reinstates another."""

    def __init__(self, number: int, people: list[Participation]) -> None:
        self.rng = random.Random(number)
        self.me, self.people = people[number], people
        self.at = AT
        self.kept: list[UUID] = []

    def run(self) -> list[UUID]:
        try:
            for _ in range(STEPS):
                self.at += timedelta(seconds=30)
                self.act(self.rng.choice(ACTIONS))
        finally:
            connection.close()
        return self.kept

    def act(self, action: str) -> None:
        other = self.rng.choice(self.people)
        try:
            match action:
                case "judge" | "judge twice" | "come late":
                    self.judge(action)
                case "undo":
                    judgement_undo(participation=self.me, at=self.at)
                case "skip" if lease := self.claim():
                    tuple_skip(participation=self.me, tuple_id=lease.tuple_id, reason="broken", at=self.at)
                case "expire":
                    leases_expire(at=self.at + LEASE_TIME / 2)
                case "stop":
                    participation_stop(participation=other, reason="A test.", exclude=self.rng.random() < 0.5)
                case "reinstate":
                    participation_reinstate(participation=other)
                    participation_reinstate(participation=self.me)
        except RefusedError:
            pass  # undo with nothing to undo, a tuple lost to an undo in between: the page would say so

    def claim(self) -> Lease | None:
        found = tuple_claim(participation=self.me, at=self.at, ahead=self.rng.random() < 0.3)
        return found if isinstance(found, Lease) else None

    def judge(self, action: str) -> None:
        lease = self.claim()
        if lease is None:
            return
        if action == "come late":
            leases_expire(at=self.at + 2 * LEASE_TIME)
        client_id = UUID(int=self.rng.getrandbits(128))
        for _ in range(2 if action == "judge twice" else 1):
            best, worst = (0, 1) if lease.tuple.is_gold else self.rng.sample(range(4), 2)
            judgement_submit(
                participation=self.me,
                tuple_id=lease.tuple_id,
                best_slot=best,
                worst_slot=worst,
                client_id=client_id,
                at=self.at,
                claim=self.rng.random() < 0.5,
            )
        self.kept.append(client_id)


@pytest.fixture
def campaign(monkeypatch):
    monkeypatch.setattr(repeats, "JUDGED_BETWEEN", 1)  # nobody here judges much more than ten tuples
    return CampaignFactory(judgements_per_tuple=WANTED, gold_every=5, repeat_every=5, tuples=60, gold=4)


@pytest.fixture
def hammered(campaign) -> list[UUID]:
    """The client ids of every judgement that was said to be kept."""
    people = [participation_join(campaign=campaign, user=UserFactory()) for _ in range(PEOPLE)]
    with ThreadPoolExecutor(PEOPLE) as threads:
        work = [threads.submit(Worker(number, people).run) for number in range(PEOPLE)]
        return [client_id for kept in work for client_id in kept.result()]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_whatever_happens_at_once_the_rules_hold(hammered, campaign) -> None:
    assert len(hammered) > PEOPLE  # something was judged
    assert lost(hammered) == set()
    assert wrong_standings() == []
    assert wrong_counters(campaign) == []
    assert held_by_too_many() == []
    assert wrong_repeats() == []
    assert Judgement.objects.filter(status="repeat").exists()


@pytest.mark.postgres
@pytest.mark.django_db
def test_an_undo_locks_the_tuple_before_it_takes_the_judgement_away() -> None:
    """Whoever settles the tuple holds its lock and then changes its judgements: the other order ends in a deadlock."""
    campaign = CampaignFactory(judgements_per_tuple=1, tuples=3)
    person = participation_join(campaign=campaign, user=UserFactory())
    lease = tuple_claim(participation=person, at=AT)
    judgement_submit(
        participation=person, tuple_id=lease.tuple_id, best_slot=0, worst_slot=1, client_id=uuid4(), at=AT
    )

    with CaptureQueriesContext(connection) as asked:
        judgement_undo(participation=person, at=AT)

    statements = [query["sql"] for query in asked]
    locked = [
        place
        for place, sql in enumerate(statements)
        if "annotation_tuple" in sql and "FOR NO KEY UPDATE" in sql
    ]
    deleted = [place for place, sql in enumerate(statements) if 'DELETE FROM "annotation_judgement"' in sql]
    assert len(deleted) == 1
    assert locked[0] < deleted[0]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_whoever_comes_at_the_same_moment_gets_a_tuple_if_there_is_one_and_none_is_given_too_often() -> None:
    campaign = CampaignFactory(judgements_per_tuple=WANTED)
    tuples = TupleFactory.create_batch(PEOPLE // WANTED, campaign=campaign)
    people = [participation_join(campaign=campaign, user=UserFactory()) for _ in range(PEOPLE)]
    together = Barrier(PEOPLE)

    def claim(person: Participation) -> Lease | NoTupleReason:
        together.wait()
        try:
            return tuple_claim(participation=person, at=AT)
        finally:
            connection.close()

    with ThreadPoolExecutor(PEOPLE) as threads:
        claimed = list(threads.map(claim, people))

    given = Counter(lease.tuple_id for lease in claimed if isinstance(lease, Lease))
    assert given == {tuple_.pk: WANTED for tuple_ in tuples}


@pytest.mark.exhaustive
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_crowd_that_finds_nothing_left_spends_the_extra_judgements_and_no_more() -> None:
    campaign = crowd_judge(DatasetFactory(), each=WANTED)
    adaptive_spend(campaign=campaign, judgements=40)
    people = [participation_join(campaign=campaign, user=UserFactory()) for _ in range(PEOPLE)]
    together = Barrier(PEOPLE)

    def judge_on(person: Participation) -> None:
        together.wait()
        try:
            lease = tuple_claim(participation=person, at=AT)
            while lease is not NoTupleReason.JUDGED:
                if isinstance(lease, Lease):
                    lease = judgement_submit(
                        participation=person,
                        tuple_id=lease.tuple_id,
                        best_slot=0,
                        worst_slot=1,
                        client_id=uuid4(),
                        at=AT,
                        claim=True,
                    ).following
                else:
                    blocks_make()  # what the sweep does meanwhile
                    lease = tuple_claim(participation=person, at=AT)
        finally:
            connection.close()

    with ThreadPoolExecutor(PEOPLE) as threads:
        list(threads.map(judge_on, people))

    chosen = campaign.tuples.filter(phase="adaptive")
    sets = {tuple(sorted(row.items.values_list("pair", flat=True))) for row in campaign.tuples.all()}
    given = Judgement.objects.filter(tuple__in=chosen)
    assert (given.count(), chosen.count(), chosen.filter(collected=1).count()) == (40, 40, 40)
    assert len(sets) == 120
    assert wrong_counters(campaign) == []


def lost(kept: list[UUID]) -> set[UUID]:
    """Judgements that were said to be kept and are neither there nor among those taken back."""
    there = set(Judgement.objects.values_list("client_id", flat=True))
    return set(kept) - there - set(JudgementRevision.objects.values_list("client_id", flat=True))


def wrong_standings() -> list[int]:
    """Judgements that do not stand as the order of arrival says."""
    rows = Judgement.objects.filter(tuple__is_gold=False, tuple__repeats=None).order_by("pk")
    expected: dict[int, str] = {}
    valid: Counter[int] = Counter()
    for row in rows.select_related("participation"):
        if row.participation.excluded:
            expected[row.pk] = "excluded"
        else:
            expected[row.pk] = "collected" if valid[row.tuple_id] < WANTED else "extra"
            valid[row.tuple_id] += 1
    return [row.pk for row in rows if row.status != expected[row.pk]]


def wrong_counters(campaign) -> list[Tuple]:
    collected = Counter(Judgement.objects.filter(status="collected").values_list("tuple", flat=True))
    live = Lease.objects.filter(state="live", tuple__is_gold=False, tuple__repeats=None)
    leased = Counter(live.values_list("tuple", flat=True))
    return [
        row
        for row in campaign.tuples.all()
        if (row.collected, row.leased) != (collected[row.pk], leased[row.pk]) or row.collected > row.required
    ]


def wrong_repeats() -> list[Lease | Judgement]:
    """Repeats of what the person never saw, or in the order of the first time; and answers that stand otherwise."""
    first = {(row.tuple_id, row.participation_id): row.order_shown for row in Lease.objects.all()}
    again = Lease.objects.exclude(tuple__repeats=None).select_related("tuple")
    odd = [
        row
        for row in again
        if first.get((row.tuple.repeats_id, row.participation_id)) in (None, row.order_shown)
        or row.tuple.items.count() != 4
    ]
    return [*odd, *Judgement.objects.exclude(tuple__repeats=None).exclude(status="repeat")]


def held_by_too_many() -> list[int]:
    """People with more than two tuples before them, or any at all after they were stopped."""
    held: dict[int, int] = defaultdict(int)
    for lease in Lease.objects.filter(state="live"):
        held[lease.participation_id] += 1
    stopped = set(Participation.objects.filter(state="stopped").values_list("pk", flat=True))
    return [person for person, number in held.items() if number > 2 or person in stopped]
