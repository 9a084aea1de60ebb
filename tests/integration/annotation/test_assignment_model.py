"""Everything annotators and owners can do, in any order, against a model of a few sets and lists."""

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from scipy.stats import beta

from annotation.campaigns.services import campaign_pause, campaign_resume
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
from tests.factories import CampaignFactory, GoldFactory, TupleFactory, UserFactory
from tests.integration.annotation.conftest import AT

PEOPLE, WANTED, MINIMUM, THRESHOLD = 4, 2, 2, 0.7
BETWEEN = 2  # judgements before a tuple may come again: fewer than on a real screen, so that it happens


REPEATS_MET: list[int] = []  # by all the people of all examples


@dataclass
class Known:
    """What the model knows of one person. `live` holds tuples, the one on the screen first."""

    live: list[int] = field(default_factory=list)
    stale: set[int] = field(default_factory=set)
    shown: set[int] = field(default_factory=set)
    skipped: set[int] = field(default_factory=set)
    answered: list[tuple[int, UUID]] = field(default_factory=list)
    taken_back: list[tuple[int, UUID]] = field(default_factory=list)
    trials: int = 0
    right: int = 0
    stopped: bool = False
    excluded: bool = False

    @property
    def done(self) -> set[int]:
        return self.skipped | {chosen for chosen, _client in self.answered}

    @property
    def late(self) -> list[int]:
        """What the person saw, left unanswered and lost."""
        return sorted(self.shown - self.done - set(self.live))

    def let_go(self, chosen: set[int]) -> None:
        self.live = [kept for kept in self.live if kept not in chosen]
        self.stale -= chosen


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

    def sweep(self) -> None:
        for known in self.people:
            known.let_go(set(known.stale))


# Best and worst. Mostly the answers that gold tuples expect, or the gate would soon have stopped everybody.
slots = st.sampled_from([(0, 1)] * 4 + [(0, 2), (3, 1), (2, 3)])
# How often people do what; an action that cannot be done then is left out.
ACTIONS = (
    ["judge"] * 8
    + ["leave_the_screen", "submit_late", "claim_ahead", "exclude", "reinstate", "undo"] * 2
    + ["claim", "submit_anything", "send_again", "skip", "wait", "sweep", "stop"]
    + ["come_while_the_campaign_is_paused"]
)


