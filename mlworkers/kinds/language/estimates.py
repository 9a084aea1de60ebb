"""The work of an analysis of relatedness."""

from curation.models import Dataset
from mlworkers.pipelines.work import scored
from mlworkers.science.linguistics.relatedness.plan import RelatednessPlan


def relatedness(plan: RelatednessPlan, dataset: Dataset) -> int:
    return scored(dataset, plan.score_set, split=plan.split, generated_pairs=plan.generated_pairs.value)
