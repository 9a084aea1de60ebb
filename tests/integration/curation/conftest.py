"""A dataset with as many pairs as a test wants, and a client per person."""

from collections.abc import Callable

import pytest
from django.test import Client

from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence, User
from tests import factories
from tests.factories import ScoreSetFactory, run_score_set

Fill = Callable[..., ScoreSet]


@pytest.fixture
def fill(dataset) -> Fill:
    """`fill(500)` adds 500 pairs of three sources and two splits, scored 0, 0.1, … in the set called gold."""

    def add(count: int, *, into: Dataset = dataset) -> ScoreSet:
        first = Pair.objects.filter(dataset=into).count()
        numbers = range(first, first + count)
        texts = [f"Sentence {side} of pair {number}." for number in numbers for side in "ab"]
        sentences = Sentence.objects.bulk_create(
            Sentence(dataset=into, text=text, key=text) for text in texts
        )
        pairs = Pair.objects.bulk_create(
            Pair(
                dataset=into,
                external_id=f"pair-{number}",
                a=sentences[2 * place],
                b=sentences[2 * place + 1],
                source=("news", "captions", "forums")[number % 3],
                split=("train", "test")[number % 2],
            )
            for place, number in enumerate(numbers)
        )
        gold = into.score_sets.filter(name="gold").first() or ScoreSetFactory(dataset=into, name="gold")
        PairScore.objects.bulk_create(
            PairScore(score_set=gold, pair=pair, value=number % 51 / 10)
            for number, pair in zip(numbers, pairs, strict=True)
        )
        return gold

    return add


@pytest.fixture
def p_d(dataset):
    return run_score_set(dataset, "realism", "p_D")


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    return factories.client_of
