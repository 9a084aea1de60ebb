"""Similarity of sentences from the contexts that they could occur in."""

from django.utils.translation import gettext_lazy as _

from mlworkers.plans.kind import Kind, Page, machine_kind
from mlworkers.science.contexts.curves_plan import ContextCurvesPlan
from mlworkers.science.contexts.discriminative_plan import DiscriminativePlan
from mlworkers.science.contexts.harvest_plan import HarvestPlan
from mlworkers.science.contexts.model_plan import ContextModelPlan
from mlworkers.science.contexts.plan import CorpusPlan
from mlworkers.science.contexts.scores_plan import ContextScoresPlan
from mlworkers.science.contexts.sections_plan import SectionsPlan

KINDS = (
    Kind(
        name="index_corpus",
        label=_("Index a corpus"),
        description=_("Divides running text into sentences, and indexes it, so that contexts can be found."),
        plan=CorpusPlan,
        unit=_("sentences"),
        needs="curate",
        # the upload is deleted once the corpus is there
        repeatable=False,
        long=True,
        pipeline="indexing.index_corpus",
        next_steps="next_steps.indexed",
    ),
    Kind(
        name="harvest_pairs",
        group="contexts",
        label=_("Harvest pairs of a corpus"),
        description=_(
            "Makes training, dev and test pairs of sentences of a corpus. No two splits have a sentence in "
            "common. “Score pairs by contexts” scores them, and an encoder learns from that."
        ),
        plan=HarvestPlan,
        unit=_("pairs"),
        writes=True,
        needs="curate",
        long=True,
        pipeline="harvesting.harvest_pairs",
        next_steps="next_steps.harvested",
    ),
    machine_kind(
        name="train_on_sections",
        group="contexts",
        label=_("Train an encoder on sections"),
        description=_(
            "Trains an encoder to tell which of two sentences is of the same section as a third one. It is "
            "measured before and after on documents that it did not learn from."
        ),
        plan=SectionsPlan,
        unit=_("steps"),
        pipeline="sections.train_on_sections",
        next_steps="next_steps.sections_learned",
    ),
    machine_kind(
        name="train_context_model",
        group="contexts",
        label=_("Train a model for contexts"),
        description=_(
            "Trains a small language model on a corpus to say how well sentences fit into contexts. It is "
            "compared with the frequencies of tokens on text that it did not see."
        ),
        plan=ContextModelPlan,
        unit=_("steps"),
        pipeline="context_models.train_context_model",
        next_steps="next_steps.model_trained",
        work="estimates.training",
        amount=_("%(work)s training steps."),
    ),
    machine_kind(
        name="train_discriminative_model",
        group="contexts",
        label=_("Train a discriminative model"),
        description=_(
            "Trains a small model on a corpus to tell which sentence belongs in a context. “Score pairs by "
            "contexts” ranks contexts by it."
        ),
        plan=DiscriminativePlan,
        unit=_("steps"),
        pipeline="discriminative.train_discriminative_model",
        next_steps="next_steps.discriminative_model_trained",
        work="estimates.training",
        amount=_("%(work)s training steps."),
    ),
    machine_kind(
        name="score_contexts",
        group="contexts",
        label=_("Score pairs by contexts"),
        description=_(
            "Publishes how similar the sentences of each pair are by the contexts that they fit, without "
            "labels. It gives the paper's cosine, and the centred one. A page compares both with human "
            "scores."
        ),
        plan=ContextScoresPlan,
        unit=_("pairs"),
        writes=True,
        pipeline="scoring.score_contexts",
        next_steps="next_steps.scored",
        work="estimates.scoring",
        amount=_("%(work)s pairs to score by contexts."),
    ),
    machine_kind(
        name="measure_context_curves",
        group="contexts",
        label=_("Measure curves of contexts"),
        description=_(
            "Measures how the agreement of similarity from contexts with people grows. It grows with the "
            "corpus, the contexts of a sentence, and the training pairs of a student encoder."
        ),
        plan=ContextCurvesPlan,
        unit=_("pairs"),
        pipeline="measuring_curves.measure_context_curves",
        page=Page(
            address="context-curves",
            name="context_curves",
            report="context_curves.context_curves_report",
            file="context-curves",
            see=_("See the curves"),
        ),
    ),
)
