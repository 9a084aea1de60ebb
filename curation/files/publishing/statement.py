"""A data statement (Bender and Friedman 2018): what the data know, and questions for what only people know.

The text is `templates/data_statement.md.jinja`.
"""

from curation.files.publishing.facts import Contents, Publication
from curation.files.publishing.prose import markdown_text
from curation.files.publishing.readme import annotators_stated
from curation.files.publishing.references import DATA_STATEMENTS
from curation.files.publishing.templates import template_text

FILE = "DATA_STATEMENT.md"
_SOURCES_LISTED = 20
_ASKED = "> To answer: "


def data_statement(publication: Publication, contents: Contents) -> str:
    """Markdown with the headings of the paper. A line that begins with “To answer” is for the curators to replace."""
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
