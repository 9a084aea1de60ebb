"""Which pairs a choice about machine-written sentences includes, and how many."""

from collections.abc import Mapping

from django.db.models import Case, CharField, Count, Exists, OuterRef, Q, QuerySet, Value, When
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.models import Dataset, Pair, ReviewDecision, Snapshot
from curation.pairs.inclusion import UNNAMED, Inclusion

_Verdict = ReviewDecision.Verdict


def included(choice: str) -> Q:
    """The pairs that a choice includes, as a condition. All that reads, exports or trains on pairs uses this one."""
    rejected, generated = Q(status=Pair.Status.REJECTED), Q(origin=Pair.Origin.GENERATED)
    if choice == Inclusion.HUMAN:
        return ~rejected & ~generated
    if choice == Inclusion.KEPT:
        return ~rejected & (~generated | _kept())
    return ~rejected


def _kept() -> Q:
    """A pair whose valid verdict is to keep its sentence, or that an edit made.

    A later pair with a sentence that was kept before has no verdict yet, so it is not among them. Second opinions do
    not count.
    """
    valid = ReviewDecision.objects.filter(undone_at=None, binding=True)
    kept = valid.filter(pair=OuterRef("pk"), verdict=_Verdict.KEEP)
    made = valid.filter(replacement=OuterRef("pk"), verdict=_Verdict.EDIT)
    return Q(Exists(kept)) | Q(Exists(made))


def verdict_of_pair() -> Case:
    """“kept” for a generated pair that “kept only” includes, “” for any other pair, as an expression."""
    kept = Q(origin=Pair.Origin.GENERATED) & _kept()
    return Case(When(kept, then=Value("kept")), default=Value(""), output_field=CharField())


def inclusion_counts(dataset: Dataset, *, among: QuerySet[Pair] | None = None) -> dict[Inclusion, int]:
    """How many pairs each choice includes. among: of these; None for the dataset's active pairs."""
    active = Pair.objects.filter(dataset=dataset, status=Pair.Status.ACTIVE) if among is None else among
    counted = active.aggregate(**{choice.name: Count("pk", filter=included(choice)) for choice in Inclusion})
    return {choice: counted[choice.name] for choice in Inclusion}


def inclusion_choices(counts: Mapping[Inclusion, int]) -> list[tuple[str, str]]:
    """The choices in words for forms, each with the number of pairs that it includes."""
    choices = []
    for choice, number in counts.items():
        pairs = ngettext("%(n)s pair", "%(n)s pairs", number) % {"n": f"{number:,}"}
        choices.append((choice.value, f"{inclusion_label(choice)}: {pairs}"))
    return choices


def inclusion_label(choice: str) -> str:
    labels = {
        Inclusion.ALL_BUT_REJECTED: _("all but rejected"),
        Inclusion.KEPT: _("kept only"),
        Inclusion.HUMAN: _("human only"),
    }
    return labels[Inclusion(choice)]


def snapshot_inclusion(snapshot: Snapshot) -> Inclusion:
    """The choice that a snapshot was made with."""
    return Inclusion(snapshot.filter.get("generated_pairs", UNNAMED))
