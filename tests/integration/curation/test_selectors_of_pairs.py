"""What pages read of datasets, pairs and scores."""

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext

from curation.datasets import pairs_table, selectors
from curation.datasets.pairs_table import PairChoices, PairsFound, pair_neighbours, pairs_page
from curation.datasets.selectors import ORDERS, PairFilter
from curation.models import Pair, PairScore, ScoreSet
from tests.factories import DatasetFactory, PairFactory, ScoreSetFactory, SentenceFactory


@pytest.fixture
def gold(dataset) -> ScoreSet:
    return ScoreSetFactory(dataset=dataset, name="gold")


@pytest.fixture
def pairs(dataset, gold) -> list[Pair]:
    """Six pairs, of which the fourth and the sixth have no score, and two have the same."""
    values = [3.0, 1.0, 3.0, None, 5.0, None]
    made = [
        PairFactory(dataset=dataset, external_id=name, source=name[0])
        for name in ("b2", "a1", "c", "b1", "a2", "d")
    ]
    for pair, value in zip(made, values, strict=True):
        if value is not None:
            PairScore.objects.create(score_set=gold, pair=pair, value=value)
    return made


def names(pairs) -> str:
    return " ".join(pair.external_id for pair in pairs)


def found(dataset, filter: PairFilter, order: str = "pk") -> list[Pair]:
    return PairsFound(dataset, filter, order)[:100]


# Finding


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("pk", "b2 a1 c b1 a2 d"),
        ("-pk", "d a2 b1 c a1 b2"),
        ("external_id", "a1 a2 b1 b2 c d"),
        ("-external_id", "d c b2 b1 a2 a1"),
        ("source", "a1 a2 b2 b1 c d"),
        ("-source", "d c b1 b2 a2 a1"),
        ("score", "a1 b2 c a2 b1 d"),
        ("-score", "a2 c b2 a1 d b1"),
    ],
)
def test_pairs_come_in_order_and_unscored_ones_last(dataset, pairs, gold, order: str, expected: str) -> None:
    assert names(found(dataset, PairFilter(score_set=gold.pk), order)) == expected


def test_pairs_come_with_their_sentences_and_scores(dataset, pairs, gold) -> None:
    pairs_found = found(dataset, PairFilter(score_set=gold.pk))

    with CaptureQueriesContext(connection) as caught:
        told = [(pair.a.text, pair.b.text, pair.value) for pair in pairs_found]
    assert told[0] == (pairs[0].a.text, pairs[0].b.text, 3.0)
    assert [pair.value for pair in pairs_found] == [3.0, 1.0, 3.0, None, 5.0, None]
    assert len(caught) == 0


def test_without_a_score_set_no_pair_has_a_score(dataset, pairs) -> None:
    assert {pair.value for pair in found(dataset, PairFilter(), "-score")} == {None}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"source": "a"}, "a1 a2"),
        ({"search": "SHARED"}, "b2 c"),
        ({"search": "b1"}, "b1"),
        ({"search": "shared", "source": "c"}, "c"),
        ({"low": 3.0}, "b2 c a2"),
        ({"low": 1.0, "high": 3.0}, "b2 a1 c"),
        ({"status": "rejected"}, "d"),
        ({"split": "test"}, "a1"),
        ({"subset": "s"}, "a1"),
        ({"origin": "generated"}, "c"),
        ({"source": "zz"}, ""),
    ],
)
def test_a_filter_finds_its_pairs(dataset, pairs, gold, asked, expected: str) -> None:
    shared = SentenceFactory(dataset=dataset, text="A shared sentence.")
    Pair.objects.filter(external_id="b2").update(a=shared)
    Pair.objects.filter(external_id="c").update(b=shared, origin="generated")
    Pair.objects.filter(external_id="a1").update(split="test", subset="s")
    Pair.objects.filter(external_id="d").update(status="rejected")
    PairFactory(source="a")

    assert names(found(dataset, PairFilter(score_set=gold.pk, **asked))) == expected


def test_scores_of_another_set_do_not_count(dataset, pairs) -> None:
    other = ScoreSetFactory(dataset=dataset, name="other")

    assert names(found(dataset, PairFilter(score_set=other.pk, low=0))) == ""


def test_a_filter_tells_only_what_it_asks_for() -> None:
    assert PairFilter(status="active", low=0.0).as_json() == {"status": "active", "low": 0.0}


# Pages


@pytest.mark.parametrize("order", ORDERS)
def test_pages_together_are_all_pairs_in_order(dataset, pairs, gold, order: str) -> None:
    chosen = PairFilter(score_set=gold.pk)

    pages = [pairs_page(dataset, chosen, order=order, number=number, size=4) for number in (1, 2)]

    assert names([*pages[0], *pages[1]]) == names(found(dataset, chosen, order))
    assert [
        (page.start_index(), page.end_index(), page.paginator.count, page.paginator.num_pages)
        for page in pages
    ] == [(1, 4, 6, 2), (5, 6, 6, 2)]


