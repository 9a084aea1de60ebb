"""The second half: from labelled pairs to synthetic ones, p_D, review, and encoders that are compared."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from curation.models import Dataset, User
from mlworkers.models import Run
from semblance.demo.accounts import simulated_curators
from semblance.demo.curators import pairs_review
from semblance.demo.importing import LATENT
from semblance.demo.plan import DemoPlan
from semblance.demo.stages import Stages

BASE = "packaged:all-MiniLM-L6-v2"
LABELS = ("base", "plain", "realism", "filter", "random")  # a database may keep them in an order of its own
FIGURES = ("spearman", "low", "high")


@dataclass(frozen=True)
class MachineRuns:
    """The runs of the second half, and how many pairs were reviewed."""

    generation: Run
    realism: Run
    reviewed: int
    comparison: Run

    def figures(self) -> dict[str, Any]:
        generated, realism = self.generation.result, self.realism.result
        encoders = self.comparison.result["encoders"]
        return {
            "generated": generated["generated"],
            "kept": generated["kept"],
            "realism_auc": realism["auc"],
            "median_p_human": realism["median_p_human"],
            "median_p_machine": realism["median_p_machine"],
            "reviewed": self.reviewed,
            "encoders": {label: {name: encoders[label][name] for name in FIGURES} for label in LABELS},
        }


def encoders_from_machines(
    plan: DemoPlan, dataset: Dataset, *, by: User, at: datetime, stages: Stages
) -> MachineRuns:
    """Train a generator on the labelled pairs, let it write pairs, weigh them, review the least real, and compare."""
    about: dict[str, Any] = {"by": by, "dataset": dataset.slug}
    generator = stages.run(
        "Train generator",
        kind="bootstrap_generator",
        score_set=LATENT,
        layers=plan.generator_layers,
        width=plan.generator_width,
        steps=plan.generator_steps,
        batch=16,
        learning_rate=3e-3,
        seed=plan.seed,
        **about,
    )
    generation = stages.run(
        "Generate pairs",
        kind="generate_pairs",
        model=f"run:{generator.pk}",
        sources=plan.sources,
        most_rows=plan.most_rows,
        shard_sources=20,
        seed=plan.seed,
        **about,
    )
    realism = stages.run(
        "Score realism", kind="score_realism", run=generation.pk, model=BASE, seed=plan.seed, **about
    )
    p_d = dataset.score_sets.get(name=realism.result["score_set"])
    with stages.open("Review (simulated curators)") as report:
        curators = simulated_curators(dataset, plan.curators)
        reviewed = pairs_review(plan, p_d, curators=curators, at=at, report=report)
    comparison = stages.run(
        "Train and compare encoders",
        kind="compare_weightings",
        model=BASE,
        scores=generation.result["score_set"],
        realism=p_d.name,
        epochs=1,
        seeds=1,
        first_seed=plan.seed,
        test_score_set=LATENT,
        test_split="test",
        **about,
    )
    return MachineRuns(generation, realism, reviewed, comparison)
