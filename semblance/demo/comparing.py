"""Encoders trained on people's scores and on the generated pairs, from MiniLM and from one that has learned nothing.

MiniLM orders the held-out pairs nearly right before any training, so its rows look alike. The small one starts low, so
that a comparison can show what training gives.
"""

from typing import Any

from curation.models import Dataset, ScoreSet, User
from mlworkers.kinds.comparisons.comparison import Cell, comparison_of
from mlworkers.kinds.comparisons.comparison_words import what_it_shows
from mlworkers.models import Run
from semblance.demo.plan import LATENT, DemoPlan, Stages

MINILM = "packaged:all-MiniLM-L6-v2"


def small_initialised(plan: DemoPlan, dataset: Dataset, *, by: User, stages: Stages) -> Run:
    """The run that makes an encoder of random weights."""
    return stages.run(
        "Initialise a small encoder",
        kind="initialise_encoder",
        layers=plan.small_layers,
        width=plan.small_width,
        seed=plan.seed,
        by=by,
        dataset=dataset.slug,
    )


def people_learned(plan: DemoPlan, published: ScoreSet, small: Run, *, by: User, stages: Stages) -> Run:
    """The comparison of the small encoder with itself after it was trained on the scores that people gave."""
    return stages.run(
        "Train on the published scores",
        model=f"run:{small.pk}",
        weightings="plain",
        epochs=plan.people_epochs,
        learning_rate=plan.small_rate,
        seeds=plan.small_seeds,
        **_shared(plan, published.dataset, scores=published.name, by=by),
    )


def encoders_compared(
    plan: DemoPlan, dataset: Dataset, *, scores: str, realism: str, small: Run, by: User, stages: Stages
) -> dict[str, Run]:
    """The comparisons of training on the generated pairs, from MiniLM and from the small encoder."""
    shared = _shared(plan, dataset, scores=scores, by=by) | {"realism": realism}
    minilm = stages.run("Compare encoders (MiniLM)", model=MINILM, epochs=1, seeds=1, **shared)
    from_small = stages.run(
        "Compare encoders (small)",
        model=f"run:{small.pk}",
        weightings="plain,realism",
        epochs=plan.small_epochs,
        learning_rate=plan.small_rate,
        seeds=plan.small_seeds,
        **shared,
    )
    return {"minilm": minilm, "small": from_small}


def _shared(plan: DemoPlan, dataset: Dataset, *, scores: str, by: User) -> dict[str, Any]:
    return {
        "kind": "compare_weightings",
        "scores": scores,
        "first_seed": plan.seed,
        "test_score_set": LATENT,
        "test_split": "test",
        "by": by,
        "dataset": dataset.slug,
    }


def compared(run: Run) -> dict[str, Any]:
    """The figures of a comparison, as its page reads them.

    encoders: of each row its Spearman correlation with the known relatedness, and the ends of its interval.
    differences: of two rows each, with the interval over pairs and seeds, and whether they differ, all differences of
    the comparison considered; none where the seeds are too few to judge one. shows: what the page says.
    """
    comparison = comparison_of(run.result, run.evaluations.all())
    differences = []
    if comparison.judged:
        differences = [
            # What training adds is plain minus the baseline model; the run has it the other way round.
            _difference("plain", "base", cell, sign=-1)
            if label == "base"
            else _difference(label, "plain", cell)
            for label, cell in comparison.cells()
            if cell.has_difference
        ]
        differences += [_difference(one.label, one.control, one.over_shuffle) for one in comparison.contrasts]
    return {
        "seeds": len(comparison.seeds),
        "encoders": {
            label: {"spearman": cell.mean, "low": cell.low, "high": cell.high}
            for label, cell in comparison.cells()
        },
        "differences": differences,
        "tests": comparison.tests,
        "shows": what_it_shows(comparison),
    }


def _difference(label: str, other: str, cell: Cell, *, sign: int = 1) -> dict[str, Any]:
    ends = sorted(sign * (end or 0.0) for end in (cell.difference_low, cell.difference_high))
    return {
        "of": label,
        "from": other,
        "difference": sign * (cell.difference or 0.0),
        "low": ends[0],
        "high": ends[1],
        "differs": cell.differs,
    }
