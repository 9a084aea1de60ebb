"""Which word stands for a word, so that synonyms count as shared words.

STR's SNLI subset replaces each word by its most frequent synonym in Roget's thesaurus (appendix A).
"""

from collections.abc import Iterable

from curation.pairs.text import words


class SynonymError(ValueError):
    """A line of a file of synonyms cannot be read."""


def synonyms_read(lines: Iterable[str]) -> dict[str, str]:
    """Read lines of the form `word<TAB>synonym`. Empty lines and lines that begin with # are skipped.

    Both are words as `pairs.text.words` finds them, without case. Raises SynonymError for a line of another form, and
    for a word with two synonyms, since only one can stand for it.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [words(cell) for cell in line.rstrip("\r\n").split("\t")]
        if len(cells) != 2 or any(len(cell) != 1 for cell in cells):
            raise SynonymError(f"line {number} is not a word, a tab and its synonym: “{line.strip()[:80]}”")
        (word,), (synonym,) = cells
        if found.setdefault(word, synonym) != synonym:
            raise SynonymError(
                f"line {number} gives “{word}” a second synonym, “{synonym}”; it has “{found[word]}”"
            )
    return found
