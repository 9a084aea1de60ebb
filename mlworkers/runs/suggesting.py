"""The kinds of run that fit a dataset's state, for the page "Start a run"."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef

from curation.models import Dataset, Pair, PooledSentence, ScoreSet
from mlworkers.models import Artifact
from mlworkers.plans.kinds import Kind

MOST = 3


def kinds_suggested(dataset: Dataset, kinds: Iterable[Kind]) -> list[Kind]:
    """At most three of these kinds that fit the dataset, in their order. One query."""
    facts = facts_about(dataset)
    return [kind for kind in kinds if kind.fits and all(holds(fact, facts) for fact in kind.fits)][:MOST]


def holds(fact: str, facts: dict[str, bool]) -> bool:
    """Whether a fact of `Kind.fits` is true. Raises KeyError for one that `facts_about` does not know."""
    return not facts[fact.removeprefix("no ")] if fact.startswith("no ") else facts[fact]


def facts_about(dataset: Dataset) -> dict[str, bool]:
    """pairs, pooled (single sentences to pair), generated (pairs by a model), scored (by people or a file), p_d,
    generator and encoder (trained on this dataset).
    """
    of_dataset = {"dataset": OuterRef("pk")}
    pairs = Pair.objects.filter(**of_dataset)
    sets = ScoreSet.objects.offered().filter(**of_dataset)
    models = Artifact.objects.filter(run__dataset=OuterRef("pk"), removed_at=None)
    of_people = (ScoreSet.Kind.HUMAN, ScoreSet.Kind.REFERENCE)
    asked: dict[str, Any] = {
        "pairs": pairs,
        "pooled": PooledSentence.objects.filter(**of_dataset),
        "generated": pairs.filter(origin=Pair.Origin.GENERATED),
        "scored": sets.filter(kind__in=of_people),
        "p_d": sets.filter(kind=ScoreSet.Kind.REALISM),
        "generator": models.filter(kind="generator"),
        "encoder": models.filter(kind="encoder"),
    }
    found = (
        Dataset.objects.filter(pk=dataset.pk).values_list(*(Exists(rows) for rows in asked.values())).get()
    )
    return {name: bool(there) for name, there in zip(asked, found, strict=True)}
