"""Linguistic analyses: the tables of one, and its figures as a file."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from curation.people.access import AuthedRequest
from curation.views.tables import csv_answer
from mlworkers.access import analysis_for
from mlworkers.kinds.language.language import (
    CSV_COLUMNS,
    families_stored,
    language_csv_rows,
    what_the_language_shows,
)
from mlworkers.kinds.language.language_chart import language_chart


@require_GET
def language_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    run = analysis_for(request.user, pk)
    families = families_stored(run.result)
    shows = what_the_language_shows(families)
    context = {
        "run": run,
        "csv": reverse("mlworkers:language_csv", args=[pk]) if families else "",
        "families": families,
        "shows": shows,
        "chart": language_chart(families[0], finding=shows) if families else None,
    }
    return render(request, "mlworkers/language.html", context)


@require_GET
def language_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    run = analysis_for(request.user, pk)
    rows = language_csv_rows(families_stored(run.result))
    return csv_answer(request, f"language-{pk}.csv", CSV_COLUMNS, rows)
