"""A family of one kind, in one folder: the mean length of the sentences of a split."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from mlworkers.plans.fields import dataset_setting, setting
from mlworkers.plans.kind import Kind, Page


@dataclass(frozen=True)
class LengthPlan:
    dataset: str = dataset_setting()
    split: str = setting("Split", "Only pairs of this split.", default="", offered="split")
    seed: int = setting("Seed", "Of the resamples.", default=1, bounds=(0, None))


KINDS = (
    Kind(
        name="measure_length",
        label=_("Measure lengths"),
        description=_("Computes the mean length of the sentences of a split."),
        plan=LengthPlan,
        unit=_("pairs"),
        needs="read",
        group="evaluate",
        pipeline="lengths.measure_length",
        work="lengths.work",
        amount=_("%(work)s pairs to read."),
        next_steps="lengths.next_steps",
        page=Page("lengths", "lengths", "lengths.length_report", "lengths", _("See the length of sentences")),
    ),
)
