"""The work of a run that judges tuples."""

from curation.models import Dataset
from mlworkers.science.judges.plan import JudgingPlan


def judging(plan: JudgingPlan, dataset: Dataset) -> int:
    block = dataset.tuple_blocks.filter(pk=plan.block).first()
    return 2 * len(block.tuples) if block else 0
