"""Training pairs of the STS benchmark that hold a sentence of dev or test."""

import csv
from pathlib import Path

import pytest

from curation.pairs.holding_out import HeldOut
from curation.pairs.text import sentence_key

pytestmark = pytest.mark.real_data

Pairs = list[tuple[str, str]]


def pairs_of(real_data: Path, split: str) -> Pairs:
    with (real_data / "stsb" / f"stsb-en-{split}.csv").open(newline="", encoding="utf-8") as file:
        return [(row[0], row[1]) for row in csv.reader(file)]


def left_out(train: Pairs, held_out: HeldOut) -> int:
    return sum(a in held_out or b in held_out for a, b in train)


def test_near_copies_of_dev_and_test_sentences_are_held_out_too(real_data) -> None:
    train, other = pairs_of(real_data, "train"), pairs_of(real_data, "dev") + pairs_of(real_data, "test")
    texts = [text for pair in other for text in pair]
    equal_but_for_case = HeldOut(
        frozenset(sentence_key(text.casefold()) for text in texts), lambda text: sentence_key(text.casefold())
    )

    assert left_out(train, equal_but_for_case) == 674
    assert left_out(train, HeldOut.of(texts)) == 678
