"""What pages of every app share: the head of a dataset, and the colour of a state."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.http import HttpRequest
from django.template.context import Context
from django.urls import reverse
from django.utils.translation import gettext as _

from curation.access import dataset_rights
from curation.datasets.selectors import dataset_facts
from curation.models import Dataset

register = template.Library()


# The class of a tag (static/css/app.css) for each state, status and verdict that a page shows.
_TONES = {
    "succeeded": "good",
    "keep": "good",
    "failed": "wrong",
    "reject": "wrong",
    "rejected": "wrong",
    "excluded": "wrong",
    "running": "accent",
    "edit": "accent",
    "gold": "accent",
    "cancelled": "doubtful",
    "retired": "doubtful",
    "extra": "doubtful",
}


@register.filter
def tone(value: str) -> str:
    """The class that a tag with this state, status or verdict has; none for an ordinary one."""
    return _TONES.get(value, "")


@dataclass(frozen=True)
class DatasetTab:
    label: str
    address: str
    here: bool


@register.inclusion_tag("curation/_dataset_head.html", takes_context=True)
def dataset_head(context: Context, dataset: Dataset, here: str = "") -> dict[str, Any]:
    """The dataset with its facts, and the pages about it that the person may open; `here` names the one shown."""
    rights = dataset_rights(context["user"], dataset)
    wanted = [
        ("dataset", _("Pairs"), "read"),
        ("review", _("Review"), "curate"),
        ("import", _("Import"), "oversee"),
        ("export", _("Export"), "read"),
        ("snapshots", _("Snapshots"), "read"),
        ("members", _("Members"), "read"),
        ("settings", _("Settings"), "archive"),
    ]
    tabs = [
        DatasetTab(label, reverse(f"curation:{name}", args=[dataset.slug]), here=name == here)
        for name, label, right in wanted
        if right in rights
    ]
    if "read" in rights:
        tabs.insert(1, _campaigns(context["request"], dataset))
        tabs.insert(-1 - ("archive" in rights), _runs(context["request"], dataset))
    return {"dataset": dataset, "facts": dataset_facts(dataset), "tabs": tabs}


def _campaigns(request: HttpRequest, dataset: Dataset) -> DatasetTab:
    """Campaigns have addresses of their own: wherever one of those is shown, that is the place."""
    address = reverse("annotation:campaign_list")
    return DatasetTab(
        _("Campaigns"), f"{address}?dataset={dataset.slug}", here=request.path.startswith(address)
    )


def _runs(request: HttpRequest, dataset: Dataset) -> DatasetTab:
    """Runs, models and comparisons have addresses of their own too."""
    address = reverse("mlworkers:run_list")
    addresses = (address, reverse("mlworkers:model_list"), reverse("mlworkers:comparison_list"))
    return DatasetTab(_("Runs"), f"{address}?dataset={dataset.slug}", here=request.path.startswith(addresses))
