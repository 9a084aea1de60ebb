"""Pages of the guide: Markdown files into HTML of the site. Pure: files in, pages out.

HTML in a file is shown as text. Nothing is fetched: pictures are those beside the files, and links to files of the
source code, which the site does not have, become plain words.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from semblance.guide.contents import GROUPS, Group

FOLDER = Path(__file__).parent / "pages"
IMAGES = {".png": "image/png", ".svg": "image/svg+xml"}
_OUTSIDE = re.compile(r"https?://")
_PAGE_LINK = re.compile(r"(?P<file>[\w./-]+\.md)(?P<anchor>#.*)?")
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
# From the name of a page, or of a picture, to its address.
Address = Callable[[str], str]


@dataclass(frozen=True)
class Heading:
    """A heading of the second level. anchor: the id that it has in the page."""

    anchor: str
    text: str


@dataclass(frozen=True)
class Page:
    """name: of the file, without its ending. lead: the first paragraph, as text. body: HTML, without the title."""

    name: str
    title: str
    lead: str
    headings: Sequence[Heading]
    body: str


def page_groups(folder: Path = FOLDER) -> list[tuple[Group, dict[str, Path]]]:
    """The groups that have pages: the file of each page by its name, in reading order."""
    found = []
    for group in GROUPS:
        there = {path.stem: path for path in sorted((folder / group.folder).glob("*.md"))}
        names = [name for name in group.order if name in there]
        names += [name for name in there if name not in group.order]
        found.append((group, {name: there[name] for name in names}))
    return [(group, pages) for group, pages in found if pages]


def page_group(name: str, folder: Path = FOLDER) -> Group:
    return next(group for group, pages in page_groups(folder) if name in pages)


def page_files(folder: Path = FOLDER) -> dict[str, Path]:
    """The file of each page by its name, in reading order. No two pages have the same name."""
    return {name: path for _group, pages in page_groups(folder) for name, path in pages.items()}


def page_read(name: str, *, page_address: Address, image_address: Address, folder: Path = FOLDER) -> Page:
    """A page by its name. Raises ValueError where there is none."""
    files = page_files(folder)
    if name not in files:
        raise ValueError(f"the guide has no page “{name}”")
    own = {path.resolve(): page_address(other) for other, path in files.items()}
    return file_read(files[name], own=own, image_address=image_address)


def file_read(file: Path, *, own: Mapping[Path, str], image_address: Address) -> Page:
    """A page by its file. own: the addresses of pages by their files; other links to files become plain words."""
    tokens = _MARKDOWN.parse(file.read_text("utf-8"))
    title, headings, lead = file.stem, [], ""
    body: list[Token] = []
    anchors: dict[str, int] = {}
    for place, token in enumerate(tokens):
        inline = tokens[place + 1] if place + 1 < len(tokens) else token
        if token.type == "heading_open":
            anchor = heading_anchor(plain_text(inline))
            number = anchors.get(anchor, 0)
            anchors[anchor] = number + 1
            anchor = f"{anchor}-{number}" if number else anchor
            token.attrSet("id", anchor)
            if token.tag == "h1" and place == 0:
                title = plain_text(inline)
            elif token.tag in ("h1", "h2"):  # a page has one title
                token.tag = tokens[place + 2].tag = "h2"
                headings.append(Heading(anchor, plain_text(inline)))
        elif token.type == "paragraph_open" and not lead:
            lead = plain_text(inline).strip()
        elif token.type == "inline":
            _links_changed(token.children or [], file.parent, own, image_address)
        elif token.type in ("th_open", "td_open") and "right" in str(token.attrs.pop("style", "")):
            token.attrSet("class", "num")
        body.append(token)
    # The page shows its title itself.
    ends = [place for place, token in enumerate(body) if token.type == "heading_close" and token.tag == "h1"]
    if ends and body[0].type == "heading_open":
        del body[: ends[0] + 1]
    html = _MARKDOWN.renderer.render(body, _MARKDOWN.options, {})
    # A screen reader would read a head without words as an empty one.
    html = html.replace("<th></th>", "<td></td>")
    html = html.replace("<table>", '<div class="table-wrap"><table>').replace("</table>", "</table></div>")
    return Page(file.stem, title, lead, headings, html)


def image_path(name: str, folder: Path = FOLDER) -> Path | None:
    """The picture of that name, beside a page or in `pictures`; None where the guide has none."""
    paths = (path for path in folder.glob("**/*") if path.name == name and path.suffix in IMAGES)
    return next(paths, None)


def heading_anchor(text: str) -> str:
    """The id of a heading, as code hosts make it, so that the links of the files hold there and here."""
    letters = text.strip().lower()
    kept = "".join(c for c in letters if c in "-_ " or unicodedata.category(c)[0] in "LN")
    return kept.replace(" ", "-")


def plain_text(inline: Token) -> str:
    """What a reader sees of a line, without marks."""
    return "".join(
        " " if child.type in ("softbreak", "hardbreak") else child.content
        for child in inline.children or []
        if child.type in ("text", "code_inline", "softbreak", "hardbreak")
    )


def _links_changed(
    children: list[Token], folder: Path, own: Mapping[Path, str], image_address: Address
) -> None:
    """Lead links to pages of the site, and take those away that lead to files which the site does not have."""
    open_links: list[bool] = []
    for child in children:
        if child.type == "image":
            child.attrSet("src", image_address(Path(str(child.attrGet("src"))).name))
            child.attrSet("loading", "lazy")
        elif child.type == "link_open":
            address = _address(str(child.attrGet("href")), folder, own)
            open_links.append(address is not None)
            if address is None:
                child.tag = "span"
                child.attrs = {}
            else:
                child.attrSet("href", address)
                if _OUTSIDE.match(address):
                    child.attrSet("rel", "noopener noreferrer")
        elif child.type == "link_close" and not open_links.pop():
            child.tag = "span"


def _address(href: str, folder: Path, own: Mapping[Path, str]) -> str | None:
    """Of what a file in the folder links to. own: the addresses of pages by their files."""
    if href.startswith("#") or _OUTSIDE.match(href):
        return href
    found = _PAGE_LINK.fullmatch(href)
    page = own.get((folder / found["file"]).resolve()) if found else None
    return page + (found["anchor"] or "") if found and page else None
