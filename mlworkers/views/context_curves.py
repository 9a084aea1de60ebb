"""Curves of similarity from contexts: the page of one run, and its figures as a file."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from curation.people.access import AuthedRequest
from curation.views.tables import csv_answer
from mlworkers.access import context_curves_for
from mlworkers.kinds.contexts.context_curves import CSV_COLUMNS, csv_rows, curves_of


@require_GET
def context_curves_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    run = context_curves_for(request.user, pk)
    curves = curves_of(run)
    csv = reverse("mlworkers:context_curves_csv", args=[pk]) if curves else ""
    return render(request, "mlworkers/context_curves.html", {"run": run, "curves": curves, "csv": csv})


@require_GET
def context_curves_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    curves = curves_of(context_curves_for(request.user, pk))
    return csv_answer(request, f"context-curves-{pk}.csv", CSV_COLUMNS, csv_rows(curves))
