"""Markdown of curators as HTML: what is marked up, and what cannot get into a page."""

import pytest

from curation.files.marked_text import marked_html


def test_paragraphs_emphasis_lists_and_tables_are_marked_up() -> None:
    html = marked_html("Think of **meaning**.\n\n* first\n* second\n\n| best | worst |\n|---|---|\n| 1 | 4 |")

    assert "<p>Think of <strong>meaning</strong>.</p>" in html
    assert html.count("<li>") == 2
    assert "<td>4</td>" in html


def test_a_text_without_markdown_keeps_its_lines() -> None:
    assert marked_html("One\ntwo\n\nthree") == "<p>One<br />\ntwo</p>\n<p>three</p>\n"


def test_headings_stand_below_those_of_the_page() -> None:
    html = marked_html("# Task\n\n## Part\n\n##### Deep")

    assert "<h3>Task</h3>" in html
    assert "<h4>Part</h4>" in html
    assert "<h6>Deep</h6>" in html


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("<script>alert(1)</script>", "<script"),
        ("<img src=x onerror=alert(1)>", "<img"),
        ("![seen](https://example.org/pixel.png)", "<img"),
        ("[press](javascript:alert(1))", 'href="javascript'),
        ("[press](data:text/html,x)", 'href="data'),
        ('[a](https://example.org/"onclick="alert)', '"onclick'),
    ],
)
def test_nothing_runs_and_nothing_is_fetched(text: str, never: str) -> None:
    assert never not in marked_html(text)


def test_links_open_beside_the_page_and_tell_nothing() -> None:
    assert marked_html("[us](https://example.org)") == (
        '<p><a href="https://example.org" target="_blank" rel="noopener noreferrer nofollow">us</a></p>\n'
    )
