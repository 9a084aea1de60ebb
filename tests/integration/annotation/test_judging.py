"""A judgement is kept once, however and how often it comes; it can be taken back, skipped and flagged."""

from datetime import timedelta
from uuid import uuid4

import pytest

from annotation.campaigns.services import guideline_save
from annotation.judging.assignment import (
    LEASE_TIME,
    SITTING_PAUSE,
    RefusedError,
    judgement_undo,
    participation_join,
    tuple_claim,
    tuple_flag,
    tuple_skip,
)
from annotation.judging.settling import leases_expire, participation_stop
from annotation.models import Campaign, Flag, Judgement, Lease
from tests.factories import CampaignFactory, UserFactory


def claim(person, at, *, ahead=False) -> Lease:
    lease = tuple_claim(participation=person, at=at, ahead=ahead)
    assert isinstance(lease, Lease)
    return lease


def test_a_judgement_keeps_what_was_chosen_shown_and_measured(campaign, anna, at, answer) -> None:
    guideline = guideline_save(campaign=campaign, text="Think of meaning, not of words.")
    lease = claim(anna, at)
    later = at + timedelta(seconds=20)

    submitted = answer.submit(
        anna,
        lease.tuple_id,
        best=2,
        worst=3,
        when=later,
        shown_at=at,
        first_input_at=at + timedelta(seconds=5),
        active_ms=19_000,
    )

    kept = Judgement.objects.get()
    assert (kept.best_slot, kept.worst_slot, kept.order_shown) == (2, 3, lease.order_shown)
    assert (kept.shown_at, kept.active_ms, kept.guideline) == (at, 19_000, guideline)
    assert kept.status == submitted.judgement.status == "collected"


def test_the_same_judgement_sent_twice_is_stored_once(anna, at, answer) -> None:
    lease, client_id = claim(anna, at), uuid4()
    first = answer.submit(anna, lease.tuple_id, client_id=client_id)

    again = answer.submit(anna, lease.tuple_id, client_id=client_id, when=at + timedelta(minutes=1))

    assert (first.repeated, again.repeated) == (False, True)
    assert first.judgement == again.judgement == Judgement.objects.get()


def test_another_answer_to_the_same_tuple_is_refused_and_changes_nothing(anna, at, answer) -> None:
    lease = claim(anna, at)
    answer.submit(anna, lease.tuple_id, best=0, worst=1)

    with pytest.raises(RefusedError, match="answered this question already"):
        answer.submit(anna, lease.tuple_id, best=2, worst=3)

    assert Judgement.objects.get().best_slot == 0


def test_a_tuple_that_was_given_to_somebody_else_is_refused(db, dataset, at, answer) -> None:
    campaign = CampaignFactory(dataset=dataset, tuples=1)
    anna, ben = (participation_join(campaign=campaign, user=UserFactory()) for _ in range(2))
    lease = claim(anna, at)

    with pytest.raises(RefusedError, match="not given to you"):
        answer.submit(ben, lease.tuple_id)

    assert not Judgement.objects.exists()


def test_best_and_worst_must_differ(anna, at, answer) -> None:
    lease = claim(anna, at)

    with pytest.raises(RefusedError, match="same pair"):
        answer.submit(anna, lease.tuple_id, best=1, worst=1)


@pytest.mark.parametrize(("best", "worst"), [(4, 0), (0, 4), (-1, 0)])
def test_best_and_worst_must_be_among_the_pairs_shown(anna, at, answer, best, worst) -> None:
    lease = claim(anna, at)

    with pytest.raises(RefusedError, match="two of the 4 pairs"):
        answer.submit(anna, lease.tuple_id, best=best, worst=worst)


def test_a_judgement_that_comes_after_its_lease_ran_out_counts_if_it_is_still_required(
    anna, at, answer
) -> None:
    lease = claim(anna, at)
    leases_expire(at=at + LEASE_TIME)

    submitted = answer.submit(anna, lease.tuple_id, when=at + timedelta(days=2))

    assert submitted.judgement.status == "collected"


