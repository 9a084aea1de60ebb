"""Gold tuples: where they stand, what they answer, and whom they stop."""

from collections import Counter
from datetime import timedelta

import pytest

from annotation.judging.assignment import (
    RefusedError,
    judgement_undo,
    participation_join,
    tuple_claim,
    tuple_skip,
)
from annotation.judging.choosing import NoTupleReason
from annotation.judging.gold import EXPECTED_SEEN, gold_choose, gold_is_due
from annotation.judging.screen import undo_offered
from annotation.judging.settling import leases_expire, participation_reinstate, participation_stop
from annotation.models import Judgement, Lease, Tuple
from curation.models import AuditEntry
from tests.factories import CampaignFactory, GoldFactory, UserFactory

GATE = {"gold_every": 2, "gold_minimum": 3, "gold_threshold": 0.7}


@pytest.fixture
def campaign(db, dataset):
    """Twelve ordinary tuples, every other tuple gold; three gold answers before anyone is stopped."""
    return CampaignFactory(dataset=dataset, judgements_per_tuple=1, **GATE, tuples=12, gold=8)


@pytest.fixture
def work(at, answer):
    """Let a person judge until so many gold tuples are answered, or nothing is left."""

    def work(person, *, golds, best=0, worst=1):
        outcome = None
        while person.judgements.filter(status="gold").count() < golds:
            if not isinstance(tuple_claim(participation=person, at=at), Lease):
                break
            outcome = answer(person, best=best, worst=worst)
        return outcome

    return work


def test_one_tuple_in_every_block_is_gold_at_a_place_of_chance(campaign, anna, at, answer) -> None:
    gold = [answer(anna).gold is not None for _ in range(16)]

    blocks = [tuple(gold[start : start + 2]) for start in range(0, 16, 2)]
    assert all(sum(block) == 1 for block in blocks)
    assert set(Counter(blocks)) == {(True, False), (False, True)}


def test_where_gold_stands_is_the_same_however_often_it_is_asked(campaign, anna) -> None:
    anna.handed = 7

    assert len({gold_is_due(anna) for _ in range(5)}) == 1


def test_a_gold_tuple_is_never_asked_twice_of_a_person(campaign, anna, work) -> None:
    work(anna, golds=8)

    golds = [judgement.tuple_id for judgement in anna.judgements.filter(status="gold")]
    assert len(golds) == len(set(golds)) == 8


@pytest.fixture
def one_gold(db, dataset):
    """Many ordinary tuples and a single gold tuple, so that whoever is asked gold again is asked that one."""
    campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=1, **GATE, tuples=12)
    return GoldFactory(campaign=campaign)


@pytest.fixture
def dora(one_gold):
    return participation_join(campaign=one_gold.campaign, user=UserFactory(username="dora"))


@pytest.fixture
def gold_lease(dora, one_gold, at, answer):
    """The gold tuple on Dora's screen, after as many ordinary ones as come before it."""
    while (lease := tuple_claim(participation=dora, at=at)).tuple_id != one_gold.pk:
        answer.submit(dora, lease.tuple_id)
    return lease


def asked_after(person, at, answer) -> list[int]:
    """The tuples that the person is asked for from now on, judged until nothing is left."""
    asked = []
    while isinstance(lease := tuple_claim(participation=person, at=at), Lease):
        asked.append(lease.tuple_id)
        answer.submit(person, lease.tuple_id, when=at)
    return asked


def test_a_gold_tuple_that_a_person_answered_is_not_chosen_for_them_again(
    dora, gold_lease, one_gold, answer
) -> None:
    answer.submit(dora, one_gold.pk)

    assert [gold_choose(dora) for dora.handed in range(20)] == [None] * 20


def test_whoever_answered_all_gold_gets_ordinary_tuples_only(dora, gold_lease, one_gold, at, answer) -> None:
    answer.submit(dora, one_gold.pk)

    asked = asked_after(dora, at, answer)

    assert len(asked) > GATE["gold_every"]
    assert one_gold.pk not in asked


def test_an_answered_gold_tuple_is_not_asked_again_in_later_sittings(
    dora, gold_lease, one_gold, at, answer
) -> None:
    answer.submit(dora, one_gold.pk)
    asked = []
    for day in (1, 2, 3):
        lease = tuple_claim(participation=dora, at=at + timedelta(days=day))
        asked.append(lease.tuple_id)
        answer.submit(dora, lease.tuple_id, when=at + timedelta(days=day))

    assert dora.sittings.count() == 4
    assert one_gold.pk not in asked + asked_after(dora, at + timedelta(days=4), answer)