def test_a_page_beyond_the_last_is_the_last(dataset, pairs) -> None:
    page = pairs_page(dataset, PairFilter(), number=99, size=4)

    assert (page.number, names(page)) == (2, "a2 d")


def test_an_empty_page_says_so(dataset) -> None:
    page = pairs_page(dataset, PairFilter())

    assert (list(page), page.paginator.count, page.paginator.num_pages) == ([], 0, 1)


@pytest.mark.parametrize("order", ORDERS)
def test_a_page_takes_three_queries_however_long_it_is(dataset, pairs, gold, order: str) -> None:
    with CaptureQueriesContext(connection) as caught:
        page = pairs_page(dataset, PairFilter(score_set=gold.pk, low=0), order=order)
        [(pair.a.text, pair.b.text, pair.value) for pair in page]

    assert len(caught) == 3


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("asked", [{}, {"low": 2.0}, {"source": "a"}])
def test_those_after_a_pair_are_the_rest_of_the_list(dataset, pairs, gold, order: str, asked) -> None:
    chosen = PairFilter(score_set=gold.pk, **asked)
    listed = found(dataset, chosen, order)

    for number, pair in enumerate(listed, 1):
        later = PairsFound(dataset, chosen, order).after(pair)
        assert later[:2] == listed[number : number + 2]
        assert later[1:3] == listed[number + 1 : number + 3]


def test_after_a_pair_without_a_score_there_is_none_with_one(dataset, pairs, gold) -> None:
    chosen = PairFilter(score_set=gold.pk, low=2.0)

    assert PairsFound(dataset, chosen, "-score").after(pairs[3])[:9] == []


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL reads a small table without its index")
@pytest.mark.parametrize("order", ["score", "-score"])
def test_a_list_by_score_goes_on_in_the_index_behind_a_pair(dataset, pairs, gold, order: str) -> None:
    chosen = PairFilter(score_set=gold.pk)

    numbers = PairsFound(dataset, chosen, order).after(pairs[1])._rows[0].values_list("pk", flat=True)

    assert "score_by_value_and_pair" in numbers.explain()
    assert "TEMP B-TREE" not in numbers.explain()


# Neighbours


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("asked", [{}, {"low": 2.0}, {"source": "a"}])
def test_neighbours_are_those_of_the_list(dataset, pairs, gold, order: str, asked) -> None:
    chosen = PairFilter(score_set=gold.pk, **asked)
    listed = found(dataset, chosen, order)

    for before, pair, after in zip([None, *listed], listed, [*listed[1:], None], strict=False):
        assert pair_neighbours(pair, chosen, order) == (before, after)


def test_neighbours_by_score_without_a_score_set_go_by_number(dataset, pairs) -> None:
    assert pair_neighbours(pairs[2], PairFilter(), "score") == (pairs[1], pairs[3])


# DatasetFacts


def test_facts_count_what_a_dataset_holds(dataset, pairs, gold) -> None:
    Pair.objects.filter(external_id="c").update(origin="generated", status="rejected")
    told = {"reliability": {"spearman_mean": 0.81, "judgements": 240}}
    people = ScoreSetFactory(dataset=dataset, name="people", kind="human", parameters=told)
    more = ScoreSetFactory(dataset=dataset, name="more people", kind="human", parameters={})
    for score_set in (people, more):
        PairScore.objects.create(score_set=score_set, pair=pairs[0], value=1)
    PairFactory()

    facts = selectors.dataset_facts(dataset)

    assert (facts.pairs, facts.active, facts.judged, facts.generated) == (6, 5, 1, 1)
    assert (facts.rejected, facts.score_sets) == (1, 3)
    assert (facts.shr, facts.shr_n) == (0.81, 240)


def test_facts_of_an_empty_dataset_are_nothing(dataset) -> None:
    assert selectors.dataset_facts(dataset) == selectors.DatasetFacts()


def test_facts_of_many_datasets_take_as_many_queries_as_of_one(dataset, pairs) -> None:
    others = [PairFactory().dataset for _ in range(3)]

    with CaptureQueriesContext(connection) as caught:
        facts = selectors.facts_of([dataset, *others])

    assert [facts[found.pk].pairs for found in (dataset, *others)] == [6, 1, 1, 1]
    assert len(caught) == 3


def test_at_most_so_many_choices_are_offered_the_first_by_name(dataset, pairs) -> None:
    assert PairChoices(dataset, most=2).sources == ["a", "b"]
    assert PairChoices(dataset, most=2).splits == []


