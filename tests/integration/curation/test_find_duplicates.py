"""`semblance find_duplicates`."""

import csv
import json

import pytest
from django.core.management import CommandError, call_command

from curation.datasets.duplicates import duplicate_pairs, duplicates_found
from curation.models import Dataset, Pair, PairScore
from tests.factories import DatasetFactory, PairFactory, ScoreSetFactory, SentenceFactory

pytestmark = pytest.mark.django_db


def pair_add(dataset: Dataset, first: str, second: str, **about: str) -> Pair:
    a, b = (
        dataset.sentences.filter(text=text).first() or SentenceFactory(dataset=dataset, text=text)
        for text in (first, second)
    )
    return PairFactory(dataset=dataset, a=a, b=b, **about)


@pytest.fixture
def dataset() -> Dataset:
    dataset = DatasetFactory(slug="mine")
    pair_add(dataset, "a dog runs", "it rains", external_id="one", split="train")
    pair_add(dataset, "it rains", "a dog runs", external_id="two", split="test")
    pair_add(dataset, "a bird sings", "the sun sets", external_id="three")
    pair_add(dataset, "a bird sings", "the sun sets", external_id="four", status=Pair.Status.RETIRED)
    return dataset


@pytest.fixture
def other() -> Dataset:
    other = DatasetFactory(slug="theirs")
    pair_add(other, "A bird sings.", "The sun sets.", external_id="five")
    pair_add(other, "a cat sleeps", "a mat lies here", external_id="six")
    pair_add(other, "a cat sleeps", "a mat lies here", external_id="seven")
    return other


def test_it_counts_groups_of_active_pairs_and_writes_them_all(dataset, tmp_path, capsys) -> None:
    path = tmp_path / "found.csv"

    call_command("find_duplicates", "mine", "--out", str(path), "--json")

    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["groups"] == {"exact": 0, "mirrored": 1, "near": 0}
    assert figures["pairs"] == 2
    rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    assert [(row["group"], row["likeness"], row["id"], row["split"]) for row in rows] == [
        ("1", "mirrored", "one", "train"), ("1", "mirrored", "two", "test")
    ]  # fmt: skip


def test_across_datasets_each_group_has_a_pair_of_the_dataset_that_was_asked(dataset, other, capsys) -> None:
    call_command("find_duplicates", "mine", "--against", "theirs")

    told = capsys.readouterr().out
    assert "0 groups of exact, 1 of mirrored and 1 of near duplicates." in told
    found = duplicates_found(dataset, against=[other])
    assert [[pair.id for pair in duplicate_pairs(group.numbers)] for group in found] == [
        ["one", "two"],
        ["three", "five"],
    ]


def test_equal_pairs_with_different_scores_are_a_section_of_their_own(dataset, tmp_path, capsys) -> None:
    path = tmp_path / "found.csv"
    three, again = dataset.pairs.get(external_id="three"), pair_add(dataset, "a bird sings", "the sun sets")
    alike, near = (
        pair_add(dataset, "a bird sings", "the sun sets"),
        pair_add(dataset, "A bird sings!", "the sun sets"),
    )
    by_people = ScoreSetFactory(dataset=dataset, name="people", kind="human")
    by_machine = ScoreSetFactory(dataset=dataset, name="machine", kind="model")
    values = {
        "one": 1,
        "two": 4,
        "three": 2,
        "four": 5,
        again.external_id: 3,
        alike.external_id: 2,
        near.external_id: 0,
    }
    for pair in dataset.pairs.all():
        PairScore.objects.create(score_set=by_people, pair=pair, value=values[pair.external_id])
        PairScore.objects.create(score_set=by_machine, pair=pair, value=pair.pk)

    call_command("find_duplicates", "mine", "--out", str(path), "--json")

    *told, answered = capsys.readouterr().out.splitlines()
    one, two = (dataset.pairs.get(external_id=name) for name in ("one", "two"))
    assert json.loads(answered)["scores_differ"] == 2
    # The larger difference first; the retired pair, the near one and the model's scores contradict nothing.
    section = told[told.index("2 groups of equal pairs with different scores:") :]
    assert section[1] == f"people: 1 (pair {one.pk}, one), 4 (pair {two.pk}, two)"
    assert section[2].startswith(f"people: 2 (pair {three.pk}, three), 3 (pair {again.pk}, ")
    rows = csv.DictReader(path.read_text("utf-8").splitlines())
    marked = {int(row["pair"]): row["scores_differ"] for row in rows}
    differing = {one.pk, two.pk, three.pk, again.pk, alike.pk}
    assert {number for number, mark in marked.items() if mark == "1"} == differing
    assert marked[near.pk] == "0"


def test_equal_pairs_with_equal_scores_are_no_section(dataset, capsys) -> None:
    by_people = ScoreSetFactory(dataset=dataset)
    for pair in dataset.pairs.all():
        PairScore.objects.create(score_set=by_people, pair=pair, value=1)

    call_command("find_duplicates", "mine")

    assert "different scores" not in capsys.readouterr().out


def test_a_dataset_without_duplicates_says_so(capsys) -> None:
    DatasetFactory(slug="empty")

    call_command("find_duplicates", "empty")

    assert "No pair is there more than once." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nobody",), "There is no dataset “nobody”. Check its short name."),
        (("mine", "--against", "nobody"), "There is no dataset “nobody”"),
        (("mine", "--threshold", "1.5"), "a Jaccard index to look for is above 0 and at most 1, not 1.5"),
        (("mine", "--threshold", "0"), "a Jaccard index to look for is above 0 and at most 1, not 0"),
    ],
)
def test_what_cannot_be_looked_for_is_one_sentence(
    dataset, arguments: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence):
        call_command("find_duplicates", *arguments)
