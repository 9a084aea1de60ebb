"""The work and the room of runs that score generated sentences and pairs."""

from curation.models import Dataset, Sentence
from mlworkers.pipelines import paces
from mlworkers.pipelines.work import scored
from mlworkers.science.consistency.plan import ConsistencyPlan
from mlworkers.science.realism.plan import ClassifierKind, RealismPlan


def realism(plan: RealismPlan, dataset: Dataset) -> int:
    """Rejected pairs are counted too: a review during the run must not change what it says it did."""
    written = dataset.pairs.filter(run_ref=plan.run)
    machines = written.values("b").distinct().count()
    people = dataset.sentences.filter(origin=Sentence.Origin.HUMAN).count()
    sentences = machines + (min(people, plan.most_humans) if plan.most_humans else people) if machines else 0
    return sentences * (plan.epochs if plan.classifier == ClassifierKind.FINE_TUNED else 1)


def weights(plan: RealismPlan) -> int:
    """The head that is trained on vectors is small, and counts as nothing."""
    return paces.weights_size(plan.model) if plan.classifier == ClassifierKind.FINE_TUNED else 0


def realism_room(plan: RealismPlan, work: int, scaled: int) -> tuple[int, int] | None:
    """A vector of every sentence, or the checkpoints of a fine-tuned classifier; and the file of scores."""
    if plan.classifier == ClassifierKind.HEAD:
        needed = paces.FLOAT * work * paces.hidden_size(plan.model)
    else:
        needed = weights(plan) * paces.OPTIMIZER
    return (scaled, needed) if needed else None


def consistency(plan: ConsistencyPlan, dataset: Dataset) -> int:
    of_machines = scored(dataset, plan.scores)
    if not plan.human_scores:
        return of_machines
    return of_machines + scored(plan.human_dataset or dataset, plan.human_scores, split=plan.human_split)
