"""Pairs that are harvested from a corpus: of every way, no sentence in two of them, and so in two splits."""

import itertools
from collections import Counter

import numpy as np
import pytest

from curation.files.documents import Document
from curation.files.progress import silent
from curation.pairs.text import near_copy_key
from mlworkers.plans.fields import PlanError
from mlworkers.science.contexts.bigram_index import BigramIndex, index_write
from mlworkers.science.contexts.corpus import Corpus, corpus_write
from mlworkers.science.contexts.harvest_plan import DEV, TEST, TRAIN, HarvestPlan
from mlworkers.science.contexts.harvesting import Harvest, Harvested, Way, counted

WHO, DOES, WHERE = (
    ("dog", "cat", "bird", "child", "fox"),
    ("runs", "sits", "sings", "sleeps"),
    ("tree", "wall", "river"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Corpus, BigramIndex]:
    """300 sentences of five words, each in three versions that are near copies of one another at most."""
    texts = [
        f"The {who} {does} near {where} {number}."
        for number in range(5)
        for who in WHO
        for does in DOES
        for where in WHERE
    ]
    order = np.random.default_rng(3).permutation(len(texts))
    shuffled = [texts[place] for place in order]
    folder = tmp_path_factory.mktemp("corpus")
    corpus_write(
        [Document(f"d{start}", [shuffled[start : start + 20]], []) for start in range(0, 300, 20)], folder
    )
    index_write(Corpus(folder), folder)
    return Corpus(folder), BigramIndex(folder)


def plan(**more: object) -> HarvestPlan:
    return HarvestPlan(**{"dataset": "d", "corpus": 1, "pairs": 90, "shortest": 3, **more})  # type: ignore[arg-type]


def harvested(
    made: tuple[Corpus, BigramIndex], known: list[int] | None = None, **more: object
) -> list[Harvested]:
    return Harvest(*made, plan(**more), known or []).pairs(silent)


def test_a_third_of_the_pairs_is_of_each_way(made: tuple[Corpus, BigramIndex]) -> None:
    found = harvested(made)

    assert Counter(each.way for each in found) == dict.fromkeys(Way, 30)
    texts = [made[0].text(place) for place in range(len(made[0]))]
    follows = {(one, other) for one, other in itertools.pairwise(texts)}
    for each in found:
        if each.way is Way.NEIGHBOURS:
            assert (each.first, each.second) in follows
        if each.way is Way.WORDING:
            common = [set(itertools.pairwise(words)) for words in (each.first.split(), each.second.split())]
            assert common[0] & common[1]


def test_no_sentence_is_in_two_pairs_and_so_in_two_splits(made: tuple[Corpus, BigramIndex]) -> None:
    found = harvested(made, dev_share=0.1, test_share=0.2)

    keys = [near_copy_key(text) for each in found for text in (each.first, each.second)]
    assert len(set(keys)) == len(keys)
    assert counted(found)[1] == {TRAIN: 63, DEV: 9, TEST: 18}
    assert {each.way for each in found if each.split == TEST} == set(Way)  # drawn over all of them


def test_a_hundredth_of_the_pairs_is_for_dev_and_another_for_test_by_default(
    made: tuple[Corpus, BigramIndex],
) -> None:
    assert counted(harvested(made, pairs=100))[1] == {TRAIN: 98, DEV: 1, TEST: 1}


def test_near_copies_of_the_dataset_s_sentences_are_not_used(made: tuple[Corpus, BigramIndex]) -> None:
    first = harvested(made)
    known = [int(near_copy_key(f"{each.first.upper()}!"), 16) for each in first]

    again = harvested(made, known)

    used = {near_copy_key(text) for each in again for text in (each.first, each.second)}
    assert not used & {near_copy_key(each.first) for each in first}


def test_a_small_corpus_gives_what_it_has_and_the_same_seed_the_same_pairs(
    made: tuple[Corpus, BigramIndex],
) -> None:
    found = harvested(made, pairs=3000)

    assert 100 < len(found) <= 150
    assert found == harvested(made, pairs=3000)
    assert found != harvested(made, pairs=3000, seed=7)


def test_sentences_of_another_length_are_left_out(made: tuple[Corpus, BigramIndex]) -> None:
    assert harvested(made, shortest=8) == []
    with pytest.raises(PlanError, match="no sentence fits"):
        plan(shortest=9, longest=8)
