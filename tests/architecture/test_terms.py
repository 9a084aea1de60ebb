"""Texts speak by the field's terms and in plain sentences: `.ci/terms` has the rules, and `make check` calls it."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TERMS = runpy.run_path(str(ROOT / ".ci" / "terms"))
CATALOGUES = sorted(ROOT.glob("locale/*/LC_MESSAGES/django.po"))
# In a translation: an English word, and what a sentence that has it must not say in the language.
NOT_SAID = {"de": {"guidelines?": "richtlinie", "guide": "anleitung"}, "es": {"tokens?": r"\bclaves?\b"}}


def avoided(text: str) -> list[str]:
    return [found for found, _write in TERMS["words_avoided"](text)]


@pytest.mark.parametrize("where", ["templates", "code", "api", "catalogues"])
def test_texts_say_the_terms_of_the_field_in_plain_and_short_sentences(where) -> None:
    assert [str(fault) for fault in TERMS[f"faults_of_{where}"]()] == []


def test_make_check_asks_the_same() -> None:
    assert "\t@$(BIN)/python .ci/terms\n" in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize("catalogue", CATALOGUES, ids=lambda path: path.parts[-3])
def test_translators_know_the_terms_in_their_language_and_keep_to_one_word(catalogue: Path) -> None:
    language, text = catalogue.parts[-3], catalogue.read_text()
    entries = [entry.rpartition("msgid")[2].split("msgstr", 1) for entry in text.split("\n\n")]

    assert f"| {language} |" in (ROOT / "locale" / "TERMS.md").read_text().split("\n\n")[-1].split("\n")[0]
    for english, other in NOT_SAID.get(language, {}).items():
        mixed = [
            said
            for original, said in entries
            if re.search(rf"\b{english}\b", original.lower()) and re.search(other, said.lower())
        ]
        assert mixed == []


def test_arabic_is_marked_as_unreviewed_where_translators_and_administrators_look() -> None:
    for name in ("locale/ar/LC_MESSAGES/django.po", "locale/TERMS.md", "docs/guide/run-a-site/translate.md"):
        assert "unreviewed" in (ROOT / name).read_text().lower()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('<a title="Norming">{% url "norming" %}{{ sitting }}</a>', "Norming"),
        ('{% translate "Judge" %}{% comment %}judge{% endcomment %}<p class="judge">it</p>', "Judge"),
        (
            "{% blocktranslate with judged=row.judged %}{{ judged }} verdicts{% endblocktranslate %}",
            "verdicts",
        ),
    ],
)
def test_of_a_template_only_what_people_read_is_searched(source: str, text: str) -> None:
    assert avoided(TERMS["template_text"](source)) == [text]


def test_of_code_the_texts_helps_and_refusals_are_searched() -> None:
    source = 'x = _("One text")\nraise RowError(f"{path} is no folder")\nField(help_text="A help")\nname = "no text"'

    assert list(TERMS["python_texts"](source)) == ["One text", "x is no folder", "A help"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is no bundle.", ["is no"]),
        ("The pairs hang together; you can leave meanwhile.", ["hang together", "meanwhile"]),
        ("There is no bundle. It is no longer here, and is no better.", []),
    ],
)
def test_english_that_has_to_be_decoded_is_found_and_plain_english_is_not(text, found) -> None:
    assert avoided(text) == found


def test_a_sentence_has_at_most_forty_words() -> None:
    forty = " ".join(["word"] * 40)

    assert list(TERMS["sentences_long"](f"{forty}. {forty}.")) == []
    assert list(TERMS["sentences_long"](f"{forty} more.")) == [f"{forty} more."]


@pytest.mark.parametrize(
    ("text", "whole"),
    [("The id.", True), ("404: there is none.", True), ("the id.", False), ("The id", False)],
)
def test_a_description_of_the_api_is_a_sentence(text, whole) -> None:
    assert TERMS["is_sentence"](text) == whole
