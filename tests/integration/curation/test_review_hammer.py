"""Four curators at once decide, edit, undo and fetch: every pair ends as its standing decision says."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.db import connection

from curation.errors import UserError
from curation.models import Pair, ReviewDecision, ScoreSet, User
from curation.review.queue import Queue
from curation.review.verdicts import review_decide, review_next, review_undo
from tests.factories import GeneratedPairFactory, UserFactory, run_score_set

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PEOPLE, STEPS = 4, 20
ACTIONS = ["keep", "reject", "edit", "undo", "undo", "next"]
STATUS = {"keep": "active", "reject": "rejected", "edit": "retired", None: "active"}


class Worker:
    def __init__(self, number: int, person: User, pairs: list[Pair], score_set: ScoreSet) -> None:
        self.rng, self.person, self.pairs = random.Random(number), person, pairs
        self.score_set = score_set
        self.done: Counter[str] = Counter()

    def run(self) -> Counter[str]:
        try:
            for _ in range(STEPS):
                action = self.rng.choice(ACTIONS)
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
    stands = ReviewDecision.objects.filter(undone_at=None)
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
