"""WordNet as synonyms: most frequent senses, base forms, folders and nltk's zip files."""

import shutil
from pathlib import Path

import pytest

from curation.pairs.sampling.synonyms import SynonymError
from curation.pairs.sampling.wordnet import wordnet_found, wordnet_read
from tests.wordnet import wordnet_made


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return wordnet_made(tmp_path)


@pytest.mark.parametrize(
    ("word", "stands"),
    [
        ("big", "large"),  # one sense, in which large is met more often
        ("large", "large"),
        ("commence", "begin"),
        ("start", "start"),  # shares begin's sense in its second alone
        ("hound", "hound"),
        ("adult", "adult"),  # its first sense has no other word
        ("man", "man"),
        ("unknown", "unknown"),
    ],
)
def test_words_of_one_most_frequent_sense_are_synonyms(place: Path, word: str, stands: str) -> None:
    assert wordnet_read(place).words.get(word) == stands


@pytest.mark.parametrize(
    ("word", "stands"),
    [
        ("began", "begin"),  # an exception
        ("commenced", "begin"),  # by a rule
        ("commencing", "begin"),
        ("bigger", "bigger"),  # WordNet doubles no letter by a rule
        ("hounds", "hound"),
        ("barks", "bark"),
        ("left", "leave"),  # of its readings the one that is met most often
    ],
)
def test_an_inflected_word_has_the_sense_of_its_base_form(place: Path, word: str, stands: str) -> None:
    assert wordnet_read(place).words.get(word) == stands


def test_a_pronoun_is_no_symbol_of_an_element(place: Path) -> None:
    assert wordnet_read(place).words.get("he") == "he"


def test_what_stands_for_a_word_stands_for_itself(place: Path) -> None:
    found = wordnet_read(place).words

    for word in ("big", "commenced", "left", "began", "barking", "dogs"):
        stands = found.get(word)
        assert found.get(stands) == stands


def test_the_zip_file_of_nltk_is_the_same(place: Path, tmp_path: Path) -> None:
    inside = tmp_path / "packed" / "wordnet"
    shutil.copytree(place, inside)
    packed = Path(shutil.make_archive(str(tmp_path / "wordnet"), "zip", tmp_path / "packed", "wordnet"))

    found = wordnet_found([tmp_path / "none", packed])

    assert found == packed
    assert wordnet_read(found).words.get("commenced") == "begin"


def test_no_wordnet_and_a_damaged_one_are_said(place: Path, tmp_path: Path) -> None:
    with pytest.raises(
        SynonymError, match=r"There is no WordNet in the usual places: install .* wordnet-base"
    ):
        wordnet_found([tmp_path / "none", tmp_path])
    (place / "index.noun").write_bytes(b"dog n many\n")
    with pytest.raises(SynonymError, match="cannot be read"):
        wordnet_read(place)
    (tmp_path / "wordnet.zip").write_bytes(b"PK no zip")
    with pytest.raises(SynonymError, match="There is no WordNet at"):
        wordnet_found([tmp_path / "wordnet.zip"])