def test_a_wrong_gold_answer_that_somebody_tried_to_take_back_is_not_asked_again(
    dora, gold_lease, one_gold, at, answer
) -> None:
    answer.submit(dora, one_gold.pk, best=2, worst=3)
    with pytest.raises(RefusedError, match="seen the expected answer"):
        judgement_undo(participation=dora, at=at)

    assert one_gold.pk not in asked_after(dora, at, answer)


def test_a_skipped_gold_tuple_is_not_asked_again(dora, gold_lease, one_gold, at, answer) -> None:
    tuple_skip(participation=dora, tuple_id=one_gold.pk, reason="broken", at=at)

    assert one_gold.pk not in asked_after(dora, at, answer)


def test_a_gold_tuple_on_the_screen_is_not_fetched_ahead_as_well(dora, gold_lease, one_gold, at) -> None:
    assert gold_choose(dora) is None
    assert tuple_claim(participation=dora, at=at, ahead=True).tuple_id != one_gold.pk


def test_a_gold_tuple_that_nobody_answered_in_time_is_asked_again(
    dora, gold_lease, one_gold, at, answer
) -> None:
    later = at + timedelta(hours=1)
    leases_expire(at=later)

    assert asked_after(dora, later, answer).count(one_gold.pk) == 1


def test_a_gold_tuple_that_waits_behind_an_undone_answer_is_asked_once(
    dora, gold_lease, one_gold, at, answer
) -> None:
    if not dora.judgements.exists():  # chance put the gold tuple first: it is answered before the undo then
        answer.submit(dora, one_gold.pk)
        answer(dora)
    judgement_undo(participation=dora, at=at)

    asked_after(dora, at, answer)

    assert dora.judgements.filter(tuple=one_gold).count() == 1
    assert gold_choose(dora) is None


def test_a_reinstated_person_is_not_asked_the_same_gold_again(dora, gold_lease, one_gold, at, answer) -> None:
    answer.submit(dora, one_gold.pk, best=2, worst=3)
    participation_reinstate(participation=dora)

    assert one_gold.pk not in asked_after(dora, at, answer)


def test_a_right_gold_answer_is_said_to_be_right(campaign, anna, work) -> None:
    feedback = work(anna, golds=1, best=0, worst=1).gold

    assert feedback.right


def test_a_wrong_gold_answer_is_told_what_was_expected_and_why(campaign, anna, work) -> None:
    feedback = work(anna, golds=1, best=2, worst=1).gold

    assert (feedback.best_right, feedback.worst_right) == (False, True)
    assert (feedback.best_slot, feedback.worst_slot) == (0, 1)
    assert feedback.why == "The first pair says the same twice."


def test_the_feedback_is_the_same_when_the_judgement_is_sent_again(campaign, anna, work, answer) -> None:
    first = work(anna, golds=1, best=2, worst=3)

    again = answer.submit(anna, first.judgement.tuple_id, client_id=first.judgement.client_id)

    assert again.gold == first.gold
    anna.refresh_from_db()
    assert anna.gold_trials == 2


def test_best_and_worst_are_two_trials(campaign, anna, work) -> None:
    work(anna, golds=2, best=0, worst=3)

    anna.refresh_from_db()
    assert (anna.gold_trials, anna.gold_right) == (4, 2)


@pytest.mark.parametrize("choice", [{"best": 2, "worst": 3}, {"best": 0, "worst": 3}])
def test_a_wrong_gold_answer_cannot_be_undone(campaign, anna, at, work, choice) -> None:
    work(anna, golds=1, **choice)

    with pytest.raises(RefusedError, match="seen the expected answer"):
        judgement_undo(participation=anna, at=at)
    assert undo_offered(anna) == {"undo": "", "undo_off": str(EXPECTED_SEEN)}


def test_a_right_gold_answer_is_undone_like_any_other_and_its_trials_leave_the_count(
    campaign, anna, at, work
) -> None:
    right = work(anna, golds=1).judgement
    offered = undo_offered(anna)

    lease = judgement_undo(participation=anna, at=at)

    anna.refresh_from_db()
    assert offered == {"undo": str(right.client_id), "undo_off": ""}
    assert (lease.tuple_id, lease.state) == (right.tuple_id, Lease.State.LIVE)
    assert (anna.gold_trials, anna.gold_right) == (0, 0)


def test_a_gold_answer_that_was_undone_is_weighed_once_when_it_is_given_again(
    campaign, anna, at, work, answer
) -> None:
    gold = work(anna, golds=1).judgement.tuple_id
    judgement_undo(participation=anna, at=at)

    answer.submit(anna, gold, best=2, worst=1)

    anna.refresh_from_db()
    assert (anna.gold_trials, anna.gold_right) == (2, 1)


