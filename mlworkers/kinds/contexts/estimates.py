"""The work of runs that train models for contexts and score pairs by contexts."""

from curation.models import Dataset, Pair
from mlworkers.science.contexts.discriminative_plan import DiscriminativePlan
from mlworkers.science.contexts.model_plan import ContextModelPlan
from mlworkers.science.contexts.scores_plan import ContextScoresPlan


def training(plan: ContextModelPlan | DiscriminativePlan, _dataset: Dataset) -> int:
    return plan.steps


def scoring(plan: ContextScoresPlan, dataset: Dataset) -> int:
    pairs = dataset.pairs.filter(status=Pair.Status.ACTIVE)
    counts = [(pairs.filter(split__in=plan.splits) if plan.splits else pairs).count()]
    if plan.dev_split:
        counts.append(pairs.filter(split=plan.dev_split).count())
    return sum(min(count, plan.most_pairs) if plan.most_pairs else count for count in counts)
