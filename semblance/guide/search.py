"""Search in the guide. Pure: pages in, sections out."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import unescape

from semblance.guide.rendering import Page

_SHOWN_BEFORE = 60  # characters of the text before the first word that was looked for
_BLOCKS = re.compile(r"</?(?:blockquote|br|div|h\d|li|ol|p|pre|t[a-z]+|ul)\b[^>]*>")
_HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)


@dataclass(frozen=True)
class Section:
    """A part of a page between two headings. anchor, heading: "" for the part before the first one."""

    page: str
    title: str
    anchor: str
    heading: str
    text: str

    @cached_property
    def headings_folded(self) -> str:
        return f"{self.title} {self.heading}".casefold()

    @cached_property
    def text_folded(self) -> str:
        return self.text.casefold()


@dataclass(frozen=True)
class Found:
    section: Section
    excerpt: str


_ENDING = re.compile(r"(?<=\w{4})(ings?|ed|s)$")


def sections_of(pages: Iterable[Page]) -> list[Section]:
    found = []
    for page in pages:
        parts = ["", "", *_HEADING.split(page.body)]
        for anchor, heading, body in zip(parts[0::3], parts[1::3], parts[2::3], strict=True):
            found.append(Section(page.name, page.title, anchor, _text(heading), _text(body)))
    return found


def search(sections: Iterable[Section], query: str) -> Sequence[Found]:
    """The sections that have every word of the query, those with more of the words in their headings first.

    “withdrawing” finds “withdraw” and “withdrawn”: endings are cut off, and what remains may stand in a longer word.
    """
    words = [_ENDING.sub("", word) for word in query.casefold().split()]
    if not words:
        return []
    ranked = []
    for place, section in enumerate(sections):
        if all(word in section.headings_folded or word in section.text_folded for word in words):
            in_headings = sum(word in section.headings_folded for word in words)
            times = sum(section.text_folded.count(word) for word in words)
            ranked.append((-in_headings, -times, place, section))
    return [Found(section, _excerpt(section, words)) for *_rank, section in sorted(ranked)]


def _excerpt(section: Section, words: Sequence[str]) -> str:
    places = [section.text_folded.find(word) for word in words]
    first = min((place for place in places if place >= 0), default=0)
    begin = section.text.rfind(" ", 0, max(0, first - _SHOWN_BEFORE)) + 1
    return ("… " if begin else "") + section.text[begin:]


def _text(html: str) -> str:
    apart = _BLOCKS.sub(" ", html)  # words of two blocks are two words
    return " ".join(unescape(re.sub(r"<[^>]+>", "", apart)).split())
