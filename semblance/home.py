"""The pages that a person may open, by role: the head of every page and the home page. The answer to a health check."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from annotation.access import takes_part
from curation.foundation.heartbeats import database_now
from curation.models import User
from curation.people.access import ROLES_THAT_MAY, AuthedRequest, roles_of
from semblance.health import problems
from semblance.waiting import waiting_for


class NavigationLink(NamedTuple):
    """A page in the head of every page.

    here: whether the page that is shown belongs to it.
    pages: the lists below it, shown where one of them is.
    """

    label: Any
    address: str
    here: bool
    pages: Sequence["NavigationLink"] = ()


# The lists of the site, by the right that opens them, under the entries of its head.
SITE_PAGES: Sequence[tuple[Any, Sequence[tuple[str, Any, str]]]] = [
    (gettext_lazy("Annotate"), [("annotation:mine", gettext_lazy("Annotate"), "annotate")]),
    (
        gettext_lazy("Datasets"),
        [
            ("curation:dataset_list", gettext_lazy("Datasets"), "read"),
            ("annotation:campaign_list", gettext_lazy("Campaigns"), "read"),
            ("curation:review_list", gettext_lazy("Review"), "curate"),
        ],
    ),
    (
        gettext_lazy("Models"),
        [
            ("mlworkers:model_list", gettext_lazy("Models"), "read"),
            ("mlworkers:comparison_list", gettext_lazy("Comparisons"), "read"),
            ("mlworkers:paraphrase_corpora", gettext_lazy("Paraphrases"), "read"),
        ],
    ),
    (
        gettext_lazy("Runs"),
        [
            ("mlworkers:run_list", gettext_lazy("Runs"), "read"),
            ("workers", gettext_lazy("Workers"), "staff"),
            ("mlworkers:disk", gettext_lazy("Disk"), "staff"),
        ],
    ),
]


def navigation(request: HttpRequest) -> dict[str, Any]:
    return {
        "navigation_links": SimpleLazyObject(lambda: links_for(request)),
        "mail_offered": settings.MAIL_SERVER and settings.LOCAL_LOGIN,
        "local_login": settings.LOCAL_LOGIN,
        "sign_on_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
    }


def rights_on_site(user: User) -> set[str]:
    """What the person may open of the lists of the site: "annotate", "read", "curate", "staff"."""
    roles, staff = roles_of(user), user.is_staff or user.is_superuser
    rights = {
        "annotate": bool(roles) or user.is_superuser or takes_part(user),
        "read": staff or bool(roles & ROLES_THAT_MAY["read"]),
        "curate": user.is_superuser or bool(roles & ROLES_THAT_MAY["curate"]),
        "staff": staff,
    }
    return {name for name, has in rights.items() if has}


def links_for(request: HttpRequest) -> list[NavigationLink]:
    """Annotating for members; datasets, runs and models for those who may read scores."""
    user = getattr(request, "user", None)  # a request may break before its person is known
    if user is None or not user.is_authenticated:
        return []
    rights, links = rights_on_site(user), []
    for label, all_pages in SITE_PAGES:
        addresses = [(name, reverse(view)) for view, name, right in all_pages if right in rights]
        if not addresses:
            continue
        here = request.path.startswith(tuple(address for _name, address in addresses))
        # A list that is narrowed to a dataset has the tabs of the dataset.
        on_list = here and "dataset" not in request.GET and len(addresses) > 1
        pages = [NavigationLink(name, address, address == request.path) for name, address in addresses]
        shown = pages if on_list and any(page.here for page in pages) else ()
        links.append(NavigationLink(label, addresses[0][1], here, shown))
    return links


@require_safe
def home(request: AuthedRequest) -> HttpResponse:
    """The overview for people who may read a dataset, the open campaigns for those who only annotate; others read how
    they become members.
    """
    rights = rights_on_site(request.user)
    if "read" in rights:
        return redirect("overview")
    return redirect("annotation:mine") if "annotate" in rights else render(request, "home.html")


@require_safe
def overview(request: AuthedRequest) -> HttpResponse:
    """What waits for the person, by role."""
    if "read" not in rights_on_site(request.user):
        return redirect("home")
    waiting = waiting_for(request.user, at=database_now())
    return render(request, "semblance/overview.html", {"waiting": waiting})


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