class Judging(RuleBasedStateMachine):
    def __init__(self, campaign, users) -> None:
        super().__init__()
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.campaign = campaign
        self.people = [participation_join(campaign=campaign, user=user) for user in users]
        ids = {
            gold: list(campaign.tuples.filter(is_gold=gold).values_list("pk", flat=True)) for gold in (0, 1)
        }
        self.model = Model(ids[0], ids[1], len(users))
        self.all_tuples = ids[0] + ids[1]
        self.rounds = dict(campaign.tuples.values_list("pk", "round"))
        self.clients = 0
        self.at = AT

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.transaction.__exit__(None, None, None)

    @rule(data=st.data(), who=st.integers(0, PEOPLE - 1))
    def act(self, data, who: int) -> None:
        getattr(self, data.draw(st.sampled_from(ACTIONS)))(who, data)

    def claim(self, who: int, data=None, *, ahead: bool = False) -> None:
        known = self.model.people[who]
        claimed = tuple_claim(participation=self.people[who], at=self.at, ahead=ahead)
        self._handed(known, claimed, ahead=ahead)

    def _handed(self, known: Known, claimed: Lease | NoTupleReason, *, ahead: bool = False) -> None:
        if known.stopped or self.model.paused:
            assert claimed is (NoTupleReason.STOPPED if known.stopped else NoTupleReason.PAUSED)
            return
        known.stale.clear()
        place = 1 if ahead and known.live else 0
        if place < len(known.live):
            assert claimed.tuple_id == known.live[place]
        else:
            self._is_new(known, claimed)

    def claim_ahead(self, who: int, data) -> None:
        self.claim(who, ahead=True)

    def _is_new(self, known: Known, claimed: Lease | NoTupleReason) -> None:
        if isinstance(claimed, Lease) and claimed.tuple_id in self.model.golds:
            assert claimed.tuple_id not in known.done | set(known.live)
        else:
            if not self.model.open_to(known) and self.model.no_tuple_reason(known) is NoTupleReason.LEASED:
                self.model.sweep()
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
        known.live.append(claimed.tuple_id)
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
        REPEATS_MET.append(claimed.tuple_id)

    def judge(self, who: int, data) -> None:
        self.claim(who)
        live = self.model.people[who].live
        if live:
            self._submit(who, live[0], data.draw(slots), refused=False, claim=data.draw(st.booleans()))

    def submit_late(self, who: int, data) -> None:
        if late := self.model.people[who].late:
            self._submit(who, late[0], data.draw(slots), refused=False, claim=data.draw(st.booleans()))

    def submit_anything(self, who: int, data) -> None:
        known, chosen = self.model.people[who], data.draw(st.sampled_from(self.all_tuples))
        self._submit(who, chosen, data.draw(slots), refused=chosen not in known.shown or chosen in known.done)

    def _submit(
        self, who: int, chosen: int, answer: tuple[int, int], *, refused: bool, claim: bool = False
    ) -> None:
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
            self._gate(known, right=(answer[0] == 0) + (answer[1] == 1))
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

    def _gate(self, known: Known, *, right: int) -> None:
        known.trials, known.right = known.trials + 2, known.right + right
        wrong = known.trials - known.right
        upper = beta.ppf(0.95, known.right + 1, wrong) if wrong else 1.0  # Clopper and Pearson, one-sided
        if not known.stopped and known.trials >= 2 * MINIMUM and upper < THRESHOLD:
            known.stopped = known.excluded = True
            known.let_go(set(known.live))

    def send_again(self, who: int, data) -> None:
        known = self.model.people[who]
        sent = known.answered + known.taken_back
        if not sent:
            return
        chosen, client_id = data.draw(st.sampled_from(sent))
        submitted = self._send(who, chosen, (3, 2), client_id)
        assert (submitted is not None and submitted.repeated) == ((chosen, client_id) in known.answered)

    def undo(self, who: int, data=None) -> None:
        known = self.model.people[who]
        last = known.answered[-1] if known.answered else None
        refused = known.stopped or self.model.paused or last is None or last[0] in self.model.golds
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
        self.model.arrivals.remove((chosen, who, client_id))
        known.let_go(set(known.live[1:]))
        known.live.insert(0, chosen)

    def skip(self, who: int, data) -> None:
        known, chosen = self.model.people[who], data.draw(st.sampled_from(self.all_tuples))
        refused = chosen not in known.shown or chosen in known.done - known.skipped
        try:
            tuple_skip(participation=self.people[who], tuple_id=chosen, reason="broken", at=self.at)
        except RefusedError:
            assert refused
            return
        assert not refused
        known.let_go({chosen})
        known.skipped.add(chosen)

    def leave_the_screen(self, who: int, data) -> None:
        self.claim(who)
        self.wait()
        self.sweep()

    def wait(self, who: int = 0, data=None) -> None:
        self.at += LEASE_TIME + timedelta(seconds=1)
        for known in self.model.people:
            known.stale = set(known.live)

    def sweep(self, who: int = 0, data=None) -> None:
        leases_expire(at=self.at)
        self.model.sweep()

    def stop(self, who: int, data=None, *, exclude: bool = False) -> None:
        participation_stop(participation=self.people[who], reason="A test.", exclude=exclude)
        known = self.model.people[who]
        known.stopped, known.excluded = True, known.excluded or exclude
        known.let_go(set(known.live))

    def exclude(self, who: int, data) -> None:
        self.stop(who, exclude=True)

    def reinstate(self, who: int, data) -> None:
        stopped = [number for number, known in enumerate(self.model.people) if known.stopped]
        for number in stopped:
            participation_reinstate(participation=self.people[number])
            known = self.model.people[number]
            known.stopped = known.excluded = False
            known.trials = known.right = 0

    def come_while_the_campaign_is_paused(self, who: int, data) -> None:
        campaign_pause(campaign=self.campaign)
        self.model.paused = True
        self.claim(who)
        self.undo(who)
        campaign_resume(campaign=self.campaign)
        self.model.paused = False

    @invariant()
    def the_counters_are_those_of_the_model(self) -> None:
        rows = Tuple.objects.filter(campaign=self.campaign).values_list("pk", "collected", "leased")
        assert {pk: (collected, leased) for pk, collected, leased in rows} == self.model.counters()

    @invariant()
    def every_judgement_is_there_and_stands_as_in_the_model(self) -> None:
        assert dict(Judgement.objects.values_list("client_id", "status")) == self.model.numbers()
        taken_back = {client for known in self.model.people for _tuple, client in known.taken_back}
        assert set(JudgementRevision.objects.values_list("client_id", flat=True)) == taken_back

    @invariant()
    def everybody_holds_what_the_model_says(self) -> None:
        live = Lease.objects.filter(state="live").order_by("turn")
        for person, known in zip(self.people, self.model.people, strict=True):
            held = [lease.tuple_id for lease in live if lease.participation_id == person.pk]
            assert held == known.live

    @invariant()
    def people_are_stopped_as_in_the_model(self) -> None:
        rows = Participation.objects.order_by("pk").values_list("state", "excluded")
        assert list(rows) == [
            ("stopped" if known.stopped else "active", known.excluded) for known in self.model.people
        ]


@pytest.mark.exhaustive
def test_whatever_people_do_in_whatever_order_the_rules_hold(db, dataset, monkeypatch) -> None:
    monkeypatch.setattr(repeats, "JUDGED_BETWEEN", BETWEEN)
    REPEATS_MET.clear()
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
    users = [UserFactory() for _ in range(PEOPLE)]

    run_state_machine_as_test(
        lambda: Judging(campaign, users),
        settings=settings(
            max_examples=20, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
    assert REPEATS_MET
