"""Analyses of what makes pairs related: the table of one, and its figures as a file."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from curation.people.access import AuthedRequest
from curation.views.tables import csv_answer
from mlworkers.access import relatedness_for
from mlworkers.kinds.language.relatedness import (
    CSV_COLUMNS,
    relatedness_csv_rows,
    relatedness_stored,
    what_makes_them_related,
)
from mlworkers.kinds.language.relatedness_chart import relatedness_chart


@require_GET
def relatedness_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    run = relatedness_for(request.user, pk)
    table = relatedness_stored(run.result)
    context = {
        "run": run,
        "csv": reverse("mlworkers:relatedness_csv", args=[pk]) if table is not None else "",
        "table": table,
        "warnings": run.result.get("warnings", []),
    }
    if table is not None:
        context["chart"] = relatedness_chart(table, finding=what_makes_them_related(table), judges=run.judges)
    return render(request, "mlworkers/relatedness.html", context)


@require_GET
def relatedness_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    run = relatedness_for(request.user, pk)
    table = relatedness_stored(run.result)
    rows = relatedness_csv_rows(table) if table is not None else []
    return csv_answer(request, f"relatedness-{pk}.csv", CSV_COLUMNS, rows, judges=run.judges)
