"""Sentence encoders: training, evaluation, scoring, and search among sentences."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from mlworkers.plans.fields import setting
from mlworkers.plans.kind import Kind, Measured, Page, machine_kind
from mlworkers.science.encoders.bands_plan import BandsPlan
from mlworkers.science.encoders.contrastive.plan import ContrastPlan
from mlworkers.science.encoders.cross_validation_plan import CrossValidationPlan
from mlworkers.science.encoders.index_plan import SentenceIndexPlan, SentenceSearchPlan
from mlworkers.science.encoders.initial_plan import InitialEncoderPlan
from mlworkers.science.encoders.plan import EncoderPlan, EvaluationPlan
from mlworkers.science.encoders.scorers_plan import ScorersPlan
from mlworkers.science.encoders.scoring_plan import PairScoringPlan
from mlworkers.science.encoders.speed_plan import SpeedPlan


@dataclass(frozen=True)
class RelatePlan:
    """Two sentences that somebody tries a model with."""

    first: str = setting(_("First sentence"), _("Any sentence."))
    second: str = setting(_("Second sentence"), _("Any sentence."))
    artifact: int = setting(
        _("Model"),
        _("The number of an encoder on the models page; 0 for the packaged one."),
        default=0,
        low=0,
    )


KINDS = (
    machine_kind(
        name="initialise_encoder",
        group="train",
        label=_("Initialise an encoder"),
        description=_(
            "Makes a small encoder with random weights, with a tokenizer learned from the dataset's "
            "sentences. It is a base model to train from scratch, or a baseline without pretraining."
        ),
        plan=InitialEncoderPlan,
        unit=_("sentences"),
        pipeline="initialising.initialise_encoder",
        next_steps="next_steps.initialised",
    ),
    machine_kind(
        name="train_encoder",
        group="train",
        fits=("scored", "no encoder"),
        label=_("Train an encoder"),
        description=_(
            "Trains a sentence encoder on scored pairs. Pairs can be weighted by the p_D of their sentence."
        ),
        plan=EncoderPlan,
        unit=_("steps"),
        pipeline="training.train_encoder",
        next_steps="next_steps.trained",
        published="published.trained",
        room="estimates.training_room",
        trained="estimates.weights",
        work="estimates.training",
        amount=_("%(work)s training pairs, each counted once for every epoch."),
    ),
    machine_kind(
        name="train_contrastive",
        group="train",
        label=_("Train an encoder by contrast"),
        description=_(
            "Trains a sentence encoder without scores: on sentences, pairs or inference (SimCSE), and on "
            "their paraphrases."
        ),
        plan=ContrastPlan,
        unit=_("steps"),
        pipeline="contrasting.train_contrastive",
        next_steps="next_steps.trained",
        trained="estimates.weights",
        work="estimates.contrast",
        amount=_("%(work)s examples, each counted once for every copy and epoch."),
    ),
    machine_kind(
        name="evaluate_encoder",
        group="evaluate",
        fits=("scored", "encoder"),
        label=_("Evaluate an encoder"),
        description=_("Measures an encoder by human or reference scores, and on published test suites."),
        plan=EvaluationPlan,
        unit=_("sentences"),
        pipeline="training.evaluate_encoder",
        next_steps="next_steps.evaluated",
        published="published.evaluated",
        measured=Measured(),
        work="estimates.evaluation",
        amount=_("%(work)s pairs to evaluate on, besides those of published test suites."),
    ),
    machine_kind(
        name="cross_validate_encoder",
        group="evaluate",
        fits=("scored", "no encoder"),
        label=_("Cross-validate an encoder"),
        description=_(
            "Measures words in common, word vectors, and an encoder with and without training, on folds of "
            "scored pairs. Folds are random, share no sentence, or leave out one source at a time."
        ),
        plan=CrossValidationPlan,
        unit=_("steps"),
        pipeline="cross_validating.cross_validate_encoder",
        published="published.cross_validated",
        measured=Measured(predicted=True),
        work="estimates.cross_validation",
        amount=_(
            "%(work)s pairs to score or to train on, each counted once for every epoch, fold, seed and method."
        ),
        page=Page(
            address="cross-validation",
            name="cross_validation",
            report="cross_validation_report.cross_validation_report",
            file="cross-validation",
            see=_("See how well each method does"),
            proposed="cross_validation_report.best_method",
        ),
    ),
    machine_kind(
        name="score_pairs",
        group="evaluate",
        fits=("pairs", "encoder"),
        label=_("Score pairs by a model"),
        description=_(
            "Publishes a model's scores of pairs as a score set. The model is an encoder or a "
            "cross-encoder. Its scores can be compared with human scores, or choose pairs."
        ),
        plan=PairScoringPlan,
        unit=_("pairs"),
        writes=True,
        pipeline="scoring_pairs.score_pairs",
        next_steps="next_steps.pairs_scored",
        work="estimates.scoring",
        amount=_("%(work)s pairs to score."),
    ),
    machine_kind(
        name="compare_scorers",
        group="evaluate",
        label=_("Compare scorers of pairs"),
        description=_(
            "Says which similarity measure (scorer of pairs) agrees best with people's scores or those of a model, "
            "and how many pairs a second each scores."
        ),
        plan=ScorersPlan,
        unit=_("pairs"),
        pipeline="scorers.compare_scorers",
        next_steps="next_steps.scorers_compared",
    ),
    machine_kind(
        name="measure_speed",
        group="evaluate",
        label=_("Measure the speed of encoders"),
        description=_(
            "Measures how many sentences a second encoders encode. It does so with batches of sentences of "
            "like length and without. Each encoder's page shows it."
        ),
        plan=SpeedPlan,
        unit=_("sentences"),
        pipeline="scorers.measure_speed",
        next_steps="next_steps.speed_measured",
    ),
    machine_kind(
        name="compose_by_similarity",
        group="write",
        fits=("pooled", "no pairs"),
        label=_("Sample pairs by similarity"),
        description=_(
            "Makes pairs of single sentences, equally many in each band of an encoder's similarity."
        ),
        plan=BandsPlan,
        unit=_("sentences"),
        writes=True,
        pipeline="composing.compose_by_similarity",
        next_steps="next_steps.composed",
        work="estimates.pool",
        amount=_("%(work)s single sentences, without those that are too short or too long."),
    ),
    machine_kind(
        name="index_sentences",
        label=_("Index sentences"),
        description=_(
            "Encodes the sentences of a dataset, so that it can be searched. These are the sentences of "
            "its active pairs, and its single sentences."
        ),
        plan=SentenceIndexPlan,
        unit=_("sentences"),
        pipeline="indexing_sentences.index_sentences",
        next_steps="next_steps.indexed",
        work="estimates.index",
        amount=_("At most %(work)s sentences are encoded: those in an active pair and single sentences."),
    ),
    Kind(
        name="search_sentences",
        label=_("Search sentences"),
        description=_("Finds the sentences of a dataset that are nearest to one sentence."),
        plan=SentenceSearchPlan,
        unit=_("sentences"),
        needs="read",
        queue="playground",
        listed=False,
        pipeline="finding_sentences.search_sentences",
        next_steps="next_steps.searched",
    ),
    Kind(
        name="relate_sentences",
        label=_("Relate two sentences"),
        description=_("Computes the cosine similarity of two sentences with an encoder."),
        plan=RelatePlan,
        unit=_("sentences"),
        needs="read",
        queue="playground",  # its answer must not wait for the end of a training
        listed=False,
        pipeline="relating.relate_sentences",
        next_steps="next_steps.related",
    ),
)
