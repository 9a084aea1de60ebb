"""What statistics are given of the verdicts on the sentences of a p_D set."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from curation.models import ReviewDecision
from curation.review.judged import JudgedSentence, judged_sentences
from curation.review.queue import Queue
from curation.review.verdicts import review_decide, review_undo
from tests.factories import GeneratedPairFactory, UserFactory, run_score_set

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def decide(curator):
    def decide(pair, verdict="keep", **given) -> ReviewDecision:
        return review_decide(
            pair=pair, verdict=verdict, **{"client_id": uuid4(), "by": curator, "at": AT, **given}
        )

    return decide


def test_a_verdict_is_told_with_its_queue_and_p_d(dataset, p_d, decide, curator) -> None:
    pair = GeneratedPairFactory(dataset=dataset, p_d=0.25, b__text="A machine's dog.")

    decide(pair, "reject", reasons=["logic", "grammar"], queue=Queue(p_d, blind=True))

    assert judged_sentences(p_d) == [
        JudgedSentence(
            sentence=pair.b_id,
            pair=pair.pk,
            text="A machine's dog.",
            p_d=0.25,
            kept=False,
            blind=True,
            frame="lowest",
            stratum=None,
            reviewer=curator.pk,
            human=False,
            reasons=("grammar", "logic"),
            second=False,
            decided_at=AT,
        )
    ]


def test_companions_undone_verdicts_and_other_sets_are_left_out(dataset, p_d, decide, curator) -> None:
    kept, undone, unscored = (GeneratedPairFactory(dataset=dataset, p_d=value) for value in (0.1, 0.2, None))
    GeneratedPairFactory(dataset=dataset, b=kept.b, p_d=0.1)
    later = AT + timedelta(seconds=1)
    decide(unscored)
    review_undo(decision=decide(undone), by=curator, at=later)
    decide(kept, at=later)

    assert [(row.sentence, row.kept, row.frame) for row in judged_sentences(p_d)] == [
        (kept.b_id, True, "chosen")
    ]


def test_a_sentence_that_another_set_s_queue_showed_counts_as_chosen(dataset, p_d, decide) -> None:
    other = run_score_set(dataset, "realism", "another p_D")
    pair = GeneratedPairFactory(dataset=dataset, p_d=0.1)
    pair.scores.create(score_set=other, value=0.7)

    decide(pair, queue=Queue(p_d))

    assert [(row.frame, row.p_d) for row in judged_sentences(other)] == [("chosen", 0.7)]
    assert [(row.frame, row.p_d) for row in judged_sentences(p_d)] == [("lowest", 0.1)]


def test_it_is_one_query_for_few_and_for_many(dataset, p_d, decide, django_assert_num_queries) -> None:
    for number in range(5):
        decide(GeneratedPairFactory(dataset=dataset, p_d=number / 10), by=UserFactory())

    with django_assert_num_queries(1):
        assert len(judged_sentences(p_d)) == 5
