"""What a dataset's page answers at a glance: where the pairs come from, their splits, and how human-like they sound."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from curation.models import Dataset, Pair, ScoreSet, Sentence, SentenceScore

NAMED = 4  # sources and splits that are named; the others are counted
# Larger datasets are described after the page, which shows the table of pairs at once.
DESCRIBED_AT_ONCE = 20_000


@dataclass(frozen=True)
class Part:
    """A source or a split, "" where the pairs name none, and how many active pairs it has."""

    name: str
    pairs: int


@dataclass(frozen=True)
class Parts:
    """The largest parts, the largest first, and how many others there are with how many pairs together."""

    named: Sequence[Part]
    others: int
    pairs_of_others: int

    @classmethod
    def of(cls, counted: Sequence[Part]) -> "Parts":
        ordered = sorted(counted, key=lambda part: (-part.pairs, part.name))
        # One other would take as much room as its name.
        named = ordered if len(ordered) == NAMED + 1 else ordered[:NAMED]
        rest = ordered[len(named) :]
        return cls(named, len(rest), sum(part.pairs for part in rest))


@dataclass(frozen=True)
class HumanLikeness:
    """The median p_D, 0..1, of the machine-written sentences that the newest p_D scores hold, and their number."""

    score_set: ScoreSet
    median: float
    sentences: int


@dataclass(frozen=True)
class Overview:
    active: int
    sources: Parts
    splits: Parts
    human_likeness: HumanLikeness | None


def dataset_overview(dataset: Dataset) -> Overview:
    rows = list(
        Pair.objects.filter(dataset=dataset, status=Pair.Status.ACTIVE)
        .order_by()
        .values_list("source", "split")
        .annotate(pairs=Count("pk"))
    )
    counted: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for *names, pairs in rows:
        for name, counts in zip(names, counted, strict=True):
            counts[name] = counts.get(name, 0) + pairs
    sources, splits = (Parts.of([Part(*each) for each in counts.items()]) for counts in counted)
    likeness = None
    sets = dataset.score_sets.offered().filter(kind=ScoreSet.Kind.REALISM)
    newest = sets.order_by("-created_at", "-pk").first()
    if newest is not None:
        scores = SentenceScore.objects.filter(score_set=newest, sentence__origin=Sentence.Origin.MACHINE)
        if sentences := scores.count():
            # Of an even number the median is the mean of the two in the middle.
            ordered = scores.order_by("value").values_list("value", flat=True)
            two = list(ordered[(sentences - 1) // 2 : sentences // 2 + 1])
            likeness = HumanLikeness(newest, sum(two) / len(two), sentences)
    return Overview(
        active=sum(pairs for *_names, pairs in rows),
        sources=sources,
        splits=splits,
        human_likeness=likeness,
    )


def described_at_once(dataset: Dataset) -> bool:
    """Whether the dataset is small enough to be described while its page is drawn."""
    return not dataset.pairs.order_by()[DESCRIBED_AT_ONCE : DESCRIBED_AT_ONCE + 1].exists()
