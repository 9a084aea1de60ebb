"""The work of runs that translate and label paraphrases."""

from curation.models import Dataset
from mlworkers.kinds.paraphrases.written_pairs import pairs_written
from mlworkers.pipelines.human_sentences import sources_drawn
from mlworkers.pipelines.work import active
from mlworkers.science.paraphrasing.plan import LabellingPlan
from mlworkers.science.paraphrasing.round_trip_plan import RoundTripPlan


def labelling(plan: LabellingPlan, dataset: Dataset) -> int:
    return active(pairs_written(dataset, plan.written_by), plan.split)


def round_trip(plan: RoundTripPlan, dataset: Dataset) -> int:
    """Translated sentences: there with each setting, and back with each combination."""
    sources = sources_drawn(dataset, plan.split, most=plan.sources, seed=plan.seed)
    return len(sources) * (len({trip.forward for trip in plan.trips}) + len(plan.trips))
