"""The texts of a published folder as templates, one per output, in the folder `templates/`.

They are Jinja templates: this package knows no Django, and `str.format` has neither conditions nor loops. Jinja escapes
nothing, since no output is HTML: the template of a Markdown text writes `|text` after what people typed. A text that
becomes both Markdown and LaTeX (`methods.jinja`) calls `paragraph`, `grid` and so on, which make blocks of `prose`,
and `prose` escapes everything in them.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import jinja2

from curation.files.publishing.prose import (
    Block,
    Cited,
    Grid,
    Heading,
    Paragraph,
    ToWrite,
    markdown_address,
    markdown_paragraphs,
    markdown_text,
    markdown_written,
)
from curation.files.publishing.references import BY_KEY, Reference

# Around citations, after cells and after rows, in what a template gives to a block. `prose.plain` drops these
# characters from every text, so nothing that people typed can hold them.
_CITATION, _CELL, _ROW = "\x02", "\x03", "\x04"
_NO_MARKS = str.maketrans("", "", _CITATION + _CELL + _ROW)


class _Row(tuple[object, ...]):
    """The cells of a table's row."""

    __slots__ = ()


@cache
def _environment() -> jinja2.Environment:
    def shown(value: object) -> str:
        """A value as a template shows it, with the marks that `block_list` reads."""
        if isinstance(value, Cited):
            keys = " ".join(each.key for each in value.references)
            return f"{_CITATION}{'in_text ' if value.in_text else ''}{keys}{_CITATION}"
        if isinstance(value, _Row):
            return "".join(f"{shown(cell)}{_CELL}" for cell in value) + _ROW
        return str(value).translate(_NO_MARKS)

    def counted(count: int, what: str) -> str:
        return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"

    def interval(value: float | None, low: float | None, high: float | None) -> str:
        if value is None:
            return "–"
        return f"{value:.3f}" if low is None or high is None else f"{value:.3f} ({low:.3f} to {high:.3f})"

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=False,  # noqa: S701 - no output is HTML
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=shown,
    )
    environment.filters |= {
        "n": lambda count: "–" if count is None else f"{count:,}",
        "as": format,
        "many": counted,
        "interval": interval,
        "repr": repr,
        "text": markdown_text,
        "paragraphs": markdown_paragraphs,
        "address": markdown_address,
        "quoted": lambda text: "\n".join(
            f"> {line}".rstrip() for line in markdown_written(text).splitlines()
        ),
    }
    return environment


def template_text(name: str, **values: object) -> str:
    """What a template gives for these values."""
    return _environment().get_template(name).render(values)


def template_blocks(name: str, **values: object) -> list[Block]:
    """The blocks that a template gathers. Text outside of its blocks is refused: nobody would see it."""
    blocks: list[Block] = []

    def heading(level: int = 2, *, caller: Callable[[], str]) -> str:
        blocks.append(Heading(caller(), level))
        return ""

    def paragraph(*, caller: Callable[[], str]) -> str:
        parts: list[str | Cited] = []
        for place, part in enumerate(caller().split(_CITATION)):
            if place % 2:
                *in_text, keys = part.rpartition("in_text ")
                parts.append(Cited(tuple(BY_KEY[key] for key in keys.split()), in_text=any(in_text)))
            elif part.strip():
                parts.append(part)
        blocks.append(Paragraph(parts))
        return ""

    def grid(
        key: str, caption: str, header: Sequence[str], texts: int = 1, *, caller: Callable[[], str]
    ) -> str:
        rows = [row.split(_CELL)[:-1] for row in caller().split(_ROW)[:-1]]
        blocks.append(Grid(key, caption, header, rows, texts))
        return ""

    def to_write(*, caller: Callable[[], str]) -> str:
        blocks.append(ToWrite(caller()))
        return ""

    def cite(*references: Reference, in_text: bool = False) -> Cited:
        return Cited(references, in_text)

    verbs = {"heading": heading, "paragraph": paragraph, "grid": grid, "to_write": to_write, "cite": cite}
    rest = template_text(name, **values, **verbs, row=lambda *cells: _Row(cells))
    if rest.strip():
        raise ValueError(f"{name} has text outside of its blocks: {rest.strip()!r}")
    return blocks
