"""A data statement (Bender and Friedman 2018): what the data know, and questions for what only people know."""

from collections.abc import Sequence

from curation.files.publishing.facts import Collection, Contents, Publication
from curation.files.publishing.making import PairsFrom
from curation.files.publishing.prose import (
    markdown_address,
    markdown_paragraphs,
    markdown_text,
    markdown_written,
)
from curation.files.publishing.readme import annotators_stated, listed
from curation.files.publishing.references import DATA_STATEMENTS

FILE = "DATA_STATEMENT.md"
_SOURCES_LISTED = 20


def data_statement(publication: Publication, contents: Contents) -> str:
    """Markdown with the headings of the paper. A line that begins with “To answer” is for the curators to replace."""
    campaigns = publication.collections
    sections = {
        "Curation rationale": [
            markdown_paragraphs(publication.description)
            or _ask("Why were these pairs chosen, and for what?"),
            f"Pairs by how they came into the dataset: {_counted(contents)}.",
            _selected(publication.making.selection),
            _ask("How were the sentences and the pairs selected, and what was left out?"),
        ],
        "Language variety": [
            f"BCP-47: {markdown_text(publication.language or 'not stated')}.",
            _ask("Which dialect, register and script are the sentences in?"),
        ],
        "Speaker demographic": [
            "Some sentences were written by a language model; `sentence1_origin` and `sentence2_origin` say which."
            if contents.machine
            else "No sentence is recorded as written by a machine.",
            _ask("Who wrote the sentences: age, gender, first languages, training, and how many people?"),
        ],
        "Annotator demographic": [
            *(
                f"“{markdown_text(each.name)}”: {annotators_stated(each, escaped=markdown_text)}."
                for each in campaigns
            ),
            _ask(
                "Who judged: age, gender, first languages, training, how they were recruited and what they were paid?"
            ),
        ],
        "Speech situation": [
            *_collected(campaigns),
            _ask("When, where and for whom were the sentences written; were they edited or spontaneous?"),
        ],
        "Text characteristics": [
            f"{contents.pairs:,} pairs of sentences.",
            _ask("Which genres and topics, and what in the texts may offend or identify people?"),
        ],
        "Recording quality": ["Written text; there are no recordings."],
        "Other": [
            "The scores were given under these instructions:"
            if any(each.guidelines for each in campaigns)
            else "",
            *(
                f"“{markdown_text(each.name)}”:\n\n{_quoted(each.guidelines)}"
                for each in campaigns
                if each.guidelines
            ),
            _ask("Was the study reviewed by an ethics board, and how did annotators consent?"),
        ],
        "Provenance appendix": [
            f"Source: {markdown_address(publication.address)}"
            if publication.address
            else _ask("Which datasets do the sentences come from?"),
            f"Licence: {markdown_text(publication.licence)}"
            if publication.licence
            else _ask("Under which licence may the data be used?"),
        ],
    }
    head = f"# Data statement for {markdown_text(publication.name)}\n\nAfter {DATA_STATEMENTS.whole}"
    parts = (f"## {name}\n\n" + "\n\n".join(filter(None, lines)) for name, lines in sections.items())
    return "\n\n".join((head, *parts)) + "\n"


def questions(statement: str) -> list[str]:
    """What a data statement still asks."""
    return [line.removeprefix(_ASKED) for line in statement.splitlines() if line.startswith(_ASKED)]


_ASKED = "> To answer: "


def _ask(question: str) -> str:
    return f"{_ASKED}{question}"


def _counted(contents: Contents) -> str:
    return ", ".join(f"{origin} {count:,}" for origin, count in sorted(contents.origins.items()))


def _selected(selection: Sequence[PairsFrom]) -> str:
    """The pairs of each source, with the strategy or subset by which they were chosen; the largest first."""
    if not selection:
        return ""
    most = sorted(selection, key=lambda each: -each.pairs)[:_SOURCES_LISTED]
    told = listed(
        f"{markdown_text(each.source) or 'source not stated'}, {markdown_text(each.strategy or each.origin)}: "
        f"{each.pairs:,}"
        for each in most
    )
    more = len(selection) - len(most)
    return f"Pairs by source and strategy or subset:\n\n{told}" + (f"\n* {more:,} more" if more else "")


def _collected(campaigns: Sequence[Collection]) -> list[str]:
    dated = [each for each in campaigns if each.began is not None]
    return (
        [
            listed(
                f"“{markdown_text(each.name)}” was judged from {each.began} to {each.ended}."
                for each in dated
            )
        ]
        if dated
        else []
    )


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in markdown_written(text).splitlines())
