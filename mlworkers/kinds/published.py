"""Runs that measured encoders on a dataset, as a methods section tells them."""

from collections.abc import Sequence
from dataclasses import dataclass

from curation.files.publishing.facts import EncoderRun
from curation.models import Snapshot
from mlworkers.models import Run
from mlworkers.plans.kinds import KINDS

_MOST_RUNS = 20
_SETTINGS = {
    "model": "base", "scores": "trained on the scores", "weighting": "weighting", "realism": "p_D",
    "test_score_set": "tested on the scores", "score_set": "scores", "split": "split", "test_split": "test split",
    "loss": "loss", "epochs": "epochs", "batch_size": "batch size", "learning_rate": "learning rate", "seed": "seed",
}  # fmt: skip
# Pairs that were left out lest a test sentence be trained on.
_LEFT_OUT = {
    "held_out_left_out": "{:,} pairs were not trained on because they hold a sentence of another split.",
    "left_out": "{:,} pairs were not tested on because the encoder had seen one of their sentences.",
    "test_left_out": "{:,} test pairs were left out because the base had seen one of their sentences.",
}


@dataclass(frozen=True)
class Told:
    """A run in English, whatever the language of its reader.

    what: the run as a noun.
    header, rows: its table.
    notes: sentences below it.
    trained: whether the run trained encoders.
    realism: whether p_D weighted its training pairs.
    """

    what: str
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()
    trained: bool = True
    realism: bool = False


def encoder_runs(snapshot: Snapshot) -> tuple[list[EncoderRun], int]:
    """The newest runs that read this snapshot or an earlier one, the oldest first; and how many there are."""
    kinds = [kind.name for kind in KINDS.values() if kind.published]
    done = Run.objects.filter(dataset=snapshot.dataset, kind__in=kinds, state=Run.State.SUCCEEDED)
    read = done.filter(result__snapshot__lte=snapshot.number)
    newest = read.order_by("-pk").prefetch_related("evaluations")[:_MOST_RUNS]
    found = []
    for run in reversed(newest):
        kind = KINDS[run.kind]
        told: Told = kind.function(kind.published)(run)
        left_out = [
            sentence.format(run.result[name])
            for name, sentence in _LEFT_OUT.items()
            if isinstance(run.result.get(name), int) and run.result[name]
        ]
        settings = {
            shown: str(run.plan[name])
            for name, shown in _SETTINGS.items()
            if run.plan.get(name) not in (None, "")
        }
        found.append(
            EncoderRun(
                number=run.pk,
                what=told.what,
                snapshot=run.result.get("snapshot"),
                settings=settings,
                notes=[*told.notes, *left_out],
                header=told.header,
                rows=told.rows,
                trained=told.trained,
                realism=told.realism or run.plan.get("weighting") == "realism",
            )
        )
    return found, read.count()


def interval_in_words(
    value: float | None, low: float | None, high: float | None, *, signed: bool = False
) -> str:
    """With three digits, such as 0.812 (0.790 to 0.833)."""
    if value is None:
        return "–"
    sign = "+" if signed else ""
    shown = f"{value:{sign}.3f}"
    return shown if low is None or high is None else f"{shown} ({low:{sign}.3f} to {high:{sign}.3f})"
