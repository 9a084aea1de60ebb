"""How long the documents are: words of README and of each group of the guide, and the length of sentences.

The last line has the words outside Reference and Evidence, and whether they are as few as they may be.

usage: docs/experiments/words.py [--long]       (--long: also the sentences over 40 words, and pages over their limit)

A word is what spaces separate, outside code blocks; the bars of a table are no words. Sentences are those of
paragraphs and lists: tables and headings have none.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from semblance.guide.contents import (  # noqa: E402  (found by the line above)
    MOST_WORDS,
    MOST_WORDS_IN_ALL,
    MOST_WORDS_READ,
    UNLIMITED,
)
from semblance.guide.rendering import page_groups  # noqa: E402

GUIDE = ROOT / "docs" / "guide"
LONGEST = 40  # words of a sentence


@dataclass(frozen=True)
class Document:
    name: str
    words: int
    paragraphs: list[list[str]]  # the sentences of each paragraph or point of a list

    @property
    def sentences(self) -> list[str]:
        return [sentence for paragraph in self.paragraphs for sentence in paragraph]

    @property
    def long(self) -> list[str]:
        return [sentence for sentence in self.sentences if len(sentence.split()) > LONGEST]


def document(path: Path) -> Document:
    prose = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^(?: {4}|\t)(?! *[*-]).*$", "", prose, flags=re.MULTILINE)
    prose = re.sub(r"!\[([^\]]*)\]\([^)]*\)|\[([^\]]*)\]\([^)]*\)", r"\1\2", prose)
    words = [word for word in re.sub(r"[|*#]|:?-{3,}:?", " ", prose).split() if re.search(r"\w", word)]
    return Document(path.stem, len(words), [found for found in paragraphs(prose) if found])


def paragraphs(prose: str) -> Iterator[list[str]]:
    running = [line for line in prose.splitlines() if not line.lstrip().startswith(("|", "#"))]
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )", "\n".join(running)):
        sentences = re.split(r"(?<=[.?!:])[*)”]*\s+(?=[A-Z*`“\[])", " ".join(block.split()))
        yield [sentence.strip("*- ") for sentence in sentences if len(sentence.split()) > 2]


def words_in_all() -> int:
    return sum(document(path).words for _group, pages in page_groups(GUIDE) for path in pages.values())


def words_read() -> int:
    """Words of the pages outside Reference and UNLIMITED."""
    return sum(
        document(path).words
        for group, pages in page_groups(GUIDE)
        if group.folder != "reference"
        for name, path in pages.items()
        if name not in UNLIMITED
    )


def limit_in_words(words: int, most: int) -> str:
    return f"{words:,} of at most {most:,} words, {'met' if words <= most else f'{words - most:,} too many'}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--long", action="store_true")
    asked = parser.parse_args()
    readme = document(ROOT / "README.md")
    rows = [("README", [readme])]
    rows += [
        (group.title, [document(path) for path in pages.values()]) for group, pages in page_groups(GUIDE)
    ]
    print(f"{'group':<14}{'pages':>6}{'words':>8}{'words a sentence':>18}{f'over {LONGEST}':>9}")
    for title, documents in rows:
        lengths = [len(sentence.split()) for each in documents for sentence in each.sentences]
        long = sum(len(each.long) for each in documents)
        words = sum(each.words for each in documents)
        print(f"{title:<14}{len(documents):>6}{words:>8}{mean(lengths):>18.1f}{long:>9}")
    print(f"guide: {limit_in_words(words_in_all(), MOST_WORDS_IN_ALL)}")
    print(f"outside Reference and Evidence: {limit_in_words(words_read(), MOST_WORDS_READ)}")
    if asked.long:
        for group, pages in page_groups(GUIDE):
            for each in map(document, pages.values()):
                if each.words > MOST_WORDS.get(group.folder, each.words) and each.name not in UNLIMITED:
                    print(
                        f"{group.folder}/{each.name}: {each.words} words, {MOST_WORDS[group.folder]} allowed"
                    )
                for sentence in each.long:
                    print(f"{group.folder}/{each.name}: {len(sentence.split())} words: {sentence[:100]}…")


if __name__ == "__main__":
    main()
