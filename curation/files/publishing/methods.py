"""The methods section of a paper about a dataset, from what the dataset holds. A part without data is left out.

What the data cannot know is marked for a person to write. The number of tuples in which a pair is and the number of
judgements of a tuple are separate numbers throughout: papers give the product of both under the name of one of them.
The text is `templates/methods.jinja`.
"""

from curation.files.publishing import references
from curation.files.publishing.facts import Publication
from curation.files.publishing.prose import Block, as_bibtex, as_latex, as_markdown
from curation.files.publishing.readme import reliability_stated
from curation.files.publishing.templates import template_blocks

MARKDOWN, LATEX, BIBTEX = "METHODS.md", "methods.tex", "references.bib"
_FILES_LISTED = 50


def methods_files(publication: Publication) -> dict[str, str]:
    """The section as Markdown and as LaTeX, and its references, by their names in a published folder."""
    blocks = methods_section(publication)
    return {MARKDOWN: as_markdown(blocks), LATEX: as_latex(blocks), BIBTEX: as_bibtex(blocks)}


def methods_section(publication: Publication) -> list[Block]:
    """The section, whose parts are those for which there are data."""
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
