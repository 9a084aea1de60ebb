"""Pictures of the guide show pages as they are: the texts kept beside them are still texts of pages."""

import json
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
texts = runpy.run_path(str(ROOT / "docs" / "experiments" / "picture_texts.py"))
KEPT: dict[str, list[str]] = json.loads(texts["TEXTS"].read_text("utf-8"))
GUIDE = ROOT / "docs" / "guide"


@pytest.mark.parametrize("name", KEPT)
def test_a_picture_shows_no_text_that_pages_no_longer_have(name: str) -> None:
    assert len(KEPT[name]) >= 6
    assert set(KEPT[name]) - texts["texts_of_pages"]() == set(), "run make pictures"


def test_each_picture_has_its_texts_and_is_on_a_page() -> None:
    names = {path.stem for path in (GUIDE / "pictures").glob("*.png")}
    shown = {
        name
        for page in GUIDE.rglob("*.md")
        for name in re.findall(r"/pictures/([\w-]+)\.png", page.read_text())
    }

    assert names == set(KEPT) == shown


def test_what_somebody_typed_and_the_letters_of_keys_are_not_kept() -> None:
    lines = ["My first dataset", "Q", " Open\n campaign", "Open campaign"]

    assert texts["texts_kept"](lines) == ["Open campaign"]
