"""Profiles of paraphrase corpora: the table of one, and its figures as a file."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from curation.people.access import AuthedRequest
from curation.views.tables import csv_answer
from mlworkers.access import corpora_for, runs_visible
from mlworkers.kinds.comparisons.corpora import CSV_COLUMNS, corpora_of, csv_rows, what_the_groups_show


@require_GET
def corpora_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    run = corpora_for(request.user, pk)
    found = corpora_of(run, among=runs_visible(request.user))
    context = {
        "run": run,
        "csv": reverse("mlworkers:corpora_csv", args=[pk]) if found else "",
        "found": found,
        "shows": what_the_groups_show(found) if found else "",
    }
    return render(request, "mlworkers/corpora.html", context)


@require_GET
def corpora_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    found = corpora_of(corpora_for(request.user, pk), among=runs_visible(request.user))
    return csv_answer(request, f"corpora-{pk}.csv", CSV_COLUMNS, csv_rows(found) if found else [])
