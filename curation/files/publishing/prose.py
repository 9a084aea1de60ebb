"""A text with citations and tables, once as facts and then as Markdown and as LaTeX.

Names, questions and settings in it were typed by people: in both they stay text, whatever they hold.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from curation.files.publishing.references import Reference


@dataclass(frozen=True)
class Cited:
    """References in brackets; in_text: as a part of the sentence, with the year alone in brackets."""

    references: tuple[Reference, ...]
    in_text: bool = False


# A paragraph is made of texts and of references between them.
Inline = str | Cited


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    parts: Sequence[Inline]


@dataclass(frozen=True)
class Grid:
    """A table. key: of its label. Columns but the first `texts` are aligned as numbers."""

    key: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: int = 1


@dataclass(frozen=True)
class ToWrite:
    """What only a person can say, marked so that nobody overlooks it."""

    text: str


Block = Heading | Paragraph | Grid | ToWrite

TO_WRITE = "To be written: "
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~$]|&(?=#?\w+;))")
# At the beginning of a line: an item of a list, or the line under a heading.
_MARKDOWN_BEGINS = re.compile(r"^(\d{0,9})([-+=.)])")
_ADDRESS = re.compile(r"https?://[^\s<>\\]+")
# In Markdown that people wrote: HTML, pictures, and links that do not lead to a web page or a mail address.
_MARKDOWN_ALIVE = re.compile(
    r"(\\*)(<(?=[a-z/!?])|!(?=\[)|\](?=\(\s*(?!https?:|mailto:))|\](?=:))", re.IGNORECASE
)
LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "−": r"\ensuremath{-}",
    "×": r"\ensuremath{\times}", "±": r"\ensuremath{\pm}", "λ": r"\ensuremath{\lambda}",
    "ε": r"\ensuremath{\varepsilon}", "τ": r"\ensuremath{\tau}", "→": r"\ensuremath{\rightarrow}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}  # fmt: skip
_RIGHT_TO_LEFT = {"R", "AL"}
# Where a line of LaTeX may break in a word without its own place for that: after each eighth letter.
_LONG_WORD = re.compile(r"[0-9A-Za-z]{31,}")
_UNBROKEN = 8
_JOINERS = "\u200c\u200d"  # Persian and Indic words, and emoji, are written with them
# What escaped texts need before them.
LATEX_COMMANDS = r"""\providecommand{\semblancertl}[1]{#1}
\providecommand{\textquotedbl}{''}
"""
LATEX_HEAD = rf"""% A section to \input. Needs the packages booktabs and natbib; its references: references.bib.
% Compile with LuaLaTeX or XeLaTeX if the text holds other scripts than Latin. Text that runs from right to left is in
% \semblancertl{{...}}: define it as \RL of the package bidi, or as {{\textdir TRT #1}} in LuaLaTeX.
{LATEX_COMMANDS}"""


def plain(text: str) -> str:
    """The text on one line, without characters that show nothing or turn the direction of what stands beside them."""
    visible = (" " if character.isspace() else character for character in text)
    kept = (
        character
        for character in visible
        if character in _JOINERS or unicodedata.category(character) not in ("Cc", "Cf", "Cs")
    )
    return " ".join("".join(kept).split())


def cited_in(blocks: Iterable[Block]) -> list[Reference]:
    """Every reference once, by its short form."""
    found = {
        reference.key: reference
        for block in blocks
        if isinstance(block, Paragraph)
        for part in block.parts
        if isinstance(part, Cited)
        for reference in part.references
    }
    return sorted(found.values(), key=lambda each: each.short)


def as_markdown(blocks: Sequence[Block]) -> str:
    """With the list of references at the end."""
    parts = [_markdown(block) for block in blocks]
    if references := cited_in(blocks):
        listed = "\n".join(f"* {markdown_text(each.whole)}" for each in references)
        parts.append(f"## References\n\n{listed}")
    return "\n\n".join(parts) + "\n"


def as_latex(blocks: Sequence[Block]) -> str:
    """A section, whose citations are in `as_bibtex`."""
    return LATEX_HEAD + "\n" + "\n\n".join(_latex(block) for block in blocks) + "\n"


def as_bibtex(blocks: Sequence[Block]) -> str:
    return "\n\n".join(each.bibtex for each in cited_in(blocks)) + "\n"


def markdown_text(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", plain(text))


def markdown_paragraphs(text: str) -> str:
    """A text of several lines as text in Markdown; blank lines separate its paragraphs."""
    return "\n".join(
        _MARKDOWN_BEGINS.sub(r"\1\\\2", markdown_text(line)) for line in text.strip().splitlines()
    )


def markdown_address(address: str) -> str:
    """The address of a web page as a link; anything else as text."""
    return f"<{address}>" if _ADDRESS.fullmatch(address) else markdown_text(address)


def markdown_written(text: str) -> str:
    """Markdown that people wrote, as pages show it: HTML is text, pictures are links, and links lead to web pages and
    mail addresses alone.
    """
    shown = (
        character
        for character in text
        if character in f"\n\t{_JOINERS}" or unicodedata.category(character) not in ("Cc", "Cf", "Cs")
    )
    # Each sign after a backslash, if it does not stand after one.
    return _MARKDOWN_ALIVE.sub(
        lambda sign: sign[0] if len(sign[1]) % 2 else f"{sign[1]}\\{sign[2]}", "".join(shown)
    )


def latex_text(text: str) -> str:
    """Escaped; runs of letters that are written from right to left are in their own command. A word that is longer
    than half a line, such as a checksum, may be broken.
    """
    shown = plain(text)
    # Whether a character stands in a run from right to left: spaces and marks between such letters do.
    strong = [unicodedata.bidirectional(character) for character in shown]
    turned = [direction in _RIGHT_TO_LEFT for direction in strong]
    places = [place for place, is_turned in enumerate(turned) if is_turned]
    for start, end in pairwise(places):
        if "L" not in strong[start + 1 : end]:
            turned[start:end] = [True] * (end - start)
    runs = []
    for is_turned, run in groupby(zip(turned, shown, strict=True), key=lambda pair: pair[0]):
        escaped = "".join(LATEX.get(character, character) for _turned, character in run)
        runs.append(f"\\semblancertl{{{escaped}}}" if is_turned else escaped)
    return _LONG_WORD.sub(_breakable, "".join(runs))


def _breakable(word: re.Match[str]) -> str:
    parts = range(0, len(word[0]), _UNBROKEN)
    return r"\allowbreak{}".join(word[0][start : start + _UNBROKEN] for start in parts)


def _markdown(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {markdown_text(block.text)}"
        case Paragraph():
            return _joined(block.parts, markdown_text, _in_brackets)
        case ToWrite():
            return f"> **{TO_WRITE.strip()}** {markdown_text(block.text)}"
        case Grid():
            align = ["---"] * block.texts + ["---:"] * (len(block.header) - block.texts)
            lines = [block.header, align, *([markdown_text(cell) for cell in row] for row in block.rows)]
            table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
            return f"{table}\n\n*{markdown_text(block.caption)}*"


def _in_brackets(cited: Cited) -> str:
    if cited.in_text:
        named = (each.short.rsplit(", ", 1) for each in cited.references)
        return markdown_text(" and ".join(f"{names} ({year})" for names, year in named))
    return f"({markdown_text('; '.join(each.short for each in cited.references))})"


def _latex(block: Block) -> str:
    match block:
        case Heading():
            command = {1: "section", 2: "subsection"}.get(block.level, "subsubsection")
            return f"\\{command}{{{latex_text(block.text)}}}"
        case Paragraph():
            return _joined(block.parts, latex_text, _citep)
        case ToWrite():
            return f"\\textbf{{{TO_WRITE.strip()}}} {latex_text(block.text)}"
        case Grid():
            columns = "l" * block.texts + "r" * (len(block.header) - block.texts)
            header, *rows = (
                f"{' & '.join(map(latex_text, row))} \\\\" for row in (block.header, *block.rows)
            )
            lines = [
                r"\begin{table}[t]", r"\centering\small", f"\\begin{{tabular}}{{{columns}}}", r"\toprule", header,
                r"\midrule", *rows, r"\bottomrule", r"\end{tabular}",
                f"\\caption{{{latex_text(block.caption)}}}", f"\\label{{tab:{block.key}}}", r"\end{table}",
            ]  # fmt: skip
            return "\n".join(lines)


def _citep(cited: Cited) -> str:
    command = "citet" if cited.in_text else "citep"
    return f"\\{command}{{{','.join(each.key for each in cited.references)}}}"


def _joined(parts: Sequence[Inline], text: Callable[[str], str], citation: Callable[[Cited], str]) -> str:
    """The parts with one space between them, but before a mark that ends a sentence or a clause."""
    joined = ""
    for part in parts:
        shown = citation(part) if isinstance(part, Cited) else text(part)
        joined += shown if not joined or shown[:1] in ".,;:" else f" {shown}"
    return joined
