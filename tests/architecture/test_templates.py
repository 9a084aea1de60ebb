"""Templates can be read, by people and by Django. `make check` formats and lints them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 160


def test_no_line_of_a_template_is_long() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > LONGEST
    ]

    assert long == []


def test_no_tag_of_a_template_is_broken_over_lines() -> None:
    """Django shows such a tag as it is written, and a formatter may break it."""
    broken = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if re.search(r"{[{%](?:(?![}%]}).)*$", line)
    ]

    assert broken == []


def test_no_template_has_a_script_or_a_style_in_it() -> None:
    """The content security policy refuses them; scripts and styles are files under static/."""
    inline = re.compile(
        r"<script(?![^>]*\bsrc=)(?![^>]*type=\"application/json\")|<style|\sstyle=|\son(?!e=)[a-z]+=\"|javascript:|hx-on"
    )

    found = {
        str(path.relative_to(ROOT)): inline.findall(path.read_text())
        for path in sorted((ROOT / "templates").rglob("*.html"))
        if inline.search(path.read_text())
    }

    assert found == {}
