"""The documents name files that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md")
# A path of the repository between backticks, such as `curation/pairs/text.py` or `docs/adr/`.
PATH = re.compile(
    r"`((?:curation|annotation|mlworkers|semblance|templates|static|tests|docs|benchmarks)/[\w./-]*)`"
)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_in_the_documents_exist(document: str) -> None:
    named = PATH.findall((ROOT / document).read_text())

    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_newest_experiment_is_at_the_top_of_the_log() -> None:
    dates = re.findall(r"^## (\d{4}-\d\d-\d\d)", (ROOT / "docs/experiments/LOG.md").read_text(), re.MULTILINE)

    assert dates == sorted(dates, reverse=True)


def test_translators_read_about_how_many_sentences_a_language_has() -> None:
    said = re.search(r"sentences \(about (\d+)\)", (ROOT / "docs/guide/operations.md").read_text())
    catalogue = (ROOT / "locale/de/LC_MESSAGES/django.po").read_text()

    sentences = len(re.findall("^msgid ", catalogue, re.MULTILINE)) - 1  # the first one is the head
    assert said
    assert int(said[1]) == pytest.approx(sentences, rel=0.1)
