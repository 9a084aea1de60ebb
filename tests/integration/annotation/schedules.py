"""The life of leases and judgements as schedules: what people, pages, owners and the clock do, in an order that a seed
draws, with the real functions on the database and a model of a few sets and lists beside them.

A schedule depends on its seed alone: `make schedules SCHEDULES=1 FIRST=SEED` runs it again.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
import scipy
from django.db import transaction

from annotation.campaigns.rounds import campaign_lock, round_write
from annotation.campaigns.services import campaign_pause, campaign_resume
from annotation.crowds.erasing import person_erase
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
from annotation.models import Campaign, Judgement, JudgementRevision, Lease, Participation, Tuple
from curation.models import Dataset, User
from tests.factories import CampaignFactory, GoldFactory, PairFactory, TupleFactory, UserFactory
from tests.integration.annotation.conftest import AT

PEOPLE, WANTED, MINIMUM, THRESHOLD = 4, 2, 2, 0.7
FIRST_PERSON = 1_000_000_001  # far from the numbers that a database hands out
BETWEEN = 2  # judgements before a tuple may come again: fewer than on a real screen, so that it happens

# Answers to gold tuples are mostly those that are expected, or the gate would soon have stopped everybody.
SLOTS = [(0, 1)] * 4 + [(0, 2), (3, 1), (2, 3)]


@dataclass
class Known:
    """What the model knows of one person. `live` holds tuples, the one on the screen first, and when each runs out."""

    live: list[int] = field(default_factory=list)
    until: dict[int, datetime] = field(default_factory=dict)
    shown: set[int] = field(default_factory=set)
    skipped: set[int] = field(default_factory=set)
    answered: list[tuple[int, UUID]] = field(default_factory=list)
    taken_back: list[tuple[int, UUID]] = field(default_factory=list)
    golds: dict[UUID, int] = field(default_factory=dict)  # how many of the two choices were right, by answer
    forgiven: set[UUID] = field(default_factory=set)  # those before the last reinstatement
    stopped: bool = False
    excluded: bool = False
    erased: bool = False

    @property
    def done(self) -> set[int]:
        return self.skipped | {chosen for chosen, _client in self.answered}

    @property
    def late(self) -> list[int]:
        """What the person saw, left unanswered and lost."""
        return sorted(self.shown - self.done - set(self.live))

    def let_go(self, chosen: set[int]) -> None:
        self.live = [kept for kept in self.live if kept not in chosen]

    def hold(self, chosen: int, at: datetime, *, first: bool = False) -> None:
        self.live.insert(0 if first else len(self.live), chosen)
        self.until[chosen] = at + LEASE_TIME

    def renew(self, at: datetime) -> None:
        """A person who asks for tuples keeps all leases, once one of them has less than half of its time left."""
        if any(self.until[of] - at < LEASE_TIME / 2 for of in self.live):
            self.until |= dict.fromkeys(self.live, at + LEASE_TIME)


class Model:
    """Which judgements count, who holds what, what is left: always computed from the events."""

    def __init__(self, ordinary: list[int], golds: list[int], people: int) -> None:
        self.ordinary, self.golds = ordinary, golds
        self.repeats: dict[int, int] = {}  # what each repeats
        self.people = [Known() for _ in range(people)]
        self.arrivals: list[tuple[int, int, UUID]] = []  # tuple, person, client id
        self.paused = False

    def numbers(self) -> dict[UUID, str]:
        found = {}
        for chosen in self.ordinary:
            of_tuple = [(person, client) for of, person, client in self.arrivals if of == chosen]
            valid = [client for person, client in of_tuple if not self.people[person].excluded]
            found |= {client: "excluded" for _person, client in of_tuple}
            found |= dict.fromkeys(valid, "extra") | dict.fromkeys(valid[:WANTED], "collected")
        found |= {client: "gold" for of, _person, client in self.arrivals if of in self.golds}
        return found | {client: "repeat" for of, _person, client in self.arrivals if of in self.repeats}

    def counters(self) -> dict[int, tuple[int, int]]:
        numbers = self.numbers()
        collected = [of for of, _person, client in self.arrivals if numbers[client] == "collected"]
        held = [of for known in self.people for of in known.live]
        return {of: (collected.count(of), held.count(of)) for of in self.ordinary} | dict.fromkeys(
            [*self.golds, *self.repeats], (0, 0)
        )

    def repeatable(self, person: Known) -> set[int]:
        """What the person judged long enough ago, never took back, and has not met again."""
        earlier = [chosen for chosen, _client in person.answered][: -BETWEEN or None]
        again = {self.repeats[of] for of in person.done | set(person.live) if of in self.repeats}
        return set(earlier) & set(self.ordinary) - {of for of, _client in person.taken_back} - again

    def open_to(self, person: Known) -> set[int]:
        counters = self.counters()
        unseen = set(self.ordinary) - person.done - set(person.live)
        return {of for of in unseen if sum(counters[of]) < WANTED}

    def no_tuple_reason(self, person: Known) -> NoTupleReason:
        required = {of for of in self.ordinary if self.counters()[of][0] < WANTED}
        if not required:
            return NoTupleReason.JUDGED
        return NoTupleReason.LEASED if required - person.done else NoTupleReason.YOURS

    def sweep(self, at: datetime) -> None:
        for known in self.people:
            known.let_go({of for of in known.live if known.until[of] <= at})


class Schedule:
    """A campaign, the people in it and the model of both. What does not fit the model raises AssertionError."""

    def __init__(self, campaign: Campaign, users: list[User], seed: int) -> None:
        self.rng = random.Random(seed)
        self.done: list[str] = []  # the steps so far, shown with a failure
        self.repeats_met = 0
        self.campaign = campaign
        self.people = [participation_join(campaign=campaign, user=user) for user in users]
        ids = {
            gold: list(campaign.tuples.filter(is_gold=gold).values_list("pk", flat=True)) for gold in (0, 1)
        }
        self.model = Model(ids[0], ids[1], len(users))
        self.all_tuples = ids[0] + ids[1]
        self.rounds = dict(campaign.tuples.values_list("pk", "round"))
        self.clients = 0
        self.grown = False
        self.at = AT

    def step(self) -> None:
        who, action = self.rng.randrange(PEOPLE), self.rng.choice(ACTIONS)
        self.done.append(f"{action.__name__} {who}")
        action(self, who)
        self.check()

    def claim(self, who: int, *, ahead: bool = False) -> None:
        known = self.model.people[who]
        claimed = tuple_claim(participation=self.people[who], at=self.at, ahead=ahead)
        self._handed(known, claimed, ahead=ahead)

    def _handed(self, known: Known, claimed: Lease | NoTupleReason, *, ahead: bool = False) -> None:
        if known.stopped or self.model.paused:
            assert claimed is (NoTupleReason.STOPPED if known.stopped else NoTupleReason.PAUSED)
            return
        known.renew(self.at)
        place = 1 if ahead and known.live else 0
        if place < len(known.live):
            assert claimed.tuple_id == known.live[place]
        else:
            self._is_new(known, claimed)

    def claim_ahead(self, who: int) -> None:
        self.claim(who, ahead=True)

    def _is_new(self, known: Known, claimed: Lease | NoTupleReason) -> None:
        if isinstance(claimed, Lease) and claimed.tuple_id in self.model.golds:
            assert claimed.tuple_id not in known.done | set(known.live)
        else:
            if not self.model.open_to(known) and self.model.no_tuple_reason(known) is NoTupleReason.LEASED:
                self.model.sweep(self.at)
            open_to = self.model.open_to(known)
            if isinstance(claimed, NoTupleReason):
                assert not open_to
                assert claimed is self.model.no_tuple_reason(known)
                return
            if claimed.tuple.repeats_id is not None:
                self._is_again(known, claimed, open_to)
            else:
                assert claimed.tuple_id in open_to
                assert self.rounds[claimed.tuple_id] == min(self.rounds[of] for of in open_to)
        known.hold(claimed.tuple_id, self.at)
        known.shown.add(claimed.tuple_id)

    def _is_again(self, known: Known, claimed: Lease, open_to: set[int]) -> None:
        """A repeat, which comes only where something else is left."""
        assert open_to
        first = claimed.tuple.repeats_id
        assert first in self.model.repeatable(known)
        if claimed.tuple_id not in self.model.repeats:
            self.model.repeats[claimed.tuple_id] = first
            self.all_tuples.append(claimed.tuple_id)
        shown = Lease.objects.get(participation=claimed.participation_id, tuple=first)
        assert claimed.order_shown != shown.order_shown
        self.repeats_met += 1

    def judge(self, who: int) -> None:
        self.claim(who)
        live = self.model.people[who].live
        if live:
            self._submit(who, live[0], refused=False, claim=self._by_chance())

    def judge_in_two_tabs(self, who: int) -> None:
        """Both tabs show the same tuple. The first answer counts; the second is refused, and its page asks again."""
        self.claim(who)
        shown = self.model.people[who].live[:1]
        self.claim(who)
        for chosen in shown:
            self._submit(who, chosen, refused=False)
            self._submit(who, chosen, refused=True)
            self.claim(who)

    def judge_and_send_again(self, who: int) -> None:
        """The answer to a request was lost on its way."""
        self.judge(who)
        self.send_again(who)

    def submit_late(self, who: int) -> None:
        if late := self.model.people[who].late:
            self._submit(who, late[0], refused=False, claim=self._by_chance())

    def submit_anything(self, who: int) -> None:
        known, chosen = self.model.people[who], self.rng.choice(self.all_tuples)
        self._submit(who, chosen, refused=chosen not in known.shown or chosen in known.done)

    def _by_chance(self) -> bool:
        return self.rng.random() < 0.5

    def _submit(self, who: int, chosen: int, *, refused: bool, claim: bool = False) -> None:
        answer = self.rng.choice(SLOTS)
        self.clients += 1
        client_id = UUID(int=self.clients)
        submitted = self._send(who, chosen, answer, client_id, claim=claim)
        assert (submitted is None) == refused
        if submitted is None:
            return
        known = self.model.people[who]
        known.let_go({chosen})
        known.answered.append((chosen, client_id))
        self.model.arrivals.append((chosen, who, client_id))
        if chosen in self.model.golds:
            known.golds[client_id] = (answer[0] == 0) + (answer[1] == 1)
            self._gate(known)
        assert submitted.stopped == known.stopped
        if claim:
            self._handed(known, submitted.following)
        else:
            assert submitted.following is None

    def _send(self, who: int, chosen: int, answer: tuple[int, int], client_id: UUID, *, claim: bool = False):
        try:
            return judgement_submit(
                participation=self.people[who],
                tuple_id=chosen,
                best_slot=answer[0],
                worst_slot=answer[1],
                client_id=client_id,
                at=self.at,
                claim=claim,
            )
        except RefusedError:
            return None

    def _gate(self, known: Known) -> None:
        weighed = [right for client, right in known.golds.items() if client not in known.forgiven]
        trials, right = 2 * len(weighed), sum(weighed)
        wrong = trials - right
        # Clopper and Pearson, one-sided.
        upper = scipy.stats.beta.ppf(0.95, right + 1, wrong) if wrong else 1.0
        if not known.stopped and trials >= 2 * MINIMUM and upper < THRESHOLD:
            known.stopped = known.excluded = True
            known.let_go(set(known.live))

    def send_again(self, who: int) -> None:
        known = self.model.people[who]
        sent = known.answered + known.taken_back
        if not sent:
            return
        chosen, client_id = self.rng.choice(sent)
        submitted = self._send(who, chosen, (3, 2), client_id)
        assert (submitted is not None and submitted.repeated) == ((chosen, client_id) in known.answered)

    def undo(self, who: int) -> None:
        """A wrong answer to a gold tuple stays: the expected one was shown."""
        known = self.model.people[who]
        last = known.answered[-1] if known.answered else None
        is_shut = known.stopped or self.model.paused
        refused = is_shut or last is None or known.golds.get(last[1], 2) < 2
        try:
            lease = judgement_undo(participation=self.people[who], at=self.at)
        except RefusedError:
            assert refused
            return
        assert not refused
        assert lease.tuple_id == last[0]
        self._taken_back(who, known)

    def _taken_back(self, who: int, known: Known) -> None:
        chosen, client_id = known.answered.pop()
        known.taken_back.append((chosen, client_id))
        known.golds.pop(client_id, None)
        self.model.arrivals.remove((chosen, who, client_id))
        known.let_go(set(known.live[1:][-1:]))
        known.hold(chosen, self.at, first=True)

    def skip(self, who: int) -> None:
        known, chosen = self.model.people[who], self.rng.choice(self.all_tuples)
        refused = chosen not in known.shown or chosen in known.done - known.skipped
        try:
            tuple_skip(participation=self.people[who], tuple_id=chosen, reason="broken", at=self.at)
        except RefusedError:
            assert refused
            return
        assert not refused
        known.let_go({chosen})
        known.skipped.add(chosen)

    def leave_the_screen(self, who: int) -> None:
        self.claim(who)
        self.wait()
        self.sweep()

    def wait(self, who: int = 0) -> None:
        self.at += LEASE_TIME + timedelta(seconds=1)

    def some_time_passes(self, who: int) -> None:
        self.at += self.rng.randint(1, 99) * LEASE_TIME / 100

    def clock_is_put_back(self, who: int) -> None:
        self.at -= self.rng.randint(1, 199) * LEASE_TIME / 100

    def sweep(self, who: int = 0) -> None:
        leases_expire(at=self.at)
        self.model.sweep(self.at)

    def stop(self, who: int, *, exclude: bool = False) -> None:
        participation_stop(participation=self.people[who], reason="A test.", exclude=exclude)
        known = self.model.people[who]
        known.stopped, known.excluded = True, known.excluded or exclude
        known.let_go(set(known.live))

    def exclude(self, who: int) -> None:
        self.stop(who, exclude=True)

    def reinstate(self, who: int) -> None:
        stopped = [number for number, known in enumerate(self.model.people) if known.stopped]
        for number in stopped:
            participation_reinstate(participation=self.people[number])
            known = self.model.people[number]
            known.stopped = known.excluded = False
            known.forgiven = set(known.golds)

    def grow(self, who: int) -> None:
        """Two more tuples, as the last step of every growth writes them."""
        if self.grown:
            return
        self.grown = True
        pairs = PairFactory.create_batch(8, dataset=self.campaign.dataset)
        with transaction.atomic():
            campaign = campaign_lock(self.campaign)
            members = np.array([pair.pk for pair in pairs]).reshape(2, 4)
            number = round_write(campaign, members, phase=Tuple.Phase.BRIDGE, required=WANTED)
            campaign.save(update_fields=["rounds"])
        more = list(campaign.tuples.filter(round=number).values_list("pk", flat=True))
        self.model.ordinary += more
        self.all_tuples += more
        self.rounds |= dict.fromkeys(more, number)

    def erase(self, who: int) -> None:
        """Their data is erased; what they judged stays and counts, and a page that is still open goes on."""
        known, person = self.model.people[who], self.people[who]
        if not known.erased and sum(known.erased for known in self.model.people) < 1:
            person_erase(user=person.user, by=person.user, at=self.at)
            known.erased = True

    def come_while_the_campaign_is_paused(self, who: int) -> None:
        campaign_pause(campaign=self.campaign)
        self.model.paused = True
        self.claim(who)
        self.undo(who)
        campaign_resume(campaign=self.campaign)
        self.model.paused = False

    def check(self) -> None:
        """What the database has is what the model has."""
        rows = Tuple.objects.filter(campaign=self.campaign).values_list("pk", "collected", "leased")
        assert {pk: (collected, leased) for pk, collected, leased in rows} == self.model.counters()
        assert dict(Judgement.objects.values_list("client_id", "status")) == self.model.numbers()
        taken_back = {client for known in self.model.people for _tuple, client in known.taken_back}
        assert set(JudgementRevision.objects.values_list("client_id", flat=True)) == taken_back
        live = list(
            Lease.objects.filter(state="live")
            .order_by("turn")
            .values_list("participation", "tuple", "expires_at")
        )
        people = Participation.objects.order_by("pk").values_list(
            "pk", "state", "excluded", "gold_trials", "gold_right", "forgiven_trials", "forgiven_right"
        )
        for (pk, state, excluded, *gold), known in zip(people, self.model.people, strict=True):
            held = [(chosen, until) for person, chosen, until in live if person == pk]
            assert held == [(chosen, known.until[chosen]) for chosen in known.live]
            assert (state, excluded) == ("stopped" if known.stopped else "active", known.excluded)
            forgiven = [right for client, right in known.golds.items() if client in known.forgiven]
            weighed = known.golds.values()
            assert gold == [2 * len(weighed), sum(weighed), 2 * len(forgiven), sum(forgiven)]


# How often people do what; an action that cannot be done then is left out.
ACTIONS: list[Callable[[Schedule, int], None]] = [
    *[Schedule.judge] * 8,
    *[Schedule.leave_the_screen, Schedule.submit_late, Schedule.claim_ahead, Schedule.undo] * 2,
    *[Schedule.exclude, Schedule.reinstate, Schedule.judge_in_two_tabs, Schedule.judge_and_send_again] * 2,
    *[Schedule.claim, Schedule.submit_anything, Schedule.send_again, Schedule.skip, Schedule.wait],
    *[Schedule.sweep, Schedule.stop, Schedule.some_time_passes, Schedule.clock_is_put_back, Schedule.grow],
    *[Schedule.erase, Schedule.come_while_the_campaign_is_paused],
]


def place(dataset: Dataset) -> tuple[Campaign, list[User]]:
    """A small campaign with gold tuples, repeats and a later round, and people who may judge."""
    campaign = CampaignFactory(
        dataset=dataset,
        judgements_per_tuple=WANTED,
        gold_every=4,
        repeat_every=5,
        gold_minimum=MINIMUM,
        gold_threshold=THRESHOLD,
        rounds=3,
    )
    TupleFactory.create_batch(2, campaign=campaign)
    TupleFactory.create_batch(2, campaign=campaign, round=3, phase="adaptive")
    GoldFactory.create_batch(3, campaign=campaign)
    # The turns of repeats are drawn from people's numbers: those that a database hands out depend on the tests before.
    return campaign, [UserFactory(pk=FIRST_PERSON + number) for number in range(PEOPLE)]


@contextmanager
def undone() -> Iterator[None]:
    """Whatever a schedule wrote goes with it."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def schedule_run(campaign: Campaign, users: list[User], *, seed: int, steps: int) -> Schedule:
    """Raises AssertionError with the seed and what was done, where the database and the model differ."""
    with undone():
        schedule = Schedule(Campaign.objects.get(pk=campaign.pk), users, seed)
        try:
            for _ in range(steps):
                schedule.step()
        except AssertionError as error:
            raise AssertionError(
                f"Schedule {seed}, step {len(schedule.done)}: {', '.join(schedule.done)}: {error}"
            ) from error
    return schedule
