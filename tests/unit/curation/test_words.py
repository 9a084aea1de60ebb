"""Words in every script: what near copies, splits, leak guards and overlaps are made of."""

import importlib.util
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.pairs.holding_out import HeldOut
from curation.pairs.leaks import leaks_between_texts
from curation.pairs.near_duplicates import near_duplicates
from curation.pairs.overlap import dice
from curation.pairs.segmenting import segmented_words, word_count, words_rule
from curation.pairs.text import (
    WORDS_RULE,
    bigrams,
    earlier_near_copy_key,
    near_copy_key,
    words,
    words_may_have_changed,
)
from curation.pairs.word_tables import word_table

with_icu = pytest.mark.skipif(importlib.util.find_spec("icu4py") is None, reason="ICU is not installed")
without_icu = pytest.mark.skipif(importlib.util.find_spec("icu4py") is not None, reason="ICU is installed")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("वह बाज़ार जाता है।", ["वह", "बाज़ार", "जाता", "है"]),
        ("বৃষ্টি থেমে গেছে।", ["বৃষ্টি", "থেমে", "গেছে"]),
        ("పిల్లలు బడికి వెళ్తున్నారు.", ["పిల్లలు", "బడికి", "వెళ్తున్నారు"]),
        ("ਮੀਂਹ ਰੁਕ ਗਿਆ ਹੈ।", ["ਮੀਂਹ", "ਰੁਕ", "ਗਿਆ", "ਹੈ"]),
        ("مَطَرٌ غَزِيرٌ", ["مَطَرٌ", "غَزِيرٌ"]),
        ("הַגֶּשֶׁם נִפְסַק", ["הַגֶּשֶׁם", "נִפְסַק"]),
        ("باران می‌بارد", ["باران", "می‌بارد"]),
        ("ක්‍රීඩාව ඇරඹුණි", ["ක්‍රීඩාව", "ඇරඹුණි"]),
        ("İzmir’de yağmur", ["i̇zmir", "de", "yağmur"]),
        ("비가 그쳤다", ["비가", "그쳤다"]),
    ],
)
def test_a_word_keeps_its_marks_and_joiners(text: str, found: list[str]) -> None:
    assert words(text) == [unicodedata.normalize("NFKC", word) for word in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("雨停了", ["雨停", "停了"]),
        ("猫が寝る", ["猫が", "が寝", "寝る"]),
        ("ฝนตก", ["ฝน", "นต", "ตก"]),
        ("ที่นี่", ["ที่นี่"]),
        ("ຝົນຕົກ", ["ຝົນ", "ນຕົ", "ຕົກ"]),
        ("ភ្លៀង", ["ភ្លៀ", "លៀង"]),
        ("မိုးရွာ", ["မိုးရွာ"]),
        ("雨", ["雨"]),
        ("2024年にGPUを3個", ["2024", "年に", "gpu", "を", "3", "個"]),
        ("ﾈｺが寝た", ["ネコ", "コが", "が寝", "寝た"]),
    ],
)
def test_scripts_without_spaces_have_two_characters_for_a_word(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "The dog's bone, the DOG's “own” — naïve café, 3½ pounds… €5",
        "I like it ☺️ 1️⃣ 👩‍💻 a lot",
        "snake_case x² ﬁne",
        "Привет, мир",
        "Đường phố Hà Nội",
    ],
)
def test_words_of_texts_without_marks_stay_as_they_were(text: str) -> None:
    assert near_copy_key(text) == earlier_near_copy_key(text)


# But for those whose small letter is two characters, the second of which is a mark: İ and ǰ.
@given(st.text(st.characters(max_codepoint=0x24F, exclude_characters="İǰ")))
def test_words_of_latin_letters_stay_as_they_were(text: str) -> None:
    assert near_copy_key(text) == earlier_near_copy_key(text)


@pytest.mark.exhaustive
@given(st.text())
def test_every_text_whose_words_changed_is_known_by_its_scripts(text: str) -> None:
    composed = unicodedata.normalize("NFKC", text).casefold()

    assert near_copy_key(text) == earlier_near_copy_key(text) or words_may_have_changed(composed)


def test_no_mark_and_no_joiner_stays_unnoticed() -> None:
    marks = [chr(code) for code in range(0x300, 0x20000) if unicodedata.category(chr(code)) in {"Mn", "Mc"}]

    assert all(
        words_may_have_changed(mark) for mark in [*marks, "\u200c", "\u200d", "字", "か", "ไ", "ລ", "က", "ក"]
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("वह घर जाता है", "वह घर जाती है"),
        ("పిల్లి నిద్రపోతోంది", "పిల్లి నిద్రపోతుంది"),
        ("ਉਹ ਜਾਂਦਾ ਹੈ", "ਉਹ ਜਾਂਦੀ ਹੈ"),
        ("সে যায়", "সে যাও"),
        ("كُتِبَ", "كَتَبَ"),
        ("他去学校", "她去学校"),
        ("彼は走る", "彼が走る"),
        ("ฉันไป", "ฉันไม่ไป"),
    ],
)
def test_sentences_that_differ_in_a_mark_or_a_character_are_no_near_copies(one: str, other: str) -> None:
    assert near_copy_key(one) != near_copy_key(other)
    assert dice(one, other) < 1
    assert not len(near_duplicates(word_table([one, other]), threshold=1).first)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("今天下雨，我们在家。", "今天下雨我们在家"),
        ("ฝนตก แล้วหยุด", "ฝนตกแล้วหยุด"),
        ("वह गया।", "वह गया"),
        ("خواهم‌ رفت", "خواهم رفت"),
    ],
)
def test_punctuation_and_spaces_between_letters_of_such_scripts_make_no_other_sentence(
    one: str, other: str
) -> None:
    assert near_copy_key(one) == near_copy_key(other)
    assert other in HeldOut.of([one])


def test_splits_of_hindi_leak_by_equal_sentences_alone() -> None:
    splits = ["train", "test", "test"]

    apart = leaks_between_texts(splits[:2], ["वह घर जाता है", "वह घर जाती है"], ["बारिश हुई", "धूप निकली"])
    shared = leaks_between_texts(splits[:2], ["वह घर जाता है", "वह घर जाता है।"], ["बारिश हुई", "धूप निकली"])

    assert not apart
    assert [leak.pairs for leak in shared] == [1, 1]


@given(st.text("字雨天ก", min_size=1, max_size=9))
def test_bigrams_are_one_fewer_than_characters(run: str) -> None:
    assert len(bigrams(run)) == max(len(run) - 1, 1)


@without_icu
def test_statistics_use_the_words_of_keys_where_no_segmenter_is_installed() -> None:
    assert segmented_words("今天下雨") == words("今天下雨")
    assert words_rule() == WORDS_RULE


@with_icu
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("今天下雨", ["今天", "下雨"]),
        ("私は図書館に行く", ["私", "は", "図書館", "に", "行く"]),
        ("ฉันไปตลาด", ["ฉัน", "ไป", "ตลาด"]),
        ("ខ្ញុំទៅផ្សារ", ["ខ្ញុំ", "ទៅ", "ផ្សារ"]),
    ],
)
def test_statistics_use_the_words_of_icu_where_it_is_installed_and_keys_do_not(
    text: str, found: list[str]
) -> None:
    assert segmented_words(text) == found
    assert word_count(text) == word_table([text]).lengths[0] == len(found)
    assert words(text) != found
    assert "icu4py" in words_rule()
