"""The work, the amount in words and the room of runs of one encoder."""

from curation.models import Dataset, Pair
from mlworkers.pipelines import paces
from mlworkers.pipelines.work import active, originals, scored, training_pairs
from mlworkers.science.encoders.bands_plan import BandsPlan
from mlworkers.science.encoders.contrastive.plan import ContrastPlan
from mlworkers.science.encoders.cross_validation_plan import CrossValidationPlan, Method
from mlworkers.science.encoders.folds import Protocol
from mlworkers.science.encoders.index_plan import SentenceIndexPlan
from mlworkers.science.encoders.plan import EncoderPlan, EvaluationPlan
from mlworkers.science.encoders.scoring_plan import PairScoringPlan


def training(plan: EncoderPlan, dataset: Dataset) -> int:
    return training_pairs(plan, dataset, plan.scores) * plan.epochs


def weights(plan: EncoderPlan | ContrastPlan) -> int:
    return paces.weights_size(plan.model)


def training_room(plan: EncoderPlan, _work: int, _scaled: int) -> tuple[int, int] | None:
    size = weights(plan)
    return (size, size * paces.OPTIMIZER) if size else None


def contrast(plan: ContrastPlan, dataset: Dataset) -> int:
    sizes = plan.keep_originals + (plan.copies if plan.variant else 0)
    return round(originals(plan, dataset) * plan.share * sizes)


def evaluation(plan: EvaluationPlan, dataset: Dataset) -> int:
    return scored(dataset, plan.score_set, split=plan.split, generated_pairs=plan.generated_pairs.value)


def cross_validation(plan: CrossValidationPlan, dataset: Dataset) -> int:
    """Each pair once for every epoch of the trainings of every fold and seed, and for every method without training."""
    pairs = scored(dataset, plan.score_set, split=plan.split, generated_pairs=plan.generated_pairs.value)
    if Method.FINE_TUNED not in plan.chosen:
        return pairs * len(plan.chosen)
    sources = dataset.pairs.filter(status=Pair.Status.ACTIVE).values("source").distinct().count()
    folds = sum(sources if protocol is Protocol.SOURCES else plan.folds for protocol in plan.protocols_chosen)
    tried = plan.epochs_tried
    epochs = max(tried) + (sum(tried) if len(tried) > 1 else 0)
    return pairs * (folds * epochs * plan.seeds + len(plan.chosen) - 1)


def scoring(plan: PairScoringPlan, dataset: Dataset) -> int:
    return active(dataset.pairs.all(), plan.split)


def pool(_plan: BandsPlan, dataset: Dataset) -> int:
    return dataset.pool.count()


def index(_plan: SentenceIndexPlan, dataset: Dataset) -> int:
    return dataset.sentences.count()
