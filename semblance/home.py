"""The pages that a person may open, by role: the head of every page and the home page. The answer to a health check."""

from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from annotation.access import takes_part
from curation.people.access import ROLES_THAT_MAY, roles_of
from semblance.health import problems


class NavigationLink(NamedTuple):
    name: str
    label: str
    address: str
    here: bool


def navigation(request: HttpRequest) -> dict[str, Any]:
    links = SimpleLazyObject(lambda: links_for(request))
    return {
        "navigation_links": links,
        "mail_offered": settings.MAIL_SERVER and settings.LOCAL_LOGIN,
        "local_login": settings.LOCAL_LOGIN,
        "sign_on_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
    }


def links_for(request: HttpRequest) -> list[NavigationLink]:
    """Judging for members; datasets, campaigns, runs and their results for those who may read scores."""
    user = request.user
    if not user.is_authenticated:
        return []
    roles = roles_of(user)
    reads = user.is_staff or user.is_superuser or bool(roles & ROLES_THAT_MAY["read"])
    curates = user.is_superuser or bool(roles & ROLES_THAT_MAY["curate"])
    wanted = [
        ("annotation:mine", _("Judge"), bool(roles) or user.is_superuser or takes_part(user)),
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


def home(request: HttpRequest) -> HttpResponse:
    """Datasets for people who may read them, judging for others; people without a dataset read how they get one."""
    addresses = {link.name: link.address for link in links_for(request)}
    for name in ("curation:dataset_list", "annotation:mine"):
        if name in addresses:
            return redirect(addresses[name])
    return render(request, "home.html")


@login_not_required
def favicon(request: HttpRequest) -> HttpResponse:
    """The icon, for programs that ask for it at its old address without reading a page."""
    return redirect(static("icon.svg"), permanent=True)


@login_not_required
def alive(request: HttpRequest) -> JsonResponse:
    """200 as long as a process answers, whatever else works: what decides whether to start it again."""
    return JsonResponse({"status": "ok"})


@login_not_required
def health(request: HttpRequest) -> JsonResponse:
    """200 if all works, else 503 and what does not. A program that watches the site needs no login."""
    problems_now = problems()
    status, code = ("trouble", 503) if problems_now else ("ok", 200)
    return JsonResponse({"status": status, "problems": problems_now}, status=code)
