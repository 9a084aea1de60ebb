"""The head of every page: the pages that a person may open, by role."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from curation.access import ROLES_THAT_MAY, roles_of


@dataclass(frozen=True)
class NavigationLink:
    name: str
    label: str
    address: str
    here: bool


def navigation(request: HttpRequest) -> dict[str, Any]:
    return {"navigation_links": SimpleLazyObject(lambda: links_for(request))}


def links_for(request: HttpRequest) -> list[NavigationLink]:
    """Judging for members; datasets, campaigns, runs and their results for those who may read scores."""
    user = request.user
    if not user.is_authenticated:
        return []
    roles = roles_of(user)
    reads = user.is_staff or user.is_superuser or bool(roles & ROLES_THAT_MAY["read"])
    curates = user.is_superuser or bool(roles & ROLES_THAT_MAY["curate"])
    wanted = [
        ("annotation:mine", _("Judge"), bool(roles) or user.is_superuser),
        ("curation:dataset_list", _("Datasets"), reads),
        ("annotation:campaign_list", _("Campaigns"), reads),
        ("curation:review_list", _("Review"), curates),
        ("mlworkers:run_list", _("Runs"), reads),
        ("mlworkers:model_list", _("Models"), reads),
        ("mlworkers:comparison_list", _("Compare"), reads),
    ]
    return [
        NavigationLink(name, label, address := reverse(name), here=request.path.startswith(address))
        for name, label, shown in wanted
        if shown
    ]
