"""The home page by role, and the answer to a health check."""

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render

from semblance.navigation import places_for


def home(request: HttpRequest) -> HttpResponse:
    """Datasets for who may read them, judging for who may not; who belongs nowhere is told how that changes."""
    places = {place.name: place.address for place in places_for(request)}
    for name in ("curation:dataset_list", "annotation:mine"):
        if name in places:
            return redirect(places[name])
    return render(request, "home.html")


@login_not_required
def health(request: HttpRequest) -> JsonResponse:
    """200 if the database answers; whoever watches the site needs no login for it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})
