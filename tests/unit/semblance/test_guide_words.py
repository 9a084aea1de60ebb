"""The guide stays short, in words of a page and of a sentence, as docs/experiments/words.py counts them."""

import runpy
from pathlib import Path

import pytest

from semblance.guide.contents import MOST_WORDS, MOST_WORDS_IN_ALL, MOST_WORDS_READ, UNLIMITED
from semblance.guide.rendering import page_groups

ROOT = Path(__file__).resolve().parents[3]
words = runpy.run_path(str(ROOT / "docs" / "experiments" / "words.py"))
document = words["document"]
PAGES = [
    (group.folder, path)
    for group, pages in page_groups()
    for path in pages.values()
    if group.folder in MOST_WORDS
]

REFERENCE = [path for group, pages in page_groups() if group.folder == "reference" for path in pages.values()]


def test_words_are_those_of_prose_and_tables_and_sentences_those_of_prose(tmp_path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One title\n\nTwo words here. And [three more](link.md) words:\n\n```python\nnot counted\n```\n\n"
        "| a | b |\n|---|--:|\n| c | d |\n\n    neither = this\n\n* A list of things.\n"
    )

    counted = document(page)

    assert counted.words == 2 + 3 + 4 + 4 + 4
    assert counted.paragraphs == [
        ["Two words here.", "And three more words:"],
        ["A list of things."],
    ]
    assert counted.sentences == ["Two words here.", "And three more words:", "A list of things."]


@pytest.mark.parametrize(("folder", "path"), PAGES, ids=lambda value: getattr(value, "stem", value))
def test_a_page_is_as_short_as_its_group_allows_and_has_no_long_sentence(folder, path) -> None:
    page = document(path)

    assert page.words <= MOST_WORDS[folder] or page.name in UNLIMITED
    assert page.long == []


def test_the_guide_is_as_short_as_it_may_be_outside_reference_and_evidence() -> None:
    assert words["words_read"]() <= MOST_WORDS_READ


def test_the_whole_guide_is_as_short_as_it_may_be() -> None:
    assert words["words_in_all"]() <= MOST_WORDS_IN_ALL


@pytest.mark.parametrize("path", REFERENCE, ids=lambda path: path.stem)
def test_a_paragraph_of_the_reference_has_at_most_two_sentences_and_none_is_long(path) -> None:
    page = document(path)

    assert [paragraph for paragraph in page.paragraphs if len(paragraph) > 2] == []
    assert page.long == []


def test_readme_says_in_one_page_what_semblance_is() -> None:
    readme = document(ROOT / "README.md")

    assert readme.words <= 450
    assert readme.long == []
