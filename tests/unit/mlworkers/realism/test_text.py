"""Both classes in one dress: what of a sentence's typing survives, and that the class is never asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.pairs.text import near_copy_key, words
from mlworkers.science.realism.text import alike

SOME = ["a", "man", "runs", "twice", "in", "don't", "well-known", "3.5", "mother's", "café"]
WORDS = st.lists(st.sampled_from(SOME), min_size=1)
MESSY = st.text(alphabet="ab Z.,;:!?'\"“”‘’`´-–—()[]{}%$/\t\u00a0…é3", max_size=40)


@pytest.mark.parametrize(
    ("typed", "dressed"),
    [
        ("A man is playing a guitar.", "a man is playing a guitar"),
        ("A man is playing a guitar", "a man is playing a guitar"),
        ("  A man\tis playing a guitar . ", "a man is playing a guitar"),
        ("“We won”, she said.", "we won, she said"),
        ("`` We won '' , she said .", "we won, she said"),
        ("'We won', she said", "we won, she said"),
        ("They do n't know the dog 's name", "they don't know the dog's name"),
        ("They don’t know the dog’s name", "they don't know the dog's name"),
        ("Rome -LRB- Italy -RRB- fell", "rome (italy) fell"),
        ("Rome ( Italy ) fell", "rome (italy) fell"),
        ("a well @-@ known man", "a well - known man"),
        ("Rome fell—twice", "rome fell - twice"),
        ("Rome fell -- twice …", "rome fell - twice"),
        ("It rose 3.5 % to $ 5", "it rose 3.5% to $5"),
        ("Ｒome ﬁll", "rome fill"),
        ("Who won ?", "who won?"),
        ("No !", "no!"),
    ],
)
def test_what_typing_adds_is_taken_away(typed: str, dressed: str) -> None:
    assert alike(typed) == dressed


@pytest.mark.parametrize("text", ["...", '"', "—", "?!", "''"])
def test_a_sentence_without_a_word_is_never_empty(text: str) -> None:
    assert alike(text)
    assert near_copy_key(alike(text))


@given(
    WORDS, st.sampled_from(["{}.", "“{}”", " {} ", "{} .", "`` {} ''", "- {},", "{}…", "«{}»"]), st.booleans()
)
def test_however_a_sentence_is_typed_the_classifier_sees_the_same(words, frame: str, shout: bool) -> None:
    plain = " ".join(words)
    typed = frame.format(plain.upper() if shout else plain.capitalize())

    assert alike(typed) == alike(plain)


@given(MESSY)
def test_dressing_twice_changes_nothing(text: str) -> None:
    assert alike(alike(text)) == alike(text)


@given(MESSY)
def test_what_is_dressed_shows_no_capitals_double_quotes_or_spare_spaces(text: str) -> None:
    dressed = alike(text)

    if words(dressed):
        assert dressed == dressed.lower()
        assert "  " not in dressed
        assert not set(dressed) & set('“”"‘’\t\u00a0')


def test_sentences_that_differ_in_punctuation_alone_are_near_copies() -> None:
    keys = {near_copy_key(alike(text)) for text in ("A dog, running.", "a dog running", "A dog (running)!")}

    assert keys == {near_copy_key("a dog running")}