def test_a_gold_answer_from_before_a_reinstatement_is_undone_from_what_was_forgiven(
    campaign, anna, at, work
) -> None:
    work(anna, golds=2)
    participation_stop(participation=anna, reason="A mistake.", exclude=True)
    participation_reinstate(participation=anna)

    judgement_undo(participation=anna, at=at)

    anna.refresh_from_db()
    assert (anna.gold_trials, anna.gold_right) == (2, 2)
    assert (anna.forgiven_trials, anna.forgiven_right) == (2, 2)


def test_nobody_is_stopped_before_the_minimum_of_gold_answers(campaign, anna, work) -> None:
    outcome = work(anna, golds=2, best=2, worst=3)

    assert not outcome.stopped


def test_whoever_gets_gold_wrong_is_stopped_and_their_judgements_are_wanted_again(
    campaign, anna, at, work
) -> None:
    outcome = work(anna, golds=3, best=2, worst=3)

    anna.refresh_from_db()
    assert outcome.stopped
    assert (anna.state, anna.excluded) == ("stopped", True)
    assert "0 were right" in anna.reason
    assert set(Judgement.objects.filter(tuple__is_gold=False).values_list("status", flat=True)) == {
        "excluded"
    }
    assert not Tuple.objects.filter(collected__gt=0).exists()
    assert tuple_claim(participation=anna, at=at) is NoTupleReason.STOPPED


def test_gold_does_not_exclude_somebody_who_was_stopped_for_another_reason(
    campaign, anna, at, answer, work
) -> None:
    work(anna, golds=2, best=2, worst=3)
    lease = tuple_claim(participation=anna, at=at)
    while not lease.tuple.is_gold:
        answer.submit(anna, lease.tuple_id)
        lease = tuple_claim(participation=anna, at=at)
    participation_stop(participation=anna, reason="The campaign has enough.")

    outcome = answer.submit(anna, lease.tuple_id, best=2, worst=3)

    anna.refresh_from_db()
    assert outcome.stopped
    assert anna.gold_trials == 6
    assert (anna.reason, anna.excluded, anna.stopped_by_gold) == ("The campaign has enough.", False, False)


def test_an_answer_that_stops_a_person_brings_no_tuple(campaign, anna, at, answer) -> None:
    stopped = False
    while not stopped:
        lease = tuple_claim(participation=anna, at=at)
        outcome = answer.submit(anna, lease.tuple_id, best=2, worst=3, claim=True)
        stopped = outcome.stopped

    assert outcome.following is NoTupleReason.STOPPED
    assert not anna.leases.filter(state="live").exists()


def test_a_bare_rate_below_the_threshold_stops_nobody(campaign, anna, work) -> None:
    campaign.gold_threshold = 0.6
    campaign.save()

    outcome = work(anna, golds=3, best=0, worst=3)  # half right: it may well be chance in six trials

    assert not outcome.stopped


def test_careful_people_are_not_stopped(campaign, anna, work) -> None:
    outcome = work(anna, golds=8, best=0, worst=1)

    assert not outcome.stopped


def test_after_a_reinstatement_the_gate_starts_afresh(campaign, anna, work) -> None:
    work(anna, golds=3, best=2, worst=3)
    participation_reinstate(participation=anna)

    outcome = work(anna, golds=5, best=2, worst=3)

    assert not outcome.stopped
    anna.refresh_from_db()
    assert (anna.gold_trials, anna.forgiven_trials) == (10, 6)


def test_after_a_reinstatement_the_gold_rule_is_no_longer_what_stopped_the_person(
    campaign, anna, work
) -> None:
    work(anna, golds=3, best=2, worst=3)
    anna.refresh_from_db()
    by_the_rule = anna.stopped_by_gold

    participation_reinstate(participation=anna)

    anna.refresh_from_db()
    assert (by_the_rule, anna.stopped_by_gold) == (True, False)
    assert (anna.state, anna.excluded, anna.reason) == ("active", False, "")


def test_gold_is_handed_out_however_many_have_judged_it(dataset, at, answer) -> None:
    campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=9, **GATE, tuples=2)
    gold = GoldFactory(campaign=campaign)
    people = [participation_join(campaign=campaign, user=UserFactory()) for _ in range(5)]

    for person in people:
        for _ in range(2):
            answer(person)

    gold.refresh_from_db()
    assert gold.judgements.count() == 5
    assert (gold.collected, gold.leased) == (0, 0)


def test_the_log_says_that_a_rule_stopped_a_person_who_fails_the_gold_tuples(campaign, anna, work) -> None:
    work(anna, golds=8, best=2, worst=3)

    (entry,) = AuditEntry.objects.filter(dataset=campaign.dataset)
    assert (entry.action, entry.by, entry.via) == ("annotator_excluded", None, "rule")
    assert entry.details["annotator"] == "anna"
    assert "0 were right" in entry.details["reason"]
