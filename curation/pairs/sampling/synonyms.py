"""Which word stands for a word, so that synonyms count as shared words.

STR's SNLI subset replaces each word by its most frequent synonym in Roget's thesaurus (appendix A).
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from curation.pairs.text import words


class SynonymError(ValueError):
    """Synonyms cannot be read. The text is one sentence for a person, or follows the name of the file."""


@dataclass(frozen=True)
class Synonyms:
    """words: which word stands for a word; one that is not in it stands for itself. name: where they come from."""

    name: str
    words: Mapping[str, str]


def synonyms_listed(name: str, lines: Iterable[str]) -> Synonyms:
    """Synonyms of a list, with a checksum of what it says in their name. Raises SynonymError."""
    read = synonyms_read(lines)
    # Of the sorted pairs: lists that say the same have one name, whatever the order of their lines.
    digest = hashlib.sha256(repr(sorted(read.items())).encode()).hexdigest()
    return Synonyms(f"{name}: {len(read):,} words, SHA-256 {digest[:16]}", read)


def synonyms_read(lines: Iterable[str]) -> dict[str, str]:
    """Read lines of the form `word<TAB>synonym`, or with spaces between, as people type them.

    Empty lines and lines that begin with # are skipped.

    Both are words as `pairs.text.words` finds them, without case. Raises SynonymError for a line of another form, and
    for a word with two synonyms, since only one can stand for it.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [words(cell) for cell in line.strip().split("\t" if "\t" in line.strip() else None)]
        if len(cells) != 2 or any(len(cell) != 1 for cell in cells):
            raise SynonymError(f"line {number} is not a word, a tab and its synonym: “{line.strip()[:80]}”")
        (word,), (synonym,) = cells
        if found.setdefault(word, synonym) != synonym:
            raise SynonymError(
                f"line {number} gives “{word}” a second synonym, “{synonym}”; it has “{found[word]}”"
            )
    return found
