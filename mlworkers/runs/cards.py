"""What a model's card says, in each of its forms: its row in a comparison, its base, its snapshot, its seed."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from mlworkers.models import Artifact, Run
from mlworkers.plans.settings import Text
from mlworkers.science.paraphrasing.disclosure import benchmarks_in

MODEL_KIND_LABELS: dict[str, Text] = {
    "encoder": gettext_lazy("Encoder"),
    "generator": gettext_lazy("Generator"),
    "labeller": gettext_lazy("Scorer"),
    "context_model": gettext_lazy("Model for contexts"),
    "discriminative_model": gettext_lazy("Discriminative model"),
    "paraphraser": gettext_lazy("Paraphraser"),
    "classifier": gettext_lazy("Classifier"),
}


@dataclass(frozen=True)
class Card:
    """What a reader wants to know of a model. Empty or None: its run did not say.

    circular: whether its weights are made from a p_y that learned from the target similarities themselves.
    """

    name: str
    label: str
    base: str
    seed: int | None
    snapshot: int | None
    circular: bool = False


def benchmarks_of(run: Run) -> list[str]:
    """The benchmarks whose labels chose what the figures of a run are of."""
    return benchmarks_in(run.result.get("labels_from", ""))


def card_of(artifact: Artifact) -> Card:
    """From the artefact's own card, and where that is silent from its run's plan and result."""
    run = artifact.run
    taken = {"snapshot": run.result["snapshot"]} if run.result.get("snapshot") else {}
    facts: dict[str, Any] = {**run.plan, **taken, **artifact.card}
    label = str(facts.get("label") or facts.get("weighting") or "")
    seed = _whole(facts.get("seed"))
    kind = MODEL_KIND_LABELS.get(artifact.kind, artifact.kind)
    if not label:
        name = _("%(kind)s of run %(run)s")
    else:
        name = _("%(label)s, run %(run)s") if seed is None else _("%(label)s, seed %(seed)s, run %(run)s")
    # Of a comparison over several source datasets, each has an encoder with that label and seed.
    shown = f"{artifact.card['source']}: {label}" if label and artifact.card.get("source") else label
    return Card(
        name=name % {"kind": kind, "label": shown, "run": artifact.run_id, "seed": seed},
        label=label,
        base=str(facts.get("base") or facts.get("model") or ""),
        seed=seed,
        snapshot=_whole(facts.get("snapshot")) or None,
        circular=bool(facts.get("consistency_circular")),
    )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
