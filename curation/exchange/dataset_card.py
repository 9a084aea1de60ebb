"""The card of an exported file: what a reader must know who has nothing but the file."""

from collections.abc import Iterable
from pathlib import Path

from curation.exchange.exporting import ExportOutcome
from curation.files.drafts import FileError
from curation.files.publishing.cards import LICENCE_NOT_STATED, authorship
from curation.files.publishing.prose import markdown_address, markdown_paragraphs, markdown_text
from curation.files.writing import replacing
from curation.foundation.errors import errors_shown
from curation.models import Dataset, ScoreSet
from curation.pairs.judged_by import PEOPLE


def card_write(dataset: Dataset, outcome: ExportOutcome) -> Path:
    """Write the card beside the exported file, as its name and `-card.md`. Raises UserError where that cannot be.

    The licence stands here as well as in the file, which may have been asked for without it (`plain`).
    """
    path = outcome.path.with_name(f"{outcome.path.stem}-card.md")
    with errors_shown(FileError), replacing(path) as file:
        file.write(dataset_card(dataset, outcome).encode())
    return path


def dataset_card(dataset: Dataset, outcome: ExportOutcome) -> str:
    """Markdown. Says who wrote the sentences, who judged, and how many pairs nobody has reviewed."""
    written = authorship(
        chosen=outcome.generated_pairs,
        people=outcome.rows - outcome.generated,
        kept=outcome.generated - outcome.unreviewed,
        unreviewed=outcome.unreviewed,
    )
    facts = {
        "File": markdown_text(outcome.path.name),
        "Language": markdown_text(dataset.language or "not stated"),
        "Licence": markdown_text(dataset.licence or LICENCE_NOT_STATED),
        "Source": markdown_address(dataset.source_address or "not stated"),
        "Pairs": f"{outcome.rows:,}",
    }
    scores = []
    for one in ScoreSet.objects.filter(dataset=dataset, name__in=outcome.score_sets).order_by("pk"):
        judgements, by = one.parameters.get("judgements"), one.judged_by
        about = [
            f"{markdown_text(one.name)}: {one.get_kind_display()}",
            f"{one.low:g} to {one.high:g}",
            markdown_text(one.method),
            f"{judgements:,} judgements" if by and judgements else "",
            f"annotated by {by}" if by == PEOPLE else f"**annotated by {by}**" if by else "",
        ]
        scores.append(", ".join(filter(None, about)))
    return f"""# {markdown_text(dataset.name)}

{markdown_paragraphs(dataset.description) or "No description."}

{_listed(f"{name}: {value}" for name, value in facts.items())}

{written}
## Scores

{_listed(scores) or "None."}
"""


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"* {line}" for line in lines)
