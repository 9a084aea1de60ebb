"""The pages of docs/guide/reference are those that docs/reference.py makes of the code."""

import re
import runpy
from pathlib import Path

import pytest
from django.conf import settings

from curation.people.access import ROLES_THAT_MAY

ROOT = Path(settings.BASE_DIR)
SCRIPT = runpy.run_path(str(ROOT / "docs" / "reference.py"))
FOLDER = ROOT / "docs" / "guide" / "reference"
WRITTEN_BY_HAND = {"glossary"}


@pytest.mark.parametrize("name", SCRIPT["PAGES"])
def test_a_page_of_the_reference_says_what_the_code_does(name) -> None:
    assert (FOLDER / f"{name}.md").read_text() == SCRIPT["page_text"](name), "run make reference"


def test_no_other_page_is_in_the_reference() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == {*SCRIPT["PAGES"], *WRITTEN_BY_HAND}


def test_the_reference_of_settings_has_each_variable_that_the_settings_read() -> None:
    text = (ROOT / "semblance" / "settings.py").read_text()
    read = set(re.findall(r'(?:env\.\w+|required|octal|site_path)\(\s*"([A-Z_]+)"', text))
    headings = set(re.findall(r"^## (\w+)$", (FOLDER / "settings.md").read_text(), re.MULTILINE))

    assert len(read) > 40
    assert read - headings == set()


def test_the_reference_of_roles_describes_each_right() -> None:
    assert set(SCRIPT["RIGHTS"]) == set(ROLES_THAT_MAY)


def test_the_reference_of_keys_has_each_key_that_decides_in_a_review() -> None:
    found = re.search(r"actions = \{(.*?)\};", (ROOT / "static/js/review.js").read_text(), re.DOTALL)
    keys = {key.upper() for key in re.findall(r"^\s+(\w+): \(\)", found[1], re.MULTILINE)}
    review = (FOLDER / "keys.md").read_text().split("## Review of sentences")[1]

    assert len(keys) > 4
    assert keys <= {key.upper() for key in re.findall(r"`(\w+)`", review)}


def test_the_glossary_is_in_the_order_of_the_alphabet_and_each_term_has_one_sentence() -> None:
    lines = re.findall(r"^\* \*\*(.+?)\*\*: (.+)$", (FOLDER / "glossary.md").read_text(), re.MULTILINE)
    terms = [re.sub(r"\W", "", term).casefold() for term, _text in lines]

    assert len(terms) >= 60
    assert terms == sorted(set(terms))
    assert [text for _term, text in lines if len(re.findall(r"[.](\s|$)", text)) != 1] == []
