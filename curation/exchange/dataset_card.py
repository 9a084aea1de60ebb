"""The card of an exported file: what a reader must know who has nothing but the file."""

from collections.abc import Iterable

from curation.exchange.exporting import ExportOutcome
from curation.models import Dataset, ScoreSet
from curation.pairs.inclusion import EXPLAINED


def dataset_card(dataset: Dataset, outcome: ExportOutcome) -> str:
    """Markdown. Says who wrote the sentences, and how many pairs nobody has reviewed."""
    people = outcome.rows - outcome.generated
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

## Who wrote the sentences

Generated pairs included: {outcome.generated_pairs}. {EXPLAINED}

* pairs that people made: {people:,}
* generated pairs that a curator kept or edited: {outcome.generated - outcome.unreviewed:,}
* generated pairs without a verdict: {outcome.unreviewed:,}

## Scores

{_listed(map(_scores, sets)) or "None."}
"""


def _scores(one: ScoreSet) -> str:
    method = f", {one.method}" if one.method else ""
    return f"{one.name}: {one.get_kind_display()}, {one.low:g} to {one.high:g}{method}"


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"* {line}" for line in lines)
