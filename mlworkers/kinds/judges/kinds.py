"""Language models that judge tuples as annotators do."""

from django.utils.translation import gettext_lazy as _

from mlworkers.plans.kind import machine_kind
from mlworkers.science.judges.plan import JudgingPlan

KINDS = (
    machine_kind(
        name="judge_tuples",
        group="check",
        label=_("Annotate tuples with a model"),
        description=_(
            "Lets a model annotate tuples of a campaign, to compare it with people. Its answers are kept "
            "apart and never count for scores."
        ),
        plan=JudgingPlan,
        unit=_("questions"),
        writes=True,
        pipeline="judging.judge_tuples",
        next_steps="next_steps.judged",
        work="estimates.judging",
        amount=_("%(work)s questions: each tuple in two orders."),
    ),
)
