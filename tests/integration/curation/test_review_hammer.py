"""Four curators at once decide, edit, undo, fetch and resolve: every pair ends as its valid decision says."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models import QuerySet

from curation.foundation.errors import UserError
from curation.models import Dataset, Pair, ReviewDecision, ScoreSet, User
from curation.review.disagreements import decisions_disputed, disagreement_resolve
from curation.review.queue import Frame, Queue
from curation.review.verdicts import review_decide, review_next, review_undo
from tests.factories import GeneratedPairFactory, PairFactory, UserFactory, run_score_set

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PEOPLE, STEPS = 4, 20
ACTIONS = ["keep", "reject", "edit", "undo", "undo", "next"]
SAMPLER_ACTIONS = ["keep", "keep", "reject", "reject", "edit", "undo", "next", "resolve", "resolve"]
STATUS = {"keep": "active", "reject": "rejected", "edit": "retired", None: "active"}


class Worker:
    actions = ACTIONS

    def __init__(self, number: int, person: User, pairs: list[Pair], score_set: ScoreSet) -> None:
        self.rng, self.person, self.pairs = random.Random(number), person, pairs
        self.score_set = score_set
        self.done: Counter[str] = Counter()

    def run(self) -> Counter[str]:
        try:
            for _ in range(STEPS):
                action = self.rng.choice(self.actions)
                try:
                    self.act(action)
                    self.done[action] += 1
                except UserError:
                    self.done["refused"] += 1
        finally:
            connection.close()
        return self.done

    def act(self, action: str) -> None:
        if action == "next":
            review_next(queue=Queue(self.score_set), reviewer=self.person, at=AT)
        elif action == "undo":
            stands = list(ReviewDecision.objects.filter(undone_at=None))
            if stands:
                review_undo(decision=self.rng.choice(stands), by=self.person, at=AT)
        else:
            text = f"New text {self.rng.randrange(2)}."
            sent = {"reasons": ["logic"], "text": text, "client_id": uuid4(), "by": self.person, "at": AT}
            review_decide(pair=self.rng.choice(self.pairs), verdict=action, **sent)


@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_whatever_curators_do_at_once_pairs_follow_their_standing_decisions(dataset) -> None:
    pairs = [GeneratedPairFactory(dataset=dataset, p_d=number / 10, intended=0.5) for number in range(6)]
    # Half of the sentences stand in a second pair, so that verdicts on different pairs meet at one sentence.
    pairs += [GeneratedPairFactory(dataset=dataset, b=pair.b, p_d=0.0, intended=0.0) for pair in pairs[:3]]
    score_set = run_score_set(dataset, "realism", "p_D")
    workers = [Worker(number, UserFactory(), pairs, score_set) for number in range(PEOPLE)]

    with ThreadPoolExecutor(PEOPLE) as pool:
        done = sum(pool.map(Worker.run, workers), Counter())

    assert sum(done.values()) == PEOPLE * STEPS
    assert min(done[action] for action in ("keep", "reject", "edit", "undo")) > 0
    assert_pairs_follow(dataset, ReviewDecision.objects.filter(undone_at=None, binding=True))


def assert_pairs_follow(dataset: Dataset, stands: QuerySet[ReviewDecision]) -> None:
    """Every pair has the status that the one decision on it says, and edits have made the pairs that are active."""
    verdicts = dict(stands.values_list("pair", "verdict"))
    replacements = set(stands.exclude(replacement=None).values_list("replacement", flat=True))
    for pair in Pair.objects.filter(dataset=dataset):
        made_by_an_edit = "-edit-" in pair.external_id
        expected = (
            ("active" if pair.pk in replacements else "retired")
            if made_by_an_edit
            else STATUS[verdicts.get(pair.pk)]
        )
        assert pair.status == expected


class Sampler(Worker):
    """Judges a sample that asks two people, human sentences in it; sends some verdicts twice, and resolves.

    All begin with the last pair, so that it is judged, and by two, whatever order the threads run in.
    """

    actions = SAMPLER_ACTIONS

    def run(self) -> Counter[str]:
        self.queue = Queue(self.score_set, frame=Frame.RANDOM, blind=True, human=True, twice=True)
        with suppress(UserError):  # two have judged it already
            self.decide("keep", [self.pairs[-1]])
        return super().run()

    def act(self, action: str) -> None:
        if action == "resolve":
            disputed = list(decisions_disputed(self.score_set.dataset))
            if disputed:
                decision = self.rng.choice(disputed)
                follow = self.rng.choice(list(ReviewDecision.objects.filter(sentence=decision.sentence_id)))
                sent = {"client_id": uuid4(), "by": self.person, "at": AT}
                disagreement_resolve(decision=decision, follow=follow, **sent)
        elif action in ("keep", "reject", "edit") and self.rng.random() < 0.8:
            # As two tabs do that show the same sentence, or a click that is sent twice.
            self.decide(action, self.rng.choices(self.pairs, k=self.rng.randrange(1, 3)))
        else:
            super().act(action)

    def decide(self, verdict: str, pairs: list[Pair]) -> None:
        text = f"New text {self.rng.randrange(2)}."
        sent = {"reasons": ["logic"], "text": text, "client_id": uuid4(), "by": self.person, "at": AT}
        for pair in pairs:
            review_decide(pair=pair, verdict=verdict, queue=self.queue, **sent)


@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_opinions_resolutions_and_undos_at_once_leave_every_sentence_with_its_two_verdicts(dataset) -> None:
    pairs = [GeneratedPairFactory(dataset=dataset, p_d=number / 20, intended=0.5) for number in range(9)]
    pairs.append(GeneratedPairFactory(dataset=dataset, b=pairs[0].b, p_d=0.0, intended=0.0))
    human, score_set = PairFactory(dataset=dataset), run_score_set(dataset, "realism", "p_D")
    human.b.scores.create(score_set=score_set, value=0.9)
    crowd = [UserFactory() for _ in range(PEOPLE)]
    workers = [
        Sampler(number, person, [*pairs[:4], pairs[-1], human], score_set)
        for number, person in enumerate(crowd)
    ]

    with ThreadPoolExecutor(PEOPLE) as pool:
        done = sum(pool.map(Sampler.run, workers), Counter())

    assert done["resolve"] > 0
    valid = ReviewDecision.objects.filter(undone_at=None)
    assert_pairs_follow(dataset, valid.filter(binding=True))
    for sentence in {pair.b_id for pair in (*pairs, human)}:
        judged = valid.filter(sentence=sentence, alongside=None, settles=None, frame="random")
        people = list(judged.values_list("reviewer", flat=True))
        assert len(people) == len(set(people)) <= 2
    assert ReviewDecision.objects.filter(second=True).exists()
    assert ReviewDecision.objects.filter(pair=human).exists()
    assert not valid.filter(pair=human, binding=True).exists()
