"""Markdown that curators write, such as guidelines and consents, as HTML for a page. Pure: text in, HTML out."""

from markdown_it import MarkdownIt

# A line break stays one: texts that were written without Markdown in mind look as they did. Pictures are left out,
# because they would be fetched from elsewhere, which tells others who reads the page.
_MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable("image")
_HIGHEST, _LOWEST = 3, 6  # the page has the levels above


def marked_html(text: str) -> str:
    """The text as HTML. HTML in it is shown as text, links lead to web pages and mail addresses alone.

    Its headings begin at the third level, below those of the page.
    """
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1]) + _HIGHEST - 1, _LOWEST)}"
        for part in token.children or []:
            # A link opens beside the page: who judges must not lose the screen, nor tell others where they come
            # from.
            if part.type == "link_open":
                part.attrSet("target", "_blank")
                part.attrSet("rel", "noopener noreferrer nofollow")
    rendered: str = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return rendered
