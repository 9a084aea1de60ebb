"""Templates can be read, by people and by Django. `make check` formats and lints them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 160
# What makes elements of a text, and the values that it may have: constants, and HTML that the server rendered, which
# escapes texts. `test_hostile_texts.py` and `test_pages_review.py` ask the server for it.
MAKES_ELEMENTS = re.compile(
    r"(?:\b(?:inner|outer)HTML\s*\+?=(?!=)|insertAdjacentHTML|createContextualFragment|parseFromString|setHTML\w*"
    r"|document\.write|\bsrcdoc\b|\beval\(|\bFunction\()\s*(.*)"
)
RENDERED = {
    "tuple.html;", "item.html;", "html;", 'feedbacks.shift() ?? "";', "answer.figures;", '`<p class="waiting"></p>`;',
}  # fmt: skip


def test_scripts_make_elements_of_nothing_but_what_the_server_rendered() -> None:
    made = {
        f"{path.name}: {match[0]}"
        for path in sorted((ROOT / "static/js").glob("*.js"))
        for match in MAKES_ELEMENTS.finditer(path.read_text())
        if match[1] not in RENDERED
    }

    assert made == set()


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


def test_texts_are_escaped_and_attributes_are_quoted() -> None:
    """Nobody's text is markup where Django escapes it; each exception is named here, with what makes it safe."""
    safe = {
        "annotation/judging/_bar.html",  # a time in words of ours
        "django/forms/field.html",  # help texts are ours
    }
    pages = {path: path.read_text() for path in sorted((ROOT / "templates").rglob("*.html"))}

    unescaped = [path for path, text in pages.items() if re.search(r"\|safe|autoescape", text)]
    unquoted = [path for path, text in pages.items() if re.search(r"<[^>]*\s[\w-]+={[{%][^>]*>", text)]

    assert {str(path.relative_to(ROOT / "templates")) for path in unescaped} == safe
    assert unquoted == []
