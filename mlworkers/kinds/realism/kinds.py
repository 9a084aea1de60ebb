"""How real generated sentences are (p_D), and how well generated pairs have their target similarity (p_y)."""

from django.utils.translation import gettext_lazy as _

from mlworkers.plans.kind import machine_kind
from mlworkers.science.consistency.plan import ConsistencyPlan
from mlworkers.science.realism.plan import RealismPlan

KINDS = (
    machine_kind(
        name="score_realism",
        group="check",
        fits=("generated", "no p_d"),
        label=_("Score human-likeness (p_D)"),
        description=_(
            "Estimates p_D for every generated sentence: the probability that a human wrote it. "
            "Each estimate comes from a classifier that was not trained on the sentence."
        ),
        plan=RealismPlan,
        unit=_("sentences"),
        writes=True,
        pipeline="realism.score_realism",
        next_steps="next_steps.realism_scored",
        room="estimates.realism_room",
        trained="estimates.weights",
        work="estimates.realism",
        amount=_("%(work)s sentences, counted once for every epoch if classifiers are fine-tuned."),
    ),
    machine_kind(
        name="score_consistency",
        group="check",
        label=_("Score label consistency"),
        description=_(
            "Estimates p_y for every generated pair: the probability that the pair has its target similarity. "
            "Each estimate comes from a classifier that was not trained on the pair or its sentences."
        ),
        plan=ConsistencyPlan,
        unit=_("pairs"),
        writes=True,
        pipeline="consistency.score_consistency",
        seen="seen.consistency_scored",
        next_steps="next_steps.consistency_scored",
        work="estimates.consistency",
        amount=_("%(work)s pairs to score or to learn from."),
    ),
)
