"""`manage.py find_duplicates`."""

import csv
import json

import pytest
from django.core.management import CommandError, call_command

from curation.datasets.duplicates import duplicate_pairs, duplicates_found
from curation.models import Dataset, Pair
from tests.factories import DatasetFactory, PairFactory, SentenceFactory

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