def test_pairs_are_counted_up_to_a_bound_and_pages_end_there(dataset, pairs, monkeypatch) -> None:
    monkeypatch.setattr(pairs_table, "COUNTED_MOST", 4)

    page = pairs_page(dataset, PairFilter(), number=9, size=3)

    assert (page.paginator.count, page.paginator.are_more, page.number) == (4, True, 2)
    assert names(page) == "b1"
    few = pairs_page(dataset, PairFilter(source="a"), size=3)
    assert (few.paginator.count, few.paginator.are_more) == (2, False)


@pytest.mark.parametrize(
    ("filter", "most"), [({"low": 1.0}, 10_000), ({"search": "word"}, 1_000), ({}, 100_000)]
)
def test_what_takes_longer_to_find_is_counted_less_far(dataset, filter, most: int, monkeypatch) -> None:
    counted = []
    monkeypatch.setattr(QuerySet, "count", lambda rows: counted.append(rows.query.high_mark) or 0)

    assert pairs_page(dataset, PairFilter(score_set=1, **filter)).paginator.count == 0
    assert counted == [most + 1]


@pytest.mark.parametrize("few", [0, 20_000])
def test_words_are_found_in_either_sentence_and_ids_whole_however_many_hold_them(
    dataset, pairs, monkeypatch, few: int
) -> None:
    monkeypatch.setattr(selectors, "FEW_SENTENCES", few)
    shared = SentenceFactory(dataset=dataset, text="A Shared sentence about b1.")
    Pair.objects.filter(external_id="b2").update(a=shared)
    Pair.objects.filter(external_id="c").update(b=shared)
    other = PairFactory(a__text="Shared elsewhere.")

    assert names(pairs_page(dataset, PairFilter(search="shARed"))) == "b2 c"
    assert names(pairs_page(dataset, PairFilter(search="b1"))) == "b2 c b1"
    assert names(pairs_page(dataset, PairFilter(search="elsewhere"))) == ""
    assert names(pairs_page(other.dataset, PairFilter(search="elsewhere"))) == other.external_id


def test_the_neighbours_of_a_pair_that_the_filter_does_not_find_are_none_of_its_own_kind(
    dataset, pairs, gold
) -> None:
    chosen = PairFilter(score_set=gold.pk, low=2.0)

    assert pair_neighbours(pairs[3], chosen, "score") == (pairs[4], None)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no index of words")
def test_on_postgresql_words_have_an_index(db) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'sentence_by_words'")
        [(definition,)] = cursor.fetchall()
    assert "gin_trgm_ops" in definition


def test_choices_are_what_occurs(dataset, pairs) -> None:
    Pair.objects.filter(external_id="d").update(split="train", subset="s", source="")

    choices = PairChoices(dataset)

    assert (choices.sources, choices.subsets, choices.splits) == (["a", "b", "c"], ["s"], ["train"])


def test_score_sets_are_described(dataset, pairs, gold) -> None:
    ScoreSetFactory(dataset=dataset, name="empty")

    with CaptureQueriesContext(connection) as caught:
        empty, described = selectors.score_sets_of(dataset)

    assert (described.score_set, described.count, described.mean) == (gold, 4, 3.0)
    assert (described.smallest, described.largest) == (1.0, 5.0)
    assert described.sd == pytest.approx(2**0.5)
    assert (empty.count, empty.mean) == (0, None)
    assert len(caught) == 1


def test_a_histogram_counts_scores_by_source(dataset, pairs, gold) -> None:
    drawn = selectors.score_histogram(gold, bins=5)

    assert drawn.edges == (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    assert drawn.counts == {"a": (0, 1, 0, 0, 1), "b": (0, 0, 0, 1, 0), "c": (0, 0, 0, 1, 0)}


def test_a_score_on_an_edge_belongs_to_the_bin_above_it(dataset) -> None:
    tenths = ScoreSetFactory(dataset=dataset, low=0, high=1)
    for number in range(101):
        PairScore.objects.create(
            score_set=tenths, pair=PairFactory(dataset=dataset, source="x"), value=number / 100
        )

    drawn = selectors.score_histogram(tenths, bins=100)

    assert drawn.counts["x"] == (1,) * 99 + (2,)


def test_the_life_of_a_pair_holds_all_its_scores_and_its_twins(dataset, pairs, gold) -> None:
    first = pairs[0]
    people = ScoreSetFactory(dataset=dataset, name="people")
    PairScore.objects.create(score_set=people, pair=first, value=2.0)
    twins = [
        PairFactory(dataset=dataset, a=first.a, b=first.b),
        PairFactory(dataset=dataset, a=first.b, b=first.a),
    ]

    life = selectors.pair_life(first)

    assert [(score.score_set.name, score.value) for score in life.scores] == [("gold", 3.0), ("people", 2.0)]
    assert list(life.twins) == twins


def test_a_dataset_is_found_by_its_short_name(dataset) -> None:
    DatasetFactory()

    assert selectors.dataset_by_slug(dataset.slug) == dataset
    assert selectors.dataset_by_slug("none") is None
