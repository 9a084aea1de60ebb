"""The home page by role, and the answer to a health check."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render

from semblance.health import problems
from semblance.navigation import links_for


def home(request: HttpRequest) -> HttpResponse:
    """Datasets for people who may read them, judging for others; people without a dataset read how they get one."""
    addresses = {link.name: link.address for link in links_for(request)}
    for name in ("curation:dataset_list", "annotation:mine"):
        if name in addresses:
            return redirect(addresses[name])
    return render(request, "home.html")


@login_not_required
def health(request: HttpRequest) -> JsonResponse:
    """200 if all works, else 503 and what does not. A program that watches the site needs no login."""
    found = problems()
    status = "trouble" if found else "ok"
    return JsonResponse({"status": status, "problems": found}, status=503 if found else 200)
