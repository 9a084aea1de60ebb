"""Pairs that a machine wrote, into a dataset."""

import pytest

from curation.exchange.generated import GeneratedPairs, GeneratedRow, generated_pairs_add
from curation.foundation.errors import UserError
from curation.models import Pair, ScoreSet, Sentence
from curation.pairs.text import sentence_key
from tests.factories import DatasetFactory, PairFactory, SentenceFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def sources(dataset) -> list[Sentence]:
    texts = ["A dog runs.", "The cat sleeps."]
    return [SentenceFactory(dataset=dataset, text=text, key=sentence_key(text)) for text in texts]


def added(dataset, rows: list[GeneratedRow], *, run: int = 7) -> GeneratedPairs:
    return generated_pairs_add(
        dataset=dataset, run_ref=run, rows=rows, split="train", method="DINO", parameters={"model": "run:6"}
    )


def test_a_generated_pair_says_where_it_comes_from(dataset, sources) -> None:
    outcome = added(dataset, [GeneratedRow(sources[0].pk, "A hound  runs.", 0.9)])

    pair = Pair.objects.select_related("a", "b").get()
    assert (pair.a, pair.b.text, pair.b.origin, pair.b.run_ref) == (sources[0], "A hound runs.", "machine", 7)
    assert (pair.origin, pair.run_ref, pair.source, pair.split) == ("generated", 7, "run 7", "train")
    assert (pair.external_id, pair.status) == ("g7-1", "active")
    assert outcome == GeneratedPairs(outcome.score_set, pairs=1, human=0)


def test_the_intended_similarities_are_a_score_set(dataset, sources) -> None:
    rows = [GeneratedRow(sources[0].pk, "Tea.", 0.1), GeneratedRow(sources[1].pk, "A cat dozes.", 0.9)]

    score_set = added(dataset, rows).score_set

    assert (score_set.name, score_set.kind, score_set.run_ref) == ("run 7: target", "target", 7)
    assert (score_set.low, score_set.high, score_set.parameters) == (0, 1, {"model": "run:6"})
    assert [score.value for score in score_set.scores.order_by("pair")] == [0.1, 0.9]


def test_what_a_person_wrote_stays_human_when_a_machine_writes_it_again(dataset, sources) -> None:
    outcome = added(dataset, [GeneratedRow(sources[0].pk, "The cat  sleeps.", 0.1)])

    sources[1].refresh_from_db()
    assert (sources[1].origin, sources[1].run_ref) == ("human", None)
    assert Pair.objects.get().b == sources[1]
    assert outcome.human == 1


def test_a_sentence_written_twice_is_stored_once(dataset, sources) -> None:
    added(dataset, [GeneratedRow(source.pk, "Tea is hot.", 0.1) for source in sources])

    assert Sentence.objects.filter(origin="machine").count() == 1
    assert Pair.objects.count() == 2


def test_two_runs_add_their_own(dataset, sources) -> None:
    row = GeneratedRow(sources[0].pk, "A hound runs.", 0.9)
    added(dataset, [row], run=7)

    added(dataset, [row], run=8)

    assert sorted(Pair.objects.values_list("external_id", flat=True)) == ["g7-1", "g8-1"]
    assert Sentence.objects.get(origin="machine").run_ref == 7


def test_a_source_of_another_dataset_stores_nothing(dataset, sources) -> None:
    stranger = SentenceFactory(dataset=DatasetFactory())
    rows = [GeneratedRow(sources[0].pk, "A hound runs.", 0.9), GeneratedRow(stranger.pk, "Tea.", 0.1)]

    with pytest.raises(UserError, match="1 of the source sentences do not belong"):
        added(dataset, rows)

    assert not Pair.objects.exists()
    assert not ScoreSet.objects.exists()


def test_the_number_of_queries_does_not_grow_with_the_rows(
    dataset, sources, django_assert_max_num_queries
) -> None:
    PairFactory(dataset=dataset)
    rows = [GeneratedRow(sources[0].pk, f"Sentence number {number}.", 0.5) for number in range(300)]

    with django_assert_max_num_queries(25):
        added(dataset, rows)