def test_a_late_judgement_of_a_full_tuple_is_kept_as_extra(db, dataset, at, answer) -> None:
    campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=1, tuples=1)
    slow, quick = (participation_join(campaign=campaign, user=UserFactory()) for _ in range(2))
    lease = claim(slow, at)
    answer(quick, when=at + LEASE_TIME)

    late = answer.submit(slow, lease.tuple_id, when=at + 2 * LEASE_TIME)

    assert late.judgement.status == "extra"
    assert campaign.tuples.get().collected == 1


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_what_is_on_a_screen_can_still_be_answered_when_a_campaign_stops(anna, at, answer, state) -> None:
    lease = claim(anna, at)
    Campaign.objects.update(state=state)

    submitted = answer.submit(anna, lease.tuple_id)

    assert submitted.judgement.status == "collected"


def test_an_excluded_persons_late_judgement_is_kept_and_excluded(anna, at, answer) -> None:
    lease = claim(anna, at)
    participation_stop(participation=anna, reason="Answers at random.", exclude=True)

    submitted = answer.submit(anna, lease.tuple_id)

    assert (submitted.stopped, submitted.judgement.status) == (True, "excluded")


@pytest.mark.parametrize(
    "timings",
    [
        {"shown_at": "tomorrow"},
        {"shown_at": "naive"},
        {"first_input_at": "last month"},
        {"active_ms": -5},
        {"active_ms": 10**12},
    ],
)
def test_times_that_cannot_be_true_are_dropped_and_the_judgement_is_kept(anna, at, answer, timings) -> None:
    moments = {
        "tomorrow": at + timedelta(days=1),
        "naive": at.replace(tzinfo=None),
        "last month": at - timedelta(days=30),
    }
    lease = claim(anna, at)

    answer.submit(
        anna, lease.tuple_id, **{name: moments.get(value, value) for name, value in timings.items()}
    )

    kept = Judgement.objects.get()
    assert (kept.shown_at, kept.first_input_at, kept.active_ms) == (None, None, None)


def test_work_after_a_pause_is_another_sitting(anna, at, answer) -> None:
    answer(anna, when=at)
    answer(anna, when=at + SITTING_PAUSE)

    answer(anna, when=at + 3 * SITTING_PAUSE)

    assert [sitting.judgements.count() for sitting in anna.sittings.order_by("pk")] == [2, 1]


def test_an_undone_judgement_is_wanted_again_and_its_tuple_is_back_on_the_screen(anna, at, answer) -> None:
    lease = claim(anna, at)
    answer.submit(anna, lease.tuple_id)

    back = judgement_undo(participation=anna, at=at)

    lease.tuple.refresh_from_db()
    assert (back.tuple_id, back.order_shown) == (lease.tuple_id, lease.order_shown)
    assert claim(anna, at).tuple_id == lease.tuple_id
    assert (lease.tuple.collected, lease.tuple.leased) == (0, 1)


def test_an_undone_answer_is_kept_as_a_revision(anna, at, answer) -> None:
    answer(anna, best=2, worst=0)

    judgement_undo(participation=anna, at=at)

    revision = anna.revisions.get()
    assert (revision.answer["best_slot"], revision.answer["worst_slot"]) == (2, 0)
    assert not anna.judgements.exists()


def test_after_an_undo_what_was_on_the_screen_waits_behind_it(anna, at, answer) -> None:
    first = claim(anna, at)
    second = claim(anna, at, ahead=True)
    answer.submit(anna, first.tuple_id)
    third = claim(anna, at, ahead=True)

    judgement_undo(participation=anna, at=at)

    assert [claim(anna, at).tuple_id, claim(anna, at, ahead=True).tuple_id] == [
        first.tuple_id,
        second.tuple_id,
    ]
    third.refresh_from_db()
    assert third.state == "released"
    assert third.tuple.leased == 0


def test_a_double_click_undoes_once(anna, at, answer) -> None:
    answer(anna)
    last = answer(anna).judgement

    leases = [judgement_undo(participation=anna, at=at, client_id=last.client_id) for _ in range(2)]

    assert leases[0].tuple_id == leases[1].tuple_id == last.tuple_id
    assert anna.judgements.count() == 1


def test_only_the_last_judgement_can_be_undone(anna, at, answer) -> None:
    first = answer(anna).judgement
    answer(anna)

    with pytest.raises(RefusedError, match="Only the last"):
        judgement_undo(participation=anna, at=at, client_id=first.client_id)


