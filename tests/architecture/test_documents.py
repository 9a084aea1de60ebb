"""The documents name files that exist."""

import re
from collections import Counter
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


def test_the_walk_through_the_security_standard_has_each_requirement_once_with_its_test_or_its_day() -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    rows = re.findall(r"^\| (\d+\.\d+\.\d+) \| [^|]+ \| ([^|]+) \| ([^|]*) \|$", text, re.MULTILINE)
    tests = {path.name for path in (ROOT / "tests").rglob("test_*.py")}

    assert len({number for number, _result, _where in rows}) == len(rows) == 253
    results = Counter(result.split(",")[0] for _number, result, _where in rows)
    said = re.search(
        r"(\d+) are met, (\d+) partly, (\d+) not, (\d+) are the operator's, and (\d+) do not apply", text
    )
    assert [int(count) for count in said.groups()] == [
        results[result] for result in ("met", "partly", "not met", "operator", "n/a")
    ]
    for number, result, where in rows:
        assert re.fullmatch(r"met|partly|operator|n/a|not met, \d{4}-\d{2}-\d{2}", result), number
        assert result not in ("met", "partly", "n/a") or where, number
    named = re.findall(r"`(?:[\w/]+/)?(test_\w+\.py)`", text)
    assert len(named) > 150
    assert set(named) <= tests
