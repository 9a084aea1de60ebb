"""The review of machine-written sentences: what waits, what a verdict does, how it is taken back."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from threading import Barrier
from uuid import uuid4

import pyarrow.parquet as pq
import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.exchange.exporting import snapshot_create, snapshot_path
from curation.files.writing import sha256_of
from curation.foundation.errors import UserError
from curation.models import Dataset, Pair, PairScore, ReviewClaim, ReviewDecision, ScoreSet, Sentence
from curation.pairs.text import sentence_key
from curation.review.evidence import human_scores, nearest_human
from curation.review.history import decisions_of_pair, review_pace, review_precision
from curation.review.queue import Queue, waiting_by_set, waiting_of
from curation.review.queues import queue_progress, queue_scores, queue_waiting
from curation.review.verdicts import CLAIM_TIME, DecidedError, review_decide, review_next, review_undo
from tests.factories import (
    GeneratedPairFactory,
    MembershipFactory,
    PairFactory,
    SentenceFactory,
    UserFactory,
    run_score_set,
)

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
Decide = Callable[..., ReviewDecision]


def p_d_set(dataset: Dataset) -> ScoreSet:
    return run_score_set(dataset, "realism", "p_D")


def generated(dataset: Dataset, *p_ds: float) -> list[Pair]:
    return [GeneratedPairFactory(dataset=dataset, p_d=p_d, intended=0.5) for p_d in p_ds]


def queue_of(dataset: Dataset, **choice) -> Queue:
    return Queue(p_d_set(dataset), **choice)


def waiting(dataset: Dataset, **choice) -> list[Pair]:
    return [score.pair for score in queue_scores(queue_of(dataset, **choice), reviewer=UserFactory())]


def status(pair: Pair) -> str:
    return Pair.objects.get(pk=pair.pk).status


@pytest.fixture
def decide(curator) -> Decide:
    """`decide(pair)` keeps; `decide(pair, "reject", reasons=["logic"])`; `decide(pair, "edit", text="…")`."""

    def decide(pair: Pair, verdict: str = "keep", **given) -> ReviewDecision:
        given.setdefault("by", curator)
        if verdict == "reject":
            given.setdefault("reasons", ["grammar"])
        return review_decide(pair=pair, verdict=verdict, **{"client_id": uuid4(), "at": AT, **given})

    return decide


def undo(decision: ReviewDecision, by=None) -> ReviewDecision:
    return review_undo(decision=decision, by=by or decision.reviewer, at=AT + timedelta(minutes=1))


# What waits


def test_sentences_come_by_rising_p_d_and_equal_ones_as_they_were_made(dataset) -> None:
    high, low, same, first = generated(dataset, 0.9, 0.1, 0.1, 0.05)

    assert waiting(dataset) == [first, low, same, high]


def test_only_undecided_machine_sentences_of_active_and_pending_pairs_wait(dataset, decide) -> None:
    pending, active, decided, retired, human = generated(dataset, 0.1, 0.2, 0.3, 0.4, 0.5)
    Pair.objects.filter(pk=pending.pk).update(status="pending")
    Pair.objects.filter(pk=retired.pk).update(status="retired")
    Sentence.objects.filter(pk=human.b_id).update(origin="human")
    GeneratedPairFactory(dataset=dataset)  # without a p_D
    imported = PairFactory(dataset=dataset)
    PairScore.objects.create(score_set=p_d_set(dataset), pair=imported, value=0.1)
    decide(decided)

    assert waiting(dataset) == [pending, active]
    assert waiting_of(dataset) == 2
    assert queue_waiting(queue_of(dataset), reviewer=UserFactory()) == 2


def test_a_share_is_cut_by_p_d_and_does_not_move_while_it_is_reviewed(dataset, decide) -> None:
    pairs = generated(dataset, *(number / 10 for number in range(10)))
    queue = queue_of(dataset, share=0.25)  # of ten sentences the three lowest, rounded up

    assert waiting(dataset, share=0.25) == pairs[:3]
    decide(pairs[0])

    assert waiting(dataset, share=0.25) == pairs[1:3]
    progress = queue_progress(queue)
    assert (progress.total, progress.decided, queue_waiting(queue, reviewer=UserFactory())) == (3, 1, 2)


def test_a_sentence_in_several_pairs_waits_once(dataset) -> None:
    first = GeneratedPairFactory(dataset=dataset, p_d=0.2)
    GeneratedPairFactory(dataset=dataset, b=first.b, p_d=0.2)
    other = GeneratedPairFactory(dataset=dataset, p_d=0.1)

    assert waiting(dataset) == [other, first]
    assert waiting_by_set([dataset]) == {p_d_set(dataset).pk: 2}


def test_the_blind_order_holds_the_same_sentences_and_does_not_follow_p_d(dataset) -> None:
    pairs = generated(dataset, *(number / 40 for number in range(40)))

    blind = waiting(dataset, blind=True)

    assert sorted(pair.pk for pair in blind) == [pair.pk for pair in pairs]
    places = [pairs.index(pair) for pair in blind]
    rises = sum(one < other for one, other in pairwise(places))
    assert 10 <= rises <= 29  # of 39; rising p_D would have all


def test_two_people_are_offered_different_sentences_until_the_claim_runs_out(dataset, curator) -> None:
    pairs, other = generated(dataset, 0.1, 0.2, 0.3, 0.4), UserFactory()
    queue = queue_of(dataset)

    def offered(who, at):
        return [score.pair for score in review_next(queue=queue, reviewer=who, at=at, count=2)]

    assert offered(curator, AT) == pairs[:2]
    assert offered(other, AT) == pairs[2:]
    assert offered(curator, AT) == pairs[:2]
    assert offered(other, AT + CLAIM_TIME + timedelta(seconds=1)) == pairs[:2]


def test_the_queue_takes_the_same_queries_for_few_and_for_many(dataset, curator) -> None:
    generated(dataset, 0.1, 0.2, 0.3)
    queue = queue_of(dataset)

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            review_next(queue=queue, reviewer=curator, at=AT)
            queue_progress(queue)
        return len(captured)

    queries()  # what the share holds is kept from here on
    few = queries()
    generated(dataset, *(0.3 + number / 100 for number in range(40)))
    assert queries() == few


# What a verdict does


def test_keeping_makes_a_pending_pair_active(dataset, decide) -> None:
    (pair,) = generated(dataset, 0.1)
    Pair.objects.filter(pk=pair.pk).update(status="pending")

    decision = decide(pair, note=" fine ")

    assert status(pair) == "active"
    assert (decision.value_shown, decision.status_before, decision.note) == (0.1, "pending", "fine")


def test_rejecting_says_why_in_the_order_of_the_reasons(dataset, decide) -> None:
    (pair,) = generated(dataset, 0.1)

    decision = decide(
        pair, "reject", reasons=["context", "grammar", "context"], queue=queue_of(dataset, blind=True)
    )

    assert status(pair) == "rejected"
    assert decision.reasons == ["grammar", "context"]
    assert decision.reason_labels == ["Grammatical error", "Uncommon in context"]
    assert decision.blind


def test_an_edit_retires_the_pair_for_one_with_the_new_sentence_and_the_intended_similarity(
    dataset, decide
) -> None:
    (pair,) = generated(dataset, 0.1)

    new = decide(pair, "edit", text="  A dog is\trunning. ").replacement

    assert status(pair) == "retired"
    assert status(new) == new.status == "active"
    assert (new.a, new.origin, new.run_ref, new.split, new.source) == (
        pair.a,
        "generated",
        7,
        "train",
        "run 7",
    )
    assert (new.b.text, new.b.origin, new.b.run_ref) == ("A dog is running.", "edited", None)
    assert {score.score_set.name: score.value for score in new.scores.all()} == {"run 7: target": 0.5}


def test_an_edit_into_what_a_person_wrote_takes_that_sentence_and_leaves_it_human(dataset, decide) -> None:
    (pair,) = generated(dataset, 0.1)
    human = SentenceFactory(dataset=dataset, text="A dog is running.")
    Sentence.objects.filter(pk=human.pk).update(key=sentence_key("A dog is running."))

    new = decide(pair, "edit", text="A dog is running.").replacement

    assert (new.b.pk, new.b.origin) == (human.pk, "human")


def test_a_verdict_holds_for_every_waiting_pair_of_the_sentence(dataset, decide) -> None:
    pair = GeneratedPairFactory(dataset=dataset, p_d=0.2, intended=0.5)
    sampled = GeneratedPairFactory(dataset=dataset, b=pair.b, p_d=0.2, intended=0.0)
    elsewhere = GeneratedPairFactory(p_d=0.2)

    decision = decide(pair, "edit", text="A dog is running.")

    replaced = ReviewDecision.objects.get(alongside=decision).replacement
    assert [status(pair), status(sampled), status(elsewhere)] == ["retired", "retired", "active"]
    assert (replaced.a, replaced.b) == (sampled.a, decision.replacement.b)
    assert replaced.scores.get().value == 0.0
    assert waiting(dataset) == []
    assert queue_progress(queue_of(dataset)).decided == 1


def test_where_a_machine_wrote_both_sentences_a_verdict_holds_for_these_two(dataset, decide) -> None:
    first, other = (SentenceFactory(dataset=dataset, origin="machine") for _each in range(2))
    pair = GeneratedPairFactory(dataset=dataset, a=first, p_d=0.2, intended=0.5)
    sampled = GeneratedPairFactory(dataset=dataset, a=other, b=pair.b, p_d=0.2, intended=0.0)

    decide(pair, "reject")

    assert [status(pair), status(sampled)] == ["rejected", "active"]
    assert waiting(dataset) == [sampled]


@pytest.mark.parametrize(
    ("verdict", "given", "sentence"),
    [
        ("burn", {}, "“burn” is not a decision"),
        ("reject", {"reasons": []}, "Choose at least one reason"),
        ("reject", {"reasons": ["ugly"]}, "“ugly” is not a reason. Choose from grammar"),
        ("edit", {"text": " "}, "The new text is empty"),
        ("edit", {"text": "\u00ad\u200b"}, "The new text is empty"),
        ("edit", {"text": "A machine's dog."}, "The text has not changed"),
        ("edit", {"text": "A human's dog."}, "is the source sentence itself"),
        ("edit", {"text": "a\x00b"}, "characters that cannot be stored"),
        ("edit", {"text": "x" * 2001}, "2001 characters. A sentence may have at most 2000"),
    ],
)
def test_what_cannot_be_a_verdict_is_refused_and_changes_nothing(
    dataset, decide, verdict: str, given: dict, sentence: str
) -> None:
    a = SentenceFactory(dataset=dataset, text="A human's dog.")
    b = SentenceFactory(dataset=dataset, text="A machine's dog.", origin="machine")
    pair = GeneratedPairFactory(dataset=dataset, a=a, b=b, p_d=0.1)

    with pytest.raises(UserError, match=sentence):
        decide(pair, verdict, **given)

    assert status(pair) == "active"
    assert (Sentence.objects.count(), ReviewDecision.objects.count()) == (2, 0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"origin": "imported"}, "contains no machine-written sentence"),
        ({"status": "retired"}, "is retired. Only active and pending pairs are reviewed"),
    ],
)
def test_a_pair_that_is_not_reviewed_is_named(dataset, decide, change: dict, sentence: str) -> None:
    (pair,) = generated(dataset, 0.1)
    Pair.objects.filter(pk=pair.pk).update(**change)

    with pytest.raises(UserError, match=f"Pair {pair.external_id} {sentence}"):
        decide(pair)


def test_the_same_verdict_sent_twice_is_kept_once(dataset, decide) -> None:
    (pair,), client_id = generated(dataset, 0.1), uuid4()

    first = decide(pair, "reject", client_id=client_id)
    again = decide(pair, "reject", client_id=client_id)

    assert again.pk == first.pk
    assert ReviewDecision.objects.count() == 1


def test_a_client_id_of_another_decision_is_refused(dataset, decide) -> None:
    (one, other), client_id = generated(dataset, 0.1, 0.2), uuid4()
    decide(one, client_id=client_id)

    with pytest.raises(UserError, match="belongs to another decision"):
        decide(other, client_id=client_id)

    assert status(other) == "active"


def test_who_comes_second_is_told_who_decided_and_what(dataset, decide) -> None:
    (pair,) = generated(dataset, 0.1)
    decide(pair, "reject")

    with pytest.raises(DecidedError, match=r"curator has already decided about this sentence \(reject\)"):
        decide(pair, by=UserFactory())

    assert ReviewDecision.objects.get().verdict == "reject"


def test_the_database_keeps_one_standing_decision_per_pair(dataset, decide) -> None:
    (pair,) = generated(dataset, 0.1)
    decide(pair)

    with pytest.raises(IntegrityError):
        ReviewDecision.objects.create(
            sentence=pair.b, pair=pair, verdict="keep", decided_at=AT, client_id=uuid4()
        )


@pytest.mark.django_db(transaction=True)
def test_of_five_people_who_decide_at_once_one_does(dataset) -> None:
    pair = GeneratedPairFactory(dataset=dataset, p_d=0.2)
    shared = GeneratedPairFactory(dataset=dataset, b=pair.b, p_d=0.2)
    people = [MembershipFactory(dataset=dataset, role="curator").user for _ in range(5)]
    ready = Barrier(len(people))

    def act(place: int) -> str:
        try:
            ready.wait(60)
            # Half of them have the sentence before them in another pair.
            chosen, verdict = (pair, "keep") if place % 2 else (shared, "reject")
            review_decide(
                pair=chosen, verdict=verdict, reasons=["logic"], client_id=uuid4(), by=people[place], at=AT
            )
        except DecidedError:
            return "late"
        finally:
            connection.close()
        return "decided"

    with ThreadPoolExecutor(len(people)) as pool:
        outcomes = sorted(pool.map(act, range(len(people))))

    assert outcomes == ["decided", "late", "late", "late", "late"]
    assert ReviewDecision.objects.filter(undone_at=None, alongside=None).count() == 1
    assert status(pair) == status(shared)


@pytest.mark.django_db(transaction=True)
def test_people_who_ask_at_once_are_offered_different_sentences(dataset) -> None:
    generated(dataset, *(number / 20 for number in range(12)))
    queue, people = queue_of(dataset), [UserFactory() for _ in range(4)]
    ready = Barrier(len(people))

    def ask(person) -> list[int]:
        try:
            ready.wait(60)
            return [score.pair_id for score in review_next(queue=queue, reviewer=person, at=AT)]
        finally:
            connection.close()

    with ThreadPoolExecutor(len(people)) as pool:
        offered = [pair for pairs in pool.map(ask, people) for pair in pairs]

    assert len(offered) == len(set(offered)) == 12
    assert ReviewClaim.objects.count() == 12


# Undo


def test_an_undo_restores_what_was_and_says_who_did_it(dataset, decide, owner) -> None:
    (pair,) = generated(dataset, 0.1)
    Pair.objects.filter(pk=pair.pk).update(status="pending")
    decision = decide(pair, "reject")

    undone = undo(decision, by=owner)

    assert status(pair) == "pending"
    assert (undone.undone_by, undone.undone_at) == (owner, AT + timedelta(minutes=1))
    assert waiting(dataset) == [pair]


def test_undoing_twice_changes_nothing_more(dataset, decide) -> None:
    (pair,) = generated(dataset, 0.1)
    decision = decide(pair, "reject")
    undo(decision)
    decide(pair, "keep")

    undo(decision)

    assert status(pair) == "active"
    assert ReviewDecision.objects.filter(undone_at=None).get().verdict == "keep"


def test_a_verdict_that_arrives_again_after_its_undo_does_not_come_back(dataset, decide) -> None:
    (pair,), client_id = generated(dataset, 0.1), uuid4()
    undo(decide(pair, "reject", client_id=client_id))

    decide(pair, "reject", client_id=client_id)

    assert status(pair) == "active"
    assert not ReviewDecision.objects.filter(undone_at=None).exists()


def test_undoing_an_edit_retires_the_new_pair_and_the_same_edit_finds_it_again(dataset, decide) -> None:
    (pair,) = generated(dataset, 0.1)
    edited = decide(pair, "edit", text="A dog is running.")

    undo(edited)
    assert [status(pair), status(edited.replacement)] == ["active", "retired"]

    again = decide(pair, "edit", text="A dog is running.")
    assert (again.replacement, status(again.replacement)) == (edited.replacement, "active")


def test_an_edit_whose_sentence_was_reviewed_since_is_not_undone(dataset, decide) -> None:
    (pair,) = generated(dataset, 0.1)
    edited = decide(pair, "edit", text="A dog is running.")
    Sentence.objects.filter(pk=edited.replacement.b_id).update(origin="machine")  # another run wrote the same
    later = decide(edited.replacement, "reject")

    with pytest.raises(UserError, match=r"has been reviewed since\. Undo that decision first"):
        undo(edited)
    undo(later)
    undo(edited)

    assert [status(pair), status(edited.replacement)] == ["active", "retired"]


def test_undoing_a_companion_undoes_the_verdict_it_belongs_to(dataset, decide) -> None:
    pair = GeneratedPairFactory(dataset=dataset, p_d=0.2)
    shared = GeneratedPairFactory(dataset=dataset, b=pair.b, p_d=0.2)
    decide(pair, "reject")

    undo(ReviewDecision.objects.get(pair=shared))

    assert [status(pair), status(shared)] == ["active", "active"]


STEPS = st.lists(
    st.tuples(st.sampled_from(["keep", "reject", "edit", "edit again", "undo"]), st.integers(0, 3)),
    max_size=12,
)


@pytest.mark.exhaustive
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_any_verdicts_all_undone_leave_everything_as_it_was(dataset, decide, steps) -> None:
    pairs = generated(dataset, 0.1, 0.2, 0.3)
    pairs.append(GeneratedPairFactory(dataset=dataset, b=pairs[0].b, p_d=0.1, intended=0.0))
    Pair.objects.filter(pk=pairs[1].pk).update(status="pending")
    before = active_facts(dataset)

    for step, place in steps:
        stands = ReviewDecision.objects.filter(pair=pairs[place], undone_at=None).first()
        if step == "undo" and stands:
            undo(stands)
        elif step != "undo" and not stands:
            text = f"{'A man' if step == 'edit again' else 'A dog'} walks past {pairs[place].b_id}."
            decide(pairs[place], step.split()[0], text=text)
    for decision in ReviewDecision.objects.filter(undone_at=None, alongside=None):
        undo(decision)

    assert active_facts(dataset) == before
    ReviewDecision.objects.all().delete()
    Pair.objects.filter(dataset=dataset).delete()


def active_facts(dataset: Dataset) -> list[tuple]:
    """Every pair that is not retired, with its status and its scores: what a queue and a snapshot see."""
    pairs = Pair.objects.filter(dataset=dataset).exclude(status="retired").order_by("pk")
    return [
        (pair.pk, pair.a_id, pair.b_id, pair.status, *pair.scores.order_by("pk").values_list("pk", "value"))
        for pair in pairs
    ]


# Snapshots


def test_a_verdict_shapes_the_next_snapshot_and_never_an_old_one(dataset, decide) -> None:
    kept, rejected, edited = generated(dataset, 0.1, 0.2, 0.3)
    old = snapshot_create(dataset=dataset)

    decide(kept)
    decide(rejected, "reject")
    replacement = decide(edited, "edit", text="A dog is running.").replacement
    new = snapshot_create(dataset=dataset)

    assert rows(old) == [kept.pk, rejected.pk, edited.pk]
    assert sha256_of(snapshot_path(old)) == old.sha256
    assert rows(new) == [kept.pk, replacement.pk]
    table = pq.read_table(snapshot_path(new)).to_pydict()
    assert table["run 7: target"] == [0.5, 0.5]
    assert table["run 7: p_D"] == [0.1, None]


def test_undoing_shapes_the_snapshot_after_it(dataset, decide) -> None:
    (pair,) = generated(dataset, 0.1)
    generated(dataset, 0.5)
    decision = decide(pair, "reject")
    without = snapshot_create(dataset=dataset)

    undo(decision)

    assert pair.pk not in rows(without)
    assert pair.pk in rows(snapshot_create(dataset=dataset))


def rows(snapshot) -> list[int]:
    return pq.read_table(snapshot_path(snapshot)).to_pydict()["pair"]


# What is told


def test_the_precision_counts_what_was_kept_and_what_the_last_ten_did(dataset, decide) -> None:
    pairs = generated(dataset, *(number / 20 for number in range(14)))
    for number, pair in enumerate(pairs):
        at = AT + timedelta(seconds=number)
        if number < 4:
            decide(pair, "reject", at=at)
        else:
            decide(pair, at=at) if number % 2 else decide(pair, "edit", text=f"New {number}.", at=at)

    precision = review_precision(p_d_set(dataset))

    assert (precision.now.kept, precision.now.n) == (5, 14)
    assert (precision.before.kept, precision.before.n) == (0, 4)
    assert (precision.last.kept, precision.last.n) == (5, 10)
    assert [level.at_least for level in precision.levels] == [0.0, 0.15, 0.35, 0.5]


def test_an_undone_verdict_and_a_companion_say_nothing_of_the_precision(dataset, decide) -> None:
    pair = GeneratedPairFactory(dataset=dataset, p_d=0.2)
    GeneratedPairFactory(dataset=dataset, b=pair.b, p_d=0.2)
    (other,) = generated(dataset, 0.3)
    undo(decide(other))
    decide(pair)

    assert review_precision(p_d_set(dataset)).now.n == 1


def test_the_pace_counts_one_sitting(dataset, decide, curator) -> None:
    pairs = generated(dataset, *(number / 20 for number in range(7)))
    decide(pairs[0], at=AT - timedelta(hours=1))
    for number, pair in enumerate(pairs[1:]):
        decide(pair, at=AT + timedelta(seconds=20 * number))

    pace = review_pace(dataset, curator, at=AT + timedelta(seconds=110))

    assert (pace.decided, pace.per_hour) == (6, 180)
    assert review_pace(dataset, curator, at=AT + timedelta(hours=1)).decided == 0


def test_human_scores_leave_machines_out_and_place_a_value(dataset) -> None:
    generated(dataset, 0.01, 0.02)
    scored = p_d_set(dataset)
    for value in (0.2, 0.6, 0.8, 1.0):
        SentenceFactory(dataset=dataset).scores.create(score_set=scored, value=value)

    human = human_scores(scored)

    assert human.n == 4
    assert [human.share_below(value) for value in (0.0, 0.5, 0.7, 1.0)] == [0.0, 0.25, 0.5, 0.75]


def test_the_nearest_human_sentence_is_neither_the_source_nor_a_machine_s(dataset) -> None:
    source = SentenceFactory(dataset=dataset, text="A dog runs in the park.")
    SentenceFactory(dataset=dataset, text="A dog runs in the park today.", origin="machine")
    SentenceFactory(dataset=dataset, text="A dog sleeps in the sun.")
    SentenceFactory(text="A dog runs in the park now.")  # another dataset's

    (found,) = nearest_human(dataset, [("A dog runs in the park today.", [source.pk])])

    assert (found.text, found.searched_all) == ("A dog sleeps in the sun.", True)


def test_a_new_human_sentence_is_found_too(dataset) -> None:
    SentenceFactory(dataset=dataset, text="Two cats.")
    assert nearest_human(dataset, [("A dog runs.", [])]) == [None]

    SentenceFactory(dataset=dataset, text="A dog sleeps.")

    (found,) = nearest_human(dataset, [("A dog runs.", [])])
    assert found.text == "A dog sleeps."


def test_a_pair_tells_its_verdicts_and_a_replacement_what_it_came_from(dataset, decide) -> None:
    (pair,) = generated(dataset, 0.1)
    undo(decide(pair, "reject"))
    edited = decide(pair, "edit", text="A dog is running.")

    assert [decision.verdict for decision in decisions_of_pair(pair)] == ["edit", "reject"]
    assert decisions_of_pair(edited.replacement) == [edited]
