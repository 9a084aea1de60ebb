"""How much there is to do in a run, counted from the database alone: before the start for its estimate, and at its end
for the estimates of later runs. Nothing here imports a machine-learning library.
"""

from dataclasses import replace
from typing import Any

from django.db.models import QuerySet

from curation.datasets.inclusion import included
from curation.models import Dataset, Pair, PairScore
from mlworkers.plans.kinds import Kind
from mlworkers.runs.attempts import Pipeline
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.runs.presence import device_name
from mlworkers.science.encoders.contrastive.plan import Material, SharedContrast
from mlworkers.science.encoders.plan import SharedTraining


def work_of(kind: Kind, plan: Any, dataset: Dataset) -> int:
    """In a unit that is the same for every run of the kind; 0 where the kind has no estimate, or nothing to do."""
    return int(kind.function(kind.work)(plan, dataset)) if kind.work else 0


def pipeline_measured(kind: Kind) -> Pipeline:
    """The pipeline of a kind, whose result also says how much it did and on what device."""

    def does(plan: Any, job: Job) -> Outcome:
        outcome: Outcome = kind.function(kind.pipeline)(plan, job)
        work = work_of(kind, plan, job.dataset) if job.dataset else 0
        if not work:
            return outcome
        facts: dict[str, Any] = {"device": device_name()}
        # A preview does little of the work that its plan asks for.
        if "rows_of_the_run" not in outcome.result:
            facts["work"] = work
        return replace(outcome, result={**outcome.result, **facts})

    return does


def scored(dataset: Dataset | str, name: str, *, split: str = "", generated_pairs: str = "") -> int:
    """The active pairs that have a score in the set of that name."""
    of = {"dataset": dataset} if isinstance(dataset, Dataset) else {"dataset__slug": dataset}
    pairs: QuerySet[Pair] = Pair.objects.filter(status=Pair.Status.ACTIVE, **of)
    if split:
        pairs = pairs.filter(split=split)
    if generated_pairs:
        pairs = pairs.filter(included(generated_pairs))
    of_set = {f"score_set__{key}": value for key, value in of.items()}
    return PairScore.objects.filter(**of_set, score_set__name=name, pair__in=pairs).count()


def training_pairs(plan: SharedTraining, dataset: Dataset | str, scores: str) -> int:
    return scored(dataset, scores, split=plan.split, generated_pairs=plan.generated_pairs.value)


def originals(plan: SharedContrast, dataset: Dataset) -> int:
    """About how many examples there are, once for every epoch: pairs of the split, and sentences of the pool."""
    pairs = dataset.pairs.filter(status=Pair.Status.ACTIVE, split=plan.split)
    pairs = pairs.filter(included(plan.generated_pairs.value))
    pool = dataset.pool.count() if plan.pool and plan.material is Material.SENTENCES else 0
    return (pairs.count() + pool) * plan.epochs


def active(pairs: QuerySet[Pair], split: str) -> int:
    found = pairs.filter(status=Pair.Status.ACTIVE)
    return (found.filter(split=split) if split else found).count()
