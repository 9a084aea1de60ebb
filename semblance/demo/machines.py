"""The second half: from labelled pairs to synthetic ones, p_D, review, and encoders that are compared."""

from datetime import datetime
from typing import Any

from curation.models import Dataset, User
from semblance.demo.accounts import members_add, simulated_users
from semblance.demo.curators import pairs_review
from semblance.demo.importing import LATENT
from semblance.demo.plan import DemoPlan
from semblance.demo.stages import Stages

BASE = "packaged:all-MiniLM-L6-v2"
LABELS = ("base", "plain", "realism", "filter", "random")  # a database may keep them in an order of its own
FIGURES = ("spearman", "low", "high")


def encoders_from_machines(
    plan: DemoPlan, dataset: Dataset, *, by: User, at: datetime, stages: Stages
) -> dict[str, Any]:
    """Train a generator on the labelled pairs, let it write pairs, weigh them, review the least real, and compare.

    Returns the figures; `encoders` has of each row of the comparison its Spearman correlation with the known
    relatedness, and its interval.
    """
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
        curators = simulated_users("simulated-curator", plan.curators)
        members_add(dataset=dataset, curators=curators)
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
    encoders = comparison.result["encoders"]
    return {
        **{name: generation.result[name] for name in ("generated", "kept")},
        "realism_auc": realism.result["auc"],
        **{name: realism.result[name] for name in ("median_p_human", "median_p_machine")},
        "reviewed": reviewed,
        "encoders": {label: {name: encoders[label][name] for name in FIGURES} for label in LABELS},
    }
