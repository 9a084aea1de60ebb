"""How much there is to do in a run, counted from the database alone: before the start for its estimate, and at its end
for the estimates of later runs. Nothing here imports a machine-learning library.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.db.models import QuerySet

from curation.datasets.inclusion import included
from curation.models import Dataset, Pair, PairScore, Sentence
from mlworkers.pipelines.human_sentences import sources_drawn
from mlworkers.pipelines.written_pairs import pairs_written
from mlworkers.runs.attempts import Pipeline
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.runs.presence import device_name
from mlworkers.science.consistency.plan import ConsistencyPlan
from mlworkers.science.contexts.discriminative_plan import DiscriminativePlan
from mlworkers.science.contexts.model_plan import ContextModelPlan
from mlworkers.science.contexts.scores_plan import ContextScoresPlan
from mlworkers.science.encoders.bands_plan import BandsPlan
from mlworkers.science.encoders.contrastive.plan import (
    AugmentationPlan,
    ContrastPlan,
    Material,
    SharedContrast,
)
from mlworkers.science.encoders.cross_validation_plan import CrossValidationPlan, Method
from mlworkers.science.encoders.folds import Protocol
from mlworkers.science.encoders.index_plan import SentenceIndexPlan
from mlworkers.science.encoders.plan import ComparisonPlan, EncoderPlan, EvaluationPlan, SharedTraining
from mlworkers.science.encoders.pre_fine_tuning.plan import PreFineTuningPlan
from mlworkers.science.encoders.pre_fine_tuning.tasks import SUBSET
from mlworkers.science.encoders.scoring_plan import PairScoringPlan
from mlworkers.science.encoders.search_plan import SearchPlan
from mlworkers.science.judges.plan import JudgingPlan
from mlworkers.science.linguistics.relatedness.plan import RelatednessPlan
from mlworkers.science.paraphrasing.corpora_plan import CorporaPlan
from mlworkers.science.paraphrasing.plan import LabellingPlan
from mlworkers.science.paraphrasing.round_trip_plan import RoundTripPlan
from mlworkers.science.realism.plan import ClassifierKind, RealismPlan
from mlworkers.science.synthesis.plan import BootstrapPlan, GenerationPlan


def work_of(plan: Any, dataset: Dataset) -> int:
    """In a unit that is the same for every run of the kind; 0 where the kind has no estimate, or nothing to do."""
    count = WORK.get(type(plan))
    return count(plan, dataset) if count else 0


def measured(pipeline: Pipeline) -> Pipeline:
    """The pipeline, whose result also says how much it did and on what device."""

    def does(plan: Any, job: Job) -> Outcome:
        outcome = pipeline(plan, job)
        work = work_of(plan, job.dataset) if job.dataset else 0
        if not work:
            return outcome
        facts: dict[str, Any] = {"device": device_name()}
        if (
            "rows_of_the_run" not in outcome.result
        ):  # a preview does little of the work that its plan asks for
            facts["work"] = work
        return replace(outcome, result={**outcome.result, **facts})

    return does


def _scored(dataset: Dataset | str, name: str, *, split: str = "", generated_pairs: str = "") -> int:
    """The active pairs that have a score in the set of that name."""
    of = {"dataset": dataset} if isinstance(dataset, Dataset) else {"dataset__slug": dataset}
    pairs: QuerySet[Pair] = Pair.objects.filter(status=Pair.Status.ACTIVE, **of)
    if split:
        pairs = pairs.filter(split=split)
    if generated_pairs:
        pairs = pairs.filter(included(generated_pairs))
    of_set = {f"score_set__{key}": value for key, value in of.items()}
    return PairScore.objects.filter(**of_set, score_set__name=name, pair__in=pairs).count()


def _training_pairs(plan: SharedTraining, dataset: Dataset | str, scores: str) -> int:
    return _scored(dataset, scores, split=plan.split, generated_pairs=plan.generated_pairs.value)


def _training(plan: EncoderPlan, dataset: Dataset) -> int:
    return _training_pairs(plan, dataset, plan.scores) * plan.epochs


def _originals(plan: SharedContrast, dataset: Dataset) -> int:
    """About how many examples there are, once for every epoch: pairs of the split, and sentences of the pool."""
    pairs = dataset.pairs.filter(status=Pair.Status.ACTIVE, split=plan.split)
    pairs = pairs.filter(included(plan.generated_pairs.value))
    pool = dataset.pool.count() if plan.pool and plan.material is Material.SENTENCES else 0
    return (pairs.count() + pool) * plan.epochs


def _contrast(plan: ContrastPlan, dataset: Dataset) -> int:
    sizes = plan.keep_originals + (plan.copies if plan.variant else 0)
    return round(_originals(plan, dataset) * plan.share * sizes)


def _augmentations(plan: AugmentationPlan, dataset: Dataset) -> int:
    sizes = sum(arm.size * arm.share for arm in plan.arms)
    return round(_originals(plan, dataset) * sizes * plan.seeds)


def _pre_fine_tuning(plan: PreFineTuningPlan, dataset: Dataset) -> int:
    """Inference pairs and rows of tasks in datasets, each once for every copy, epoch and seed. Tasks in files are not
    read.
    """
    pairs = dataset.pairs.filter(status=Pair.Status.ACTIVE, split=plan.split)
    inference = pairs.filter(subset__in=(plan.entailment, plan.neutral, plan.contradiction)).count()
    sizes = sum(1 + plan.copies * row.has_copies for row in plan.rows if row.is_pre_fine_tuned)
    work = inference * plan.pre_epochs * plan.pre_seeds * sizes
    for task in plan.all_tasks:
        if task.dataset and not plan.is_inference(task):
            if task.labels == SUBSET:
                of = {"dataset__slug": task.dataset, "status": Pair.Status.ACTIVE, "split": plan.train_split}
                rows = Pair.objects.filter(**of).exclude(subset="").exclude(origin="generated").count()
            else:
                rows = _scored(task.dataset, task.labels, split=plan.train_split)
            work += rows * plan.epochs_on(rows) * plan.seeds * len(plan.rows)
    return work


def _comparison(plan: ComparisonPlan, dataset: Dataset) -> int:
    pairs = sum(_training_pairs(plan, source.dataset, source.scores) for source in plan.all_sources)
    return pairs * plan.epochs * len(plan.chosen) * plan.seeds


def _search(plan: SearchPlan, dataset: Dataset) -> int:
    pairs = _training_pairs(plan, dataset, plan.scores)
    return pairs * plan.seeds * sum(trial.epochs for trial in plan.tried)


def _evaluation(plan: EvaluationPlan | RelatednessPlan, dataset: Dataset) -> int:
    return _scored(dataset, plan.score_set, split=plan.split, generated_pairs=plan.generated_pairs.value)


def _cross_validation(plan: CrossValidationPlan, dataset: Dataset) -> int:
    """Each pair once for every epoch of the trainings of every fold and seed, and for every method without training."""
    pairs = _scored(dataset, plan.score_set, split=plan.split, generated_pairs=plan.generated_pairs.value)
    if Method.FINE_TUNED not in plan.chosen:
        return pairs * len(plan.chosen)
    sources = dataset.pairs.filter(status=Pair.Status.ACTIVE).values("source").distinct().count()
    folds = sum(sources if protocol is Protocol.SOURCES else plan.folds for protocol in plan.protocols_chosen)
    tried = plan.epochs_tried
    epochs = max(tried) + (sum(tried) if len(tried) > 1 else 0)
    return pairs * (folds * epochs * plan.seeds + len(plan.chosen) - 1)


def _pairs(plan: PairScoringPlan | CorporaPlan, dataset: Dataset) -> int:
    return _active(dataset.pairs.all(), plan.split)


def _judging(plan: JudgingPlan, dataset: Dataset) -> int:
    block = dataset.tuple_blocks.filter(pk=plan.block).first()
    return 2 * len(block.tuples) if block else 0


def _labelling(plan: LabellingPlan, dataset: Dataset) -> int:
    return _active(pairs_written(dataset, plan.written_by), plan.split)


def _active(pairs: QuerySet[Pair], split: str) -> int:
    active = pairs.filter(status=Pair.Status.ACTIVE)
    return (active.filter(split=split) if split else active).count()


def _consistency(plan: ConsistencyPlan, dataset: Dataset) -> int:
    scored = _scored(dataset, plan.scores)
    if not plan.human_scores:
        return scored
    return scored + _scored(plan.human_dataset or dataset, plan.human_scores, split=plan.human_split)


def _realism(plan: RealismPlan, dataset: Dataset) -> int:
    """Rejected pairs are counted too: a review during the run must not change what it says it did."""
    written = dataset.pairs.filter(run_ref=plan.run)
    machines = written.values("b").distinct().count()
    people = dataset.sentences.filter(origin=Sentence.Origin.HUMAN).count()
    sentences = machines + (min(people, plan.most_humans) if plan.most_humans else people) if machines else 0
    return sentences * (plan.epochs if plan.classifier == ClassifierKind.FINE_TUNED else 1)


def _generation(plan: GenerationPlan, dataset: Dataset) -> int:
    sources = sources_drawn(dataset, plan.split, most=plan.sources, seed=plan.seed)
    return len(sources) * len(plan.label_list) * plan.samples


def _round_trip(plan: RoundTripPlan, dataset: Dataset) -> int:
    """Translated sentences: there with each setting, and back with each combination."""
    sources = sources_drawn(dataset, plan.split, most=plan.sources, seed=plan.seed)
    return len(sources) * (len({trip.forward for trip in plan.trips}) + len(plan.trips))


def _bootstrap(plan: BootstrapPlan, _dataset: Dataset) -> int:
    return plan.steps


def _context_model(plan: ContextModelPlan | DiscriminativePlan, _dataset: Dataset) -> int:
    return plan.steps


def _context_scores(plan: ContextScoresPlan, dataset: Dataset) -> int:
    pairs = dataset.pairs.filter(status=Pair.Status.ACTIVE)
    counts = [(pairs.filter(split__in=plan.splits) if plan.splits else pairs).count()]
    if plan.dev_split:
        counts.append(pairs.filter(split=plan.dev_split).count())
    return sum(min(count, plan.most_pairs) if plan.most_pairs else count for count in counts)


def _pool(_plan: BandsPlan, dataset: Dataset) -> int:
    return dataset.pool.count()


WORK: dict[type[Any], Callable[[Any, Dataset], int]] = {
    AugmentationPlan: _augmentations,
    BandsPlan: _pool,
    BootstrapPlan: _bootstrap,
    ComparisonPlan: _comparison,
    ConsistencyPlan: _consistency,
    ContextModelPlan: _context_model,
    ContextScoresPlan: _context_scores,
    ContrastPlan: _contrast,
    CorporaPlan: _pairs,
    CrossValidationPlan: _cross_validation,
    DiscriminativePlan: _context_model,
    EncoderPlan: _training,
    EvaluationPlan: _evaluation,
    GenerationPlan: _generation,
    JudgingPlan: _judging,
    LabellingPlan: _labelling,
    PairScoringPlan: _pairs,
    PreFineTuningPlan: _pre_fine_tuning,
    RealismPlan: _realism,
    RelatednessPlan: _evaluation,
    RoundTripPlan: _round_trip,
    SearchPlan: _search,
    SentenceIndexPlan: lambda _plan, dataset: dataset.sentences.count(),
}