def test_an_answer_that_was_taken_back_cannot_come_again_by_itself(anna, at, answer) -> None:
    taken_back = answer(anna).judgement
    judgement_undo(participation=anna, at=at)

    with pytest.raises(RefusedError, match="undid this answer"):
        answer.submit(anna, taken_back.tuple_id, client_id=taken_back.client_id)

    assert answer.submit(anna, taken_back.tuple_id).judgement.status == "collected"


def test_there_is_nothing_to_undo_before_the_first_judgement(anna, at) -> None:
    with pytest.raises(RefusedError, match="no judgement to undo"):
        judgement_undo(participation=anna, at=at)


def test_nothing_is_undone_in_a_campaign_that_is_closed(anna, at, answer) -> None:
    answer(anna)
    Campaign.objects.update(state="closed")

    with pytest.raises(RefusedError, match="closed"):
        judgement_undo(participation=anna, at=at)


def test_a_skipped_tuple_goes_to_others_and_its_reason_to_the_owner(campaign, anna, at) -> None:
    lease = claim(anna, at)

    tuple_skip(participation=anna, tuple_id=lease.tuple_id, reason="broken", note="  cut off ", at=at)

    flag = Flag.objects.get()
    lease.tuple.refresh_from_db()
    assert (flag.kind, flag.reason, flag.note) == ("skip", "broken", "cut off")
    assert lease.tuple.leased == 0


def test_a_skip_sent_twice_is_one_skip(anna, at) -> None:
    lease = claim(anna, at)

    flags = [
        tuple_skip(participation=anna, tuple_id=lease.tuple_id, reason="broken", at=at) for _ in range(2)
    ]

    assert flags[0] == flags[1] == Flag.objects.get()


def test_what_is_judged_cannot_be_skipped_any_more(anna, at, answer) -> None:
    judged = answer(anna).judgement

    with pytest.raises(RefusedError, match="answered this question already"):
        tuple_skip(participation=anna, tuple_id=judged.tuple_id, reason="broken", at=at)


def test_a_flagged_tuple_stays_on_the_screen(anna, at) -> None:
    lease = claim(anna, at)

    tuple_flag(participation=anna, tuple_id=lease.tuple_id, reason="offensive", at=at)

    assert claim(anna, at).tuple_id == lease.tuple_id
    assert Flag.objects.get().kind == "flag"


def test_a_flag_names_no_pair_that_the_tuple_lacks(anna, at) -> None:
    lease = claim(anna, at)

    with pytest.raises(RefusedError, match="pairs of the question"):
        tuple_flag(participation=anna, tuple_id=lease.tuple_id, reason="broken", slot=4, at=at)


def test_a_flag_needs_a_reason_from_the_list(anna, at) -> None:
    lease = claim(anna, at)

    with pytest.raises(RefusedError, match="reason from the list"):
        tuple_flag(participation=anna, tuple_id=lease.tuple_id, reason="boring", at=at)


def test_a_flag_on_a_tuple_never_shown_is_refused(campaign, anna, ben, at) -> None:
    lease = claim(ben, at)
    others = campaign.tuples.exclude(pk=lease.tuple_id)

    with pytest.raises(RefusedError, match="not given to you"):
        tuple_flag(participation=anna, tuple_id=others.first().pk, reason="broken", at=at)


def test_submitting_takes_as_many_queries_in_a_large_campaign_as_in_a_small_one(
    db, dataset, at, answer, no_gold_due, django_assert_num_queries
) -> None:
    for size in (4, 40):
        campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=5, tuples=size)
        people = [participation_join(campaign=campaign, user=UserFactory()) for _ in range(2)]
        campaign.participations.update(cursor=0)  # nobody's walk turns back at the last tuple
        for person in people:
            answer(person)
        lease = claim(people[0], at)
        with django_assert_num_queries(7):
            answer.submit(people[0], lease.tuple_id)
        lease = claim(people[0], at)
        with django_assert_num_queries(11):  # two of them open and close the transaction
            submitted = answer.submit(people[0], lease.tuple_id, claim=True)
        assert isinstance(submitted.following, Lease)
