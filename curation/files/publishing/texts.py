"""The texts of a published folder, each from its template in the folder `templates/`.

They are Jinja templates: this package knows no Django, and `str.format` has neither conditions nor loops. Jinja escapes
nothing, since no output is HTML: the template of a Markdown text writes `|text` after what people typed. A text that
becomes both Markdown and LaTeX (`methods.jinja`) calls `paragraph`, `grid` and so on, which make blocks of `prose`,
and `prose` escapes everything in them.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import jinja2

from curation.files.publishing import references
from curation.files.publishing.cards import (
    LICENCE_NOT_STATED,
    annotators_stated,
    authorship,
    licence_known,
    reliability_stated,
)
from curation.files.publishing.facts import UNASSIGNED, Configuration, Contents, Publication
from curation.files.publishing.metadata import cited_as, readme_metadata
from curation.files.publishing.prose import (
    Block,
    Cited,
    Grid,
    Heading,
    Paragraph,
    ToWrite,
    as_bibtex,
    as_latex,
    as_markdown,
    markdown_address,
    markdown_paragraphs,
    markdown_text,
    markdown_written,
    plain,
)
from curation.files.publishing.references import BY_KEY, DATA_STATEMENTS, Reference
from curation.pairs.inclusion import UNNAMED
from curation.pairs.judged_by import PEOPLE

STATEMENT = "DATA_STATEMENT.md"
_SOURCES_LISTED = 20
_ASKED = "> To answer: "
MARKDOWN, LATEX, BIBTEX = "METHODS.md", "methods.tex", "references.bib"
_FILES_LISTED = 50
# Around citations, after cells and after rows, in what a template gives to a block. `prose.plain` drops these
# characters from every text, so nothing that people typed can hold them.
_CITATION, _CELL, _ROW = "\x02", "\x03", "\x04"
_NO_MARKS = str.maketrans("", "", _CITATION + _CELL + _ROW)
# MTEB names languages by ISO 639-3 and script.
_LANGUAGES = {
    "af": "afr-Latn", "am": "amh-Ethi", "ar": "ara-Arab", "bn": "ben-Beng", "ca": "cat-Latn", "cs": "ces-Latn",
    "da": "dan-Latn", "de": "deu-Latn", "el": "ell-Grek", "en": "eng-Latn", "es": "spa-Latn", "et": "est-Latn",
    "eu": "eus-Latn", "fa": "fas-Arab", "fi": "fin-Latn", "fr": "fra-Latn", "gl": "glg-Latn", "ha": "hau-Latn",
    "he": "heb-Hebr", "hi": "hin-Deva", "hu": "hun-Latn", "id": "ind-Latn", "it": "ita-Latn", "ja": "jpn-Jpan",
    "ko": "kor-Hang", "lt": "lit-Latn", "lv": "lav-Latn", "mr": "mar-Deva", "nl": "nld-Latn", "no": "nor-Latn",
    "pa": "pan-Guru", "pl": "pol-Latn", "pt": "por-Latn", "ro": "ron-Latn", "ru": "rus-Cyrl", "rw": "kin-Latn",
    "sk": "slk-Latn", "sl": "slv-Latn", "sv": "swe-Latn", "sw": "swa-Latn", "ta": "tam-Taml", "te": "tel-Telu",
    "th": "tha-Thai", "tr": "tur-Latn", "uk": "ukr-Cyrl", "ur": "urd-Arab", "vi": "vie-Latn", "zh": "zho-Hans",
}  # fmt: skip
_UNKNOWN = "und-Zyyy"


def readme(publication: Publication, contents: Contents) -> str:
    """The text with its YAML metadata, as the Hugging Face hub and `datasets` read it."""
    pairs = (each.files for each in contents.configurations if each.name in ("scored", "unscored"))
    generated = contents.origins.get("generated", 0)
    written = authorship(
        chosen=publication.chosen or UNNAMED.value,
        people=contents.pairs - generated,
        kept=generated - contents.unreviewed,
        unreviewed=contents.unreviewed,
    )
    return template_text(
        "readme.md.jinja",
        publication=publication,
        contents=contents,
        metadata=readme_metadata(publication, contents),
        divided=len({split for files in pairs for split in files} - {UNASSIGNED}) > 1,
        written=written,
        reliability_stated=reliability_stated,
        annotators_stated=annotators_stated,
        markdown_text=markdown_text,
        LICENCE_NOT_STATED=LICENCE_NOT_STATED,
    )


def data_statement(publication: Publication, contents: Contents) -> str:
    """A data statement (Bender and Friedman 2018): what the data know, and questions for what only people know.

    Markdown with the headings of the paper. A line that begins with “To answer” is for the curators to replace.
    """
    return template_text(
        "data_statement.md.jinja",
        publication=publication,
        contents=contents,
        annotators_stated=annotators_stated,
        markdown_text=markdown_text,
        DATA_STATEMENTS=DATA_STATEMENTS,
        SOURCES_LISTED=_SOURCES_LISTED,
    )


def questions(statement: str) -> list[str]:
    """What a data statement still asks."""
    return [line.removeprefix(_ASKED) for line in statement.splitlines() if line.startswith(_ASKED)]


def methods_files(publication: Publication) -> dict[str, str]:
    """The section as Markdown and as LaTeX, and its references, by their names in a published folder."""
    blocks = methods_section(publication)
    return {MARKDOWN: as_markdown(blocks), LATEX: as_latex(blocks), BIBTEX: as_bibtex(blocks)}


def methods_section(publication: Publication) -> list[Block]:
    """The methods section of a paper about a dataset. A part without data is left out.

    What the data cannot know is marked for a person to write. The number of tuples in which a pair is and the number
    of judgements of a tuple are separate numbers throughout: papers give the product of both under the name of one.
    """
    return template_blocks(
        "methods.jinja",
        publication=publication,
        making=publication.making,
        by_people=not all(
            each.imported or each.simulated == each.annotators for each in publication.collections
        ),
        reliability_stated=reliability_stated,
        FILES_LISTED=_FILES_LISTED,
        **{name: value for name, value in vars(references).items() if name.isupper()},
    )


def mteb_task(publication: Publication, scored: Configuration) -> str:
    """A task of MTEB (Muennighoff et al. 2023) with the pairs of the split `test`, or of all splits if it is missing.

    Python. The scores are those of `scored` with the bounds of their scale, as `sentence1`, `sentence2` and `score`.
    """
    class_name = "".join(word.capitalize() for word in re.findall(r"[a-zA-Z0-9]+", publication.slug))
    licence = licence_known(publication.licence).hub
    return template_text(
        "mteb_task.py.jinja",
        publication=publication,
        # The title must not end the docstring that it is in.
        title=" ".join(plain(publication.name).replace("\\", " ").replace('"', "'").split()),
        class_name=class_name if class_name[:1].isalpha() else f"Dataset{class_name}",
        splits=["test"] if "test" in scored.files else list(scored.files),
        language=mteb_language(publication.language),
        licence="not specified" if licence in ("other", "unknown") else licence,
        citation=cited_as(publication),
        PEOPLE=PEOPLE,
    )


def mteb_language(tag: str) -> str:
    """How MTEB names the language of a BCP-47 tag, "und-Zyyy" if this does not know it."""
    language, *rest = tag.split("-")
    known = _LANGUAGES.get(language.lower(), _UNKNOWN)
    script = next((part.title() for part in rest if len(part) == 4 and part.isalpha()), "")
    name, usual = known.split("-")
    return f"{language.lower() if len(language) == 3 and known == _UNKNOWN else name}-{script or usual}"


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
