"""The runs that the page “Compare” lists, and the links that start them."""

from collections.abc import Sequence

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from curation.models import User
from curation.results.reports import Link
from mlworkers.access import kinds_offered
from mlworkers.models import Run


def links_to_start(user: User) -> Sequence[Link]:
    """The form of each kind of comparison that the person may start."""
    labels = {
        "compare_weightings": _("Start comparison"),
        "compare_augmentations": _("Compare paraphrases as training data"),
        "compare_pre_fine_tuning": _("Compare pre-fine-tuning"),
    }
    return [
        Link(labels[kind.name], reverse("mlworkers:run_start", args=[kind.name]))
        for kind in kinds_offered(user)
        if kind.name in labels
    ]


def comparisons(runs: QuerySet[Run]) -> list[QuerySet[Run]]:
    """Of those runs the comparisons of weightings, of paraphrases, and of pre-fine-tunings, each newest first."""
    kinds = ("compare_weightings", "compare_augmentations", "compare_pre_fine_tuning")
    return [runs.filter(kind=kind).select_related("dataset", "started_by") for kind in kinds]


def evaluation_runs(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Of those runs the evaluations of one model that succeeded, newest first."""
    succeeded = runs.filter(kind="evaluate_encoder", state=Run.State.SUCCEEDED)
    return succeeded.select_related("dataset").prefetch_related("evaluations")
