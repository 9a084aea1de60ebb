"""What mkdocs asks while it builds docs/guide (`make guide`): groups, the first page, anchors, and links that lead out.

As in the site, a link to a file of the source code that is no page of the guide becomes plain words.
"""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from semblance.guide.contents import Group  # noqa: E402  (found by the line above)
from semblance.guide.rendering import heading_anchor, page_groups, page_read  # noqa: E402

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

GUIDE = ROOT / "docs" / "guide"
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
FIRST = "index.md"


def paths(group: Group, pages: dict[str, Path]) -> list[str]:
    return [f"{group.folder}/{name}.md" for name in pages]


def on_config(config: "MkDocsConfig") -> "MkDocsConfig":
    config.nav = [
        {"Guide": FIRST},
        *({group.title: paths(group, pages)} for group, pages in page_groups(GUIDE)),
    ]
    config.mdx_configs["toc"] = {"slugify": lambda text, _separator: heading_anchor(text)}
    return config


def on_files(files: "Files", *, config: "MkDocsConfig") -> "Files":
    from mkdocs.structure.files import File  # noqa: PLC0415  (a test reads this file without mkdocs)

    lines = ["# The guide of Semblance\n"]
    for group, pages in page_groups(GUIDE):
        titles = [page_read(name, page_address=str, image_address=str, folder=GUIDE).title for name in pages]
        lines += [f"\n## {group.title}\n"]
        lines += [f"* [{title}]({path})" for title, path in zip(titles, paths(group, pages), strict=True)]
    files.append(File.generated(config, FIRST, content="\n".join(lines)))
    return files


def on_page_markdown(markdown: str, *, page: "Page", **_more: object) -> str:
    folder = (GUIDE / page.file.src_uri).parent

    def kept(link: re.Match[str]) -> str:
        leads_to = (folder / link[2]).resolve()
        return link[0] if leads_to.is_relative_to(GUIDE) else link[1]

    return LINK.sub(kept, markdown)
