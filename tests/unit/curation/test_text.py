"""What makes two sentences the same sentence."""

import hashlib
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curation.files.parsing import FACT_MAX_CHARACTERS
from curation.models import Pair, Sentence
from curation.pairs.text import (
    SENTENCE_MAX_CHARACTERS,
    made_external_id,
    normalise,
    pair_key,
    printable,
    sentence_key,
)

texts = st.text(st.characters(exclude_categories=["Cs"]))
keys = st.integers(0, 50).map(lambda number: sentence_key(str(number)))


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  Rome \t fell.\r\n", "Rome fell."),
        ("Rome\u00a0fell\u2003in\u2028476.", "Rome fell in 476."),
        ("cafe\u0301", "caf\u00e9"),
        ("e\x01\u0301", "\u00e9"),
        ("a\x00b\x7fc\x9bd", "abcd"),
        ("one\x0btwo\x1cthree\x85four", "one two three four"),
        ("👩\u200d🚀 lands", "👩\u200d🚀 lands"),
        (" \x02 ", ""),
    ],
)
def test_a_sentence_has_one_normal_form(text: str, normal: str) -> None:
    assert normalise(text) == normal


@given(texts)
@example("\x00 \x00")
@example("a \x01 b")
def test_a_normal_form_stays_as_it_is(text: str) -> None:
    normal = normalise(text)

    assert normalise(normal) == normal


@given(texts)
@example("a \x01 b")
@example("\u1100\x02\u1161")
def test_a_normal_form_is_composed_and_shows_single_spaces_only(text: str) -> None:
    normal = normalise(text)

    assert unicodedata.is_normalized("NFC", normal)
    assert normal == " ".join(normal.split())
    assert not any(unicodedata.category(character) == "Cc" for character in normal)


@given(texts)
def test_a_key_is_the_digest_of_the_normal_form(text: str) -> None:
    assert sentence_key(text) == hashlib.sha256(normalise(text).encode()).hexdigest()


def test_case_makes_another_sentence() -> None:
    assert sentence_key("Rome fell.") != sentence_key("rome fell.")


@given(keys, keys)
def test_a_pair_and_its_mirror_image_have_different_keys(a: str, b: str) -> None:
    assert (pair_key(a, b) == pair_key(b, a)) == (a == b)


def test_each_part_of_a_pair_changes_the_id_made_for_it() -> None:
    a, b = sentence_key("a"), sentence_key("b")
    made = [
        made_external_id("news", "train", a, b, 1),
        made_external_id("forum", "train", a, b, 1),
        made_external_id("news", "test", a, b, 1),
        made_external_id("news", "train", b, a, 1),
        made_external_id("news", "train", a, b, 2),
        made_external_id("newstrain", "", a, b, 1),
    ]

    assert len(set(made)) == len(made)
    assert {len(external_id) for external_id in made} == {20}


def test_what_cannot_be_stored_is_shown_as_a_mark() -> None:
    assert printable("a\x00b\udc80c") == "a�b�c"


def test_files_and_database_agree_on_lengths() -> None:
    widths = {name: Pair._meta.get_field(name).max_length for name in FACT_MAX_CHARACTERS}

    assert Sentence._meta.get_field("text").max_length == SENTENCE_MAX_CHARACTERS == 2000
    assert widths == FACT_MAX_CHARACTERS
