"""The work, the amount in words and the room of runs that compare several encoders."""

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.models import Dataset, Pair
from mlworkers.pipelines import paces
from mlworkers.pipelines.work import active, originals, scored, training_pairs
from mlworkers.science.encoders.contrastive.plan import AugmentationPlan
from mlworkers.science.encoders.plan import ComparisonPlan
from mlworkers.science.encoders.pre_fine_tuning.plan import PreFineTuningPlan
from mlworkers.science.encoders.pre_fine_tuning.tasks import SUBSET
from mlworkers.science.encoders.search_plan import SearchPlan
from mlworkers.science.paraphrasing.corpora_plan import CorporaPlan


def weightings(plan: ComparisonPlan, _dataset: Dataset) -> int:
    pairs = sum(training_pairs(plan, source.dataset, source.scores) for source in plan.all_sources)
    return pairs * plan.epochs * len(plan.chosen) * plan.seeds


def weightings_in_words(plan: ComparisonPlan, _dataset: Dataset) -> str:
    """How many encoders a comparison trains, and on how many tests each encoder is evaluated."""
    words = {
        "trainings": intcomma(plan.trainings),
        "sources": len(plan.all_sources),
        "weightings": len(plan.chosen),
        "seeds": plan.seeds,
        "tests": 1 + len(plan.suite_names),
        "rows": 1 + len(plan.baseline_names),
    }
    return (
        _(
            "%(trainings)s trainings (source datasets: %(sources)s, weightings with controls: %(weightings)s, seeds: "
            "%(seeds)s). Each encoder and %(rows)s not trained here will be evaluated on %(tests)s tests."
        )
        % words
    )


def weights(plan: ComparisonPlan | SearchPlan) -> int:
    return paces.weights_size(plan.model)


def weightings_room(plan: ComparisonPlan, _work: int, _scaled: int) -> tuple[int, int] | None:
    size = weights(plan)
    return (size * plan.trainings, size * paces.OPTIMIZER) if size else None


def augmentations(plan: AugmentationPlan, dataset: Dataset) -> int:
    sizes = sum(arm.size * arm.share for arm in plan.arms)
    return round(originals(plan, dataset) * sizes * plan.seeds)


def pre_fine_tuning(plan: PreFineTuningPlan, dataset: Dataset) -> int:
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
                rows = scored(task.dataset, task.labels, split=plan.train_split)
            work += rows * plan.epochs_on(rows) * plan.seeds * len(plan.rows)
    return work


def corpora(plan: CorporaPlan, dataset: Dataset) -> int:
    return active(dataset.pairs.all(), plan.split)


def search(plan: SearchPlan, dataset: Dataset) -> int:
    pairs = training_pairs(plan, dataset, plan.scores)
    return pairs * plan.seeds * sum(trial.epochs for trial in plan.tried)


def search_in_words(plan: SearchPlan, _dataset: Dataset) -> str:
    """How many encoders a search trains."""
    words = {
        "trainings": intcomma(plan.trainings),
        "tried": intcomma(len(plan.tried)),
        "grid": intcomma(len(plan.grid)),
        "seeds": plan.seeds,
    }
    sentence = _(
        "%(trainings)s trainings (trials: %(tried)s of %(grid)s combinations, seeds: %(seeds)s, and the chosen "
        "settings once more for each seed)."
    )
    return sentence % words


def search_room(plan: SearchPlan, _work: int, _scaled: int) -> tuple[int, int] | None:
    size = weights(plan)
    return (size * plan.seeds, size * paces.OPTIMIZER) if size else None
