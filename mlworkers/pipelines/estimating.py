"""What a run will ask of an endpoint or of the device, in words, before it starts.

Pages show it, so that nothing here imports a machine-learning library.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.models import Dataset
from mlworkers.pipelines.human_sentences import sources_drawn
from mlworkers.pipelines.paces import Pace, Room, pace_of, room_of
from mlworkers.pipelines.work import work_of
from mlworkers.plans.kinds import Kind
from mlworkers.runs.results import duration_in_words
from mlworkers.science.consistency.plan import ConsistencyPlan
from mlworkers.science.contexts.discriminative_plan import DiscriminativePlan
from mlworkers.science.contexts.model_plan import ContextModelPlan
from mlworkers.science.contexts.scores_plan import ContextScoresPlan
from mlworkers.science.encoders.bands_plan import BandsPlan
from mlworkers.science.encoders.contrastive.plan import AugmentationPlan, ContrastPlan
from mlworkers.science.encoders.cross_validation_plan import CrossValidationPlan
from mlworkers.science.encoders.index_plan import SentenceIndexPlan
from mlworkers.science.encoders.plan import ComparisonPlan, EncoderPlan, EvaluationPlan
from mlworkers.science.encoders.pre_fine_tuning.plan import PreFineTuningPlan
from mlworkers.science.encoders.scoring_plan import PairScoringPlan
from mlworkers.science.encoders.search_plan import SearchPlan
from mlworkers.science.judges.plan import JudgingPlan
from mlworkers.science.linguistics.relatedness.plan import RelatednessPlan
from mlworkers.science.paraphrasing.corpora_plan import CorporaPlan
from mlworkers.science.paraphrasing.plan import LabellingPlan
from mlworkers.science.paraphrasing.round_trip_plan import RoundTripPlan
from mlworkers.science.realism.plan import RealismPlan
from mlworkers.science.synthesis.estimates import Requests, estimate_of, longest_sources
from mlworkers.science.synthesis.plan import BootstrapPlan, GenerationPlan


def generation_estimate(plan: GenerationPlan, dataset: Dataset) -> str:
    """One sentence on requests, tokens and cost; for a model that is loaded by the worker, on its rows alone."""
    if plan.writes_first_sentences:
        sources = longest_sources(plan)
    else:
        drawn = sources_drawn(dataset, plan.split, most=plan.sources, seed=plan.seed)
        sources = [source.text for source in drawn]
    if plan.endpoint_model:
        return estimate_in_words(estimate_of(sources, plan))
    words = {"sources": len(sources), "rows": len(sources) * len(plan.label_list) * plan.samples}
    sentence = _("The run writes %(rows)s rows for %(sources)s sentences, and sends nothing to an endpoint.")
    return sentence % {name: intcomma(number) for name, number in words.items()}


def comparison_estimate(plan: ComparisonPlan) -> str:
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


def search_estimate(plan: SearchPlan) -> str:
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


@dataclass(frozen=True)
class RunWork:
    """What a run will ask for, a sentence a line: the amount of work, the time, the room on the disk. fits: whether
    the disk has that room.
    """

    lines: Sequence[str]
    fits: bool = True


def run_estimate(kind: Kind, plan: Any, dataset: Dataset) -> RunWork:
    """Of a kind that is `estimated`."""
    work = work_of(plan, dataset)
    pace = pace_of(kind, plan) if work else None
    room = room_of(plan, work, pace) if work else None
    lines = [_amount_in_words(plan, dataset, work)]
    if work:
        lines += [_time_in_words(kind, plan, work, pace), *([_room_in_words(room)] if room else [])]
    return RunWork(lines, room is None or room.fits)


def _amount_in_words(plan: Any, dataset: Dataset, work: int) -> str:
    if isinstance(plan, ComparisonPlan):
        return comparison_estimate(plan)
    if isinstance(plan, SearchPlan):
        return search_estimate(plan)
    if isinstance(plan, GenerationPlan):
        return generation_estimate(plan, dataset)
    if not work:
        return _("With these settings there is nothing to do. Choose other scores, pairs or runs.")
    return str(AMOUNTS[type(plan)]) % {"work": intcomma(work)}


AMOUNTS: Mapping[type[Any], Any] = {
    BandsPlan: gettext_lazy("%(work)s sentences of the pool, but for those that are too short or too long."),
    BootstrapPlan: gettext_lazy("%(work)s training steps, or fewer if the time limit ends the training."),
    EncoderPlan: gettext_lazy("%(work)s training pairs, each counted once for every epoch."),
    EvaluationPlan: gettext_lazy("%(work)s pairs to evaluate on, besides those of published test suites."),
    RealismPlan: gettext_lazy(
        "%(work)s sentences, counted once for every epoch if classifiers are fine-tuned."
    ),
    ConsistencyPlan: gettext_lazy("%(work)s pairs to score or to learn from."),
    ContrastPlan: gettext_lazy("%(work)s examples, each counted once for every copy and epoch."),
    AugmentationPlan: gettext_lazy(
        "%(work)s examples, each counted once for every row, copy, epoch and seed."
    ),
    PreFineTuningPlan: gettext_lazy(
        "%(work)s rows of inference and of tasks in datasets, each counted once for every epoch, copy and seed. Rows "
        "of tasks in files are not counted."
    ),
    ContextModelPlan: gettext_lazy("%(work)s training steps."),
    DiscriminativePlan: gettext_lazy("%(work)s training steps."),
    ContextScoresPlan: gettext_lazy("%(work)s pairs to score by contexts."),
    RoundTripPlan: gettext_lazy("%(work)s sentences to translate, there and back with each combination."),
    CorporaPlan: gettext_lazy("%(work)s pairs to measure, and their sentences."),
    LabellingPlan: gettext_lazy("%(work)s pairs to label."),
    PairScoringPlan: gettext_lazy("%(work)s pairs to score."),
    JudgingPlan: gettext_lazy("%(work)s questions: each tuple in two orders."),
    SentenceIndexPlan: gettext_lazy(
        "At most %(work)s sentences are encoded: those in an active pair or in the pool."
    ),
    CrossValidationPlan: gettext_lazy(
        "%(work)s pairs to score or to train on, each counted once for every epoch, fold, seed and method."
    ),
    RelatednessPlan: gettext_lazy("%(work)s pairs to analyse."),
}


def _time_in_words(kind: Kind, plan: Any, work: int, pace: Pace | None) -> str:
    if pace is None:
        sentence = _(
            "The time cannot be estimated yet: no run of this kind with these settings and this model has finished "
            "without interruption on a device that this queue's workers have."
        )
        if kind.preview:
            sentence += " " + _("“Preview ten rows” measures it.")
        return sentence
    seconds = pace.seconds_for(work)
    if isinstance(plan, BootstrapPlan):
        seconds = min(seconds, plan.minutes * 60)
    sentence = _("About %(time)s, by run %(run)s, which took %(taken)s for %(share)s times this work")
    if pace.run.kind == kind.preview:
        sentence = _("About %(time)s, by the preview of run %(run)s")
    words = {
        "time": duration_in_words(seconds),
        "run": pace.run.pk,
        "taken": duration_in_words(pace.seconds),
        "share": f"{pace.work / work:.2g}",
    }
    same = plan.model == pace.run.plan.get("model") if hasattr(plan, "model") else True
    return sentence % words + ("." if same else _(" with another model of the same size."))


def _room_in_words(room: Room) -> str:
    words = {name: filesizeformat(getattr(room, name)) for name in ("kept", "meanwhile", "free")}
    sentence = _("It will leave files of about %(kept)s.")
    if room.meanwhile:
        sentence = _(
            "It will leave files of about %(kept)s and needs about %(meanwhile)s more while it runs."
        )
    free = _("%(free)s are free on the disk.")
    if not room.fits:
        free = _("Only %(free)s are free on the disk: this is too little. Free some space first.")
    return f"{sentence} {free}" % words


def estimate_in_words(estimate: Requests) -> str:
    words = {
        "requests": intcomma(estimate.requests),
        "read": intcomma(estimate.tokens_read),
        "written": intcomma(estimate.most_tokens_written),
    }
    sentence = _(
        "%(requests)s requests, about %(read)s tokens to be read and at most %(written)s to be written"
    )
    if estimate.most_cost is None:
        return f"{sentence % words}."
    cents_up = ceil(estimate.most_cost * 100) / 100  # a small cost is not 0.00
    costs = _("which costs up to about %(cost)s at the given prices") % {"cost": f"{cents_up:,.2f}"}
    return f"{sentence % words}, {costs}."
