"""What a model's card says, in each of its forms: its row in a comparison, its base, its data, its seed."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from mlworkers.models import Artifact
from mlworkers.plans.settings import Text

MODEL_KIND_LABELS: dict[str, Text] = {
    "encoder": gettext_lazy("Encoder"),
    "generator": gettext_lazy("Generator"),
}


@dataclass(frozen=True)
class Card:
    """What a reader wants to know of a model. Empty or None: its run did not say."""

    name: str
    label: str
    base: str
    seed: int | None
    snapshot: int | None
    scores: str
    realism: str


def card_of(artifact: Artifact) -> Card:
    """From the artefact's own card, and where that is silent from its run's plan and result."""
    run = artifact.run
    facts: dict[str, Any] = {**run.plan, **_present(run.result, "snapshot"), **artifact.card}
    label = str(facts.get("label") or facts.get("weighting") or "")
    seed = _whole(facts.get("seed"))
    return Card(
        name=_name(artifact, label, seed),
        label=label,
        base=str(facts.get("base") or facts.get("model") or ""),
        seed=seed,
        snapshot=_whole(facts.get("snapshot")) or None,
        scores=str(facts.get("scores") or facts.get("score_set") or ""),
        realism=str(facts.get("realism") or ""),
    )


def _present(result: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: result[name] for name in names if result.get(name)}


def _name(artifact: Artifact, label: str, seed: int | None) -> str:
    words = {
        "kind": MODEL_KIND_LABELS.get(artifact.kind, artifact.kind),
        "label": label,
        "run": artifact.run_id,
        "seed": seed,
    }
    if not label:
        return _("%(kind)s of run %(run)s") % words
    if seed is None:
        return _("%(label)s, run %(run)s") % words
    return _("%(label)s, seed %(seed)s, run %(run)s") % words


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
