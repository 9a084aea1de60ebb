"""Samples of machine sentences, human ones among them, two reviewers of a sentence, and their disagreements."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from curation.datasets.inclusion import inclusion_counts
from curation.exchange.exporting import snapshot_create
from curation.foundation.errors import UserError
from curation.models import Pair, ReviewDecision
from curation.review.disagreements import decisions_disputed, disagreement_resolve, disagreements
from curation.review.history import decisions_of_pair, last_decisions, review_precision
from curation.review.judged import judged_sentences
from curation.review.queue import Frame, Queue
from curation.review.queues import queue_progress, queue_scores, queue_waiting, queue_wider
from curation.review.samples import sample_items
from curation.review.verdicts import DecidedError, review_decide, review_next, review_undo
from tests.factories import GeneratedPairFactory, PairFactory, UserFactory

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def pairs(dataset, p_d) -> list[Pair]:
    """Forty machine sentences by rising p_D, and thirty human ones, each the second of a pair."""
    made = [GeneratedPairFactory(dataset=dataset, p_d=number / 40, intended=0.5) for number in range(40)]
    for number in range(30):
        human = PairFactory(dataset=dataset)
        human.b.scores.create(score_set=p_d, value=0.5 + number / 60)
    return made


@pytest.fixture
def other():
    return UserFactory(username="other")


def random(p_d, **choice) -> Queue:
    return Queue(p_d, **{"frame": Frame.RANDOM, "blind": True, **choice})


def decide(pair, by, verdict="keep", **given) -> ReviewDecision:
    if verdict == "reject":
        given.setdefault("reasons", ["logic"])
    return review_decide(pair=pair, by=by, verdict=verdict, **{"client_id": uuid4(), "at": AT, **given})


def undo(decision, by=None) -> ReviewDecision:
    return review_undo(decision=decision, by=by or decision.reviewer, at=AT + timedelta(minutes=1))


def shown(queue, person) -> list[Pair]:
    return [score.pair for score in queue_scores(queue, reviewer=person)]


def status(pair) -> str:
    return Pair.objects.get(pk=pair.pk).status


# Which sentences, in which order


@pytest.mark.parametrize("frame", [Frame.RANDOM, Frame.STRATIFIED])
def test_a_sample_holds_every_sentence_once_in_a_stable_order_that_p_d_does_not_tell(
    frame, p_d, pairs, curator
) -> None:
    offered = shown(random(p_d, frame=frame), curator)

    assert sorted(pair.pk for pair in offered) == [pair.pk for pair in pairs]
    assert shown(random(p_d, frame=frame), curator) == offered
    assert shown(random(p_d, frame=frame, size=15), curator) == offered[:15]
    rises = sum(one.pk < other.pk for one, other in pairwise(offered))
    assert 10 <= rises <= 29  # of 39; rising p_D would have all


def test_a_stratified_sample_keeps_the_tenth_with_the_verdict(p_d, pairs, curator) -> None:
    queue = random(p_d, frame=Frame.STRATIFIED, size=10)

    for pair in shown(queue, curator):
        decide(pair, curator, queue=queue)

    judged = judged_sentences(p_d)
    assert sorted(row.stratum for row in judged) == list(range(1, 11))
    assert all(row.stratum == int(row.p_d * 10) + 1 and row.frame == "stratified" for row in judged)


def test_the_uncertain_queue_takes_those_nearest_to_a_half_and_blind_hides_how_near(
    p_d, pairs, curator
) -> None:
    queue = Queue(p_d, frame=Frame.UNCERTAIN, size=9)

    open_order, blind_order = shown(queue, curator), shown(replace(queue, blind=True), curator)

    distances = [abs(pairs.index(pair) / 40 - 0.5) for pair in open_order]
    assert distances == sorted(distances)
    assert max(distances) == pytest.approx(0.1)
    assert open_order != blind_order
    assert sorted(pair.pk for pair in open_order) == sorted(pair.pk for pair in blind_order)


def test_a_sentence_in_several_pairs_is_in_the_sample_once(dataset, p_d, pairs, curator) -> None:
    GeneratedPairFactory(dataset=dataset, b=pairs[3].b, p_d=0.075)

    assert [pair.b_id for pair in shown(random(p_d), curator)].count(pairs[3].b_id) == 1


def test_retired_sentences_are_passed_over(p_d, pairs, curator) -> None:
    first, *rest = shown(random(p_d), curator)
    Pair.objects.filter(pk=first.pk).update(status="retired")

    assert shown(random(p_d), curator) == rest


def test_a_sentence_of_another_queue_is_refused(p_d, pairs, curator) -> None:
    Pair.objects.filter(pk=pairs[0].pk).update(origin="imported")  # drawn without it

    with pytest.raises(UserError, match="is not in the sample of this queue"):
        decide(pairs[0], curator, queue=random(p_d))


def test_two_people_get_different_sentences_of_a_sample(p_d, pairs, curator, other) -> None:
    def offered(who):
        return {score.pair_id for score in review_next(queue=random(p_d), reviewer=who, at=AT)}

    assert not offered(curator) & offered(other)
    assert queue_waiting(random(p_d), reviewer=other) == 40


def test_a_sample_takes_the_same_queries_however_many_are_judged(p_d, pairs, curator) -> None:
    queue = random(p_d, human=True)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            review_next(queue=queue, reviewer=curator, at=AT)
            queue_progress(queue)
        return len(captured)

    queries()
    few = queries()
    for pair in shown(queue, curator)[:15]:
        decide(pair, curator, queue=queue)
    assert queries() <= few


def test_a_sample_that_is_judged_offers_a_larger_one(p_d, pairs, curator) -> None:
    queue = random(p_d, size=2)
    for pair in shown(queue, curator):
        decide(pair, curator, queue=queue)

    assert queue_progress(queue) == (2, 2)
    assert queue_wider(queue, reviewer=curator, shares=[], sizes=[2, 10, 20]).size == 10
    assert queue_wider(replace(queue, size=100), reviewer=curator, shares=[], sizes=[200]) is None


def test_what_was_decided_in_another_queue_is_judged_again_by_somebody_else(
    p_d, pairs, curator, other
) -> None:
    """Otherwise the sample would lack the sentences of the lowest p_D."""
    decide(pairs[0], curator, "reject", queue=Queue(p_d))
    queue = random(p_d)

    assert pairs[0] not in shown(queue, curator)
    assert pairs[0] in shown(queue, other)
    again = decide(pairs[0], other, queue=queue)

    assert (again.binding, again.second, status(pairs[0])) == (False, False, "rejected")
    judged = {(row.frame, row.kept, row.second) for row in judged_sentences(p_d)}
    assert judged == {("lowest", False, False), ("random", True, False)}
    assert pairs[0] not in shown(queue, curator)


def test_a_sentence_of_one_sample_is_not_judged_again_in_the_other(p_d, pairs, curator, other) -> None:
    decide(pairs[0], curator, queue=random(p_d))

    assert pairs[0] not in shown(random(p_d, frame=Frame.STRATIFIED), other)


# Human sentences


def human_item(queue, person) -> Pair:
    return next(pair for pair in shown(queue, person) if pair.origin == "imported")


def test_one_sentence_in_ten_is_human(p_d, pairs) -> None:
    items = sample_items(random(p_d, human=True))

    assert [sum(item.human for item in items[start : start + 10]) for start in range(0, 40, 10)] == [1] * 4
    assert len(items) == 44
    assert not any(item.human for item in sample_items(random(p_d, human=True, blind=False)))


@pytest.mark.parametrize(("verdict", "text"), [("keep", ""), ("reject", ""), ("edit", "A better sentence.")])
def test_a_verdict_on_a_human_sentence_changes_nothing_but_is_told(
    dataset, p_d, pairs, curator, verdict, text
) -> None:
    queue = random(p_d, human=True)
    pair = human_item(queue, curator)
    before, counts = snapshot_create(dataset=dataset), inclusion_counts(dataset)

    decision = decide(pair, curator, verdict, text=text, queue=queue)

    assert (status(pair), decision.binding, decision.text) == ("active", False, text)
    assert inclusion_counts(dataset) == counts
    assert snapshot_create(dataset=dataset).sha256 == before.sha256
    assert Pair.objects.filter(dataset=dataset).count() == 70
    (judged,) = judged_sentences(p_d)
    assert (judged.human, judged.kept, judged.frame) == (True, verdict == "keep", "random")
    assert judged.p_d == decision.value_shown == pair.b.scores.get().value
    assert review_precision(p_d).now.n == 0
    assert decisions_of_pair(pair) == []
    assert queue_progress(queue).decided == 1
    assert pair not in shown(queue, curator)


def test_a_human_sentence_is_undone_as_any_other_and_waits_again(p_d, pairs, curator) -> None:
    queue = random(p_d, human=True)
    pair = human_item(queue, curator)

    decision = decide(pair, curator, "reject", queue=queue)
    assert last_decisions(queue, curator) == [decision]
    undo(decision)

    assert (status(pair), judged_sentences(p_d)) == ("active", [])
    assert pair in shown(queue, curator)


def test_a_human_sentence_that_was_not_mixed_in_cannot_be_judged(p_d, pairs, curator) -> None:
    pair = human_item(random(p_d, human=True), curator)

    for queue in (None, Queue(p_d), random(p_d)):
        with pytest.raises(UserError, match=r"no machine-written sentence|not in the sample"):
            decide(pair, curator, queue=queue)


# Two reviewers


@pytest.mark.parametrize("frame", [Frame.LOWEST, Frame.UNCERTAIN, Frame.RANDOM, Frame.STRATIFIED])
def test_a_second_verdict_is_asked_of_another_person_and_changes_no_pair(
    frame, dataset, p_d, pairs, curator, other
) -> None:
    queue = Queue(p_d, frame=frame, twice=True)
    pair = shown(queue, curator)[0]
    first = decide(pair, curator, "reject", queue=queue)
    counts = inclusion_counts(dataset)

    assert pair not in shown(queue, curator)
    assert pair in shown(queue, other)
    second = decide(pair, other, "edit", text="A dog is running.", queue=queue)

    assert (first.second, second.second, second.binding) == (False, True, False)
    assert (status(pair), second.replacement) == ("rejected", None)
    assert inclusion_counts(dataset) == counts
    assert [row.second for row in judged_sentences(p_d)] == [False, True]
    assert pair not in shown(queue, UserFactory())
    progress = queue_progress(queue)
    assert (progress.total, progress.decided) == (80, 2)
    with pytest.raises(DecidedError, match="already has the required decisions"):
        decide(pair, UserFactory(), queue=queue)


def test_kept_only_ignores_a_second_opinion(dataset, p_d, pairs, curator, other) -> None:
    queue = Queue(p_d, twice=True)
    counts = inclusion_counts(dataset)
    first = decide(pairs[0], curator, queue=queue)
    decide(pairs[0], other, queue=queue)

    assert inclusion_counts(dataset)["kept only"] == counts["kept only"] + 1
    undo(first)
    assert inclusion_counts(dataset) == counts


def test_a_person_judges_a_sentence_once_also_after_the_first_verdict_was_undone(
    p_d, pairs, curator, other
) -> None:
    queue = Queue(p_d, twice=True)
    first = decide(pairs[0], curator, queue=queue)
    with pytest.raises(DecidedError, match="You have already reviewed"):
        decide(pairs[0], curator, queue=queue)
    decide(pairs[0], other, queue=queue)
    undo(first)

    for choice in (queue, Queue(p_d)):
        assert pairs[0] not in shown(choice, other)
        with pytest.raises(DecidedError, match="You have already reviewed"):
            decide(pairs[0], other, queue=choice)
    assert decide(pairs[0], curator, queue=queue).second is False


def test_in_a_queue_for_two_a_person_sees_only_their_own_decisions(p_d, pairs, curator, other) -> None:
    decide(pairs[0], curator, queue=Queue(p_d))

    assert last_decisions(Queue(p_d, twice=True), other) == []
    assert len(last_decisions(Queue(p_d), other)) == 1


def test_the_database_refuses_a_third_opinion(p_d, pairs, curator, other) -> None:
    queue = Queue(p_d, twice=True)
    decide(pairs[0], curator, queue=queue)
    second = decide(pairs[0], other, queue=queue)

    second.pk, second.client_id = None, uuid4()
    with pytest.raises(IntegrityError):
        second.save()


# Disagreements


@pytest.fixture
def disputed(dataset, p_d, pairs, curator, other):
    """The curator edited the first sentence, which is in two pairs; the other rejected it."""
    GeneratedPairFactory(dataset=dataset, b=pairs[0].b, p_d=0.0, intended=0.0)
    queue = Queue(p_d, twice=True)
    first = decide(pairs[0], curator, "edit", text="A dog is running.", queue=queue)
    return first, decide(pairs[0], other, "reject", queue=queue)


def facts(dataset) -> list[tuple]:
    return list(Pair.objects.filter(dataset=dataset).order_by("pk").values_list("pk", "status"))


def resolve(decision, follow, by) -> ReviewDecision:
    return disagreement_resolve(decision=decision, follow=follow, client_id=uuid4(), by=by, at=AT)


def test_a_disagreement_is_listed_with_both_verdicts(dataset, p_d, pairs, disputed, curator, other) -> None:
    queue = Queue(p_d, twice=True)
    decide(pairs[1], curator, queue=queue)
    decide(pairs[1], other, queue=queue)

    (dispute,) = disagreements(dataset)

    assert dispute.verdicts == list(disputed)


def test_resolving_makes_one_verdict_valid_and_keeps_both(dataset, p_d, pairs, disputed, owner) -> None:
    first, second = disputed
    edited = first.replacement

    resolution = resolve(first, second, owner)

    shared = Pair.objects.get(b=pairs[0].b, pk__gt=pairs[-1].pk, origin="generated")
    assert [status(pair) for pair in (pairs[0], shared, edited)] == ["rejected", "rejected", "retired"]
    assert (resolution.verdict, resolution.reasons, resolution.settles) == ("reject", ["logic"], first)
    assert not decisions_disputed(dataset).exists()
    assert [(row.kept, row.second) for row in judged_sentences(p_d)] == [(False, False), (False, True)]
    assert decisions_of_pair(pairs[0]) == [resolution, first]
    assert queue_progress(Queue(p_d, twice=True)).decided == 2


def test_resolving_for_the_valid_verdict_leaves_the_pairs_as_they_are(dataset, disputed, owner) -> None:
    first, _second = disputed
    before = facts(dataset)

    resolution = resolve(first, first, owner)

    assert facts(dataset) == before
    assert resolution.replacement == first.replacement


def test_an_edit_of_the_second_reviewer_can_become_valid(dataset, p_d, pairs, curator, other, owner) -> None:
    queue = Queue(p_d, twice=True)
    first = decide(pairs[5], curator, queue=queue)
    second = decide(pairs[5], other, "edit", text="A dog is running.", queue=queue)

    resolution = resolve(first, second, owner)

    assert (status(pairs[5]), resolution.replacement.b.text) == ("retired", "A dog is running.")


def test_undoing_a_resolution_brings_the_disagreement_back(dataset, pairs, disputed, owner) -> None:
    first, second = disputed
    before = facts(dataset)
    resolution = resolve(first, second, owner)
    for verdict in disputed:
        verdict.refresh_from_db()
        with pytest.raises(UserError, match=r"is done\. Undo it first"):
            undo(verdict)

    undo(resolution)

    assert facts(dataset) == before
    assert list(decisions_disputed(dataset)) == [first]
    undo(second)
    undo(first)
    assert {status(pair) for pair in pairs} == {"active"}
    assert not decisions_disputed(dataset).exists()


def test_a_resolution_sent_twice_is_made_once_and_a_second_one_is_refused(dataset, disputed, owner) -> None:
    first, second = disputed
    sent = {"decision": first, "follow": second, "client_id": uuid4(), "by": owner, "at": AT}

    assert disagreement_resolve(**sent) == disagreement_resolve(**sent)

    with pytest.raises(UserError, match="decisions on this sentence agree now"):
        resolve(first, first, owner)


def test_a_verdict_on_another_sentence_resolves_nothing(p_d, pairs, disputed, curator, owner) -> None:
    elsewhere = decide(pairs[9], curator, queue=Queue(p_d))

    with pytest.raises(UserError, match="agree now"):
        resolve(disputed[0], elsewhere, owner)
