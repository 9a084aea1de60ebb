"""Pages as tests compare them: how a template breaks its lines says nothing."""

import re

from markdown_it import MarkdownIt

# HTML, a picture, links, a heading, a list, a table's bar, code, an entity and control characters.
HOSTILE = (
    "# A <attack onload=attack()>\n\n<script>attack()</script>\n"
    "![x](https://example.org/seen.png) [x](javascript:attack\\(\\)) <javascript:attack()> [y]\n"
    "[y]: javascript:attack()\n===\n- one\n1. two\n    code | `code` | &lt;b&gt; **bold** \x1b[31m\u202e"
)
_COMMONMARK = MarkdownIt("commonmark", {"html": True}).enable("table")


def squeezed(html: str) -> str:
    """The markup with one space for every white space, and none beside a tag."""
    return re.sub(r"\s*([<>])\s*", r"\1", " ".join(html.split()))


def html_of(markdown: str) -> str:
    """Markdown as a program shows it that lets HTML through; without the metadata at its beginning."""
    rendered: str = _COMMONMARK.render(markdown.partition("\n---\n")[2] or markdown)
    return rendered


def elements_in(html: str) -> list[str]:
    """The names of the elements of a page, in order."""
    return re.findall(r"<(\w+)", html)
