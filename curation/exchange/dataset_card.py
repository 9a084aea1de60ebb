"""The card of an exported file: what a reader must know who has nothing but the file."""

from collections.abc import Iterable

from curation.exchange.exporting import ExportOutcome
from curation.files.publishing.authorship import authorship
from curation.models import Dataset, ScoreSet


def dataset_card(dataset: Dataset, outcome: ExportOutcome) -> str:
    """Markdown. Says who wrote the sentences, and how many pairs nobody has reviewed."""
    written = authorship(
        chosen=outcome.generated_pairs,
        people=outcome.rows - outcome.generated,
        kept=outcome.generated - outcome.unreviewed,
        unreviewed=outcome.unreviewed,
    )
    facts = {
        "File": outcome.path.name,
        "Language": dataset.language or "not stated",
        "Licence": dataset.licence or "not stated; ask whoever holds the data",
        "Source": dataset.source_address or "not stated",
        "Pairs": f"{outcome.rows:,}",
    }
    sets = ScoreSet.objects.filter(dataset=dataset, name__in=outcome.score_sets).order_by("pk")
    return f"""# {dataset.name}

{dataset.description or "No description."}

{_listed(f"{name}: {value}" for name, value in facts.items())}

{written}
## Scores

{_listed(map(_scores, sets)) or "None."}
"""


def _scores(one: ScoreSet) -> str:
    method = f", {one.method}" if one.method else ""
    return f"{one.name}: {one.get_kind_display()}, {one.low:g} to {one.high:g}{method}"


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"* {line}" for line in lines)
