"""Cross-validations of encoders: the tables of one, and its figures as a file."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from curation.people.access import AuthedRequest
from curation.views.tables import csv_answer
from mlworkers.access import cross_validation_for
from mlworkers.kinds.encoders.cross_validation import (
    CSV_COLUMNS,
    cross_validation_csv_rows,
    cross_validation_stored,
    what_the_folds_show,
    what_to_cite,
)
from mlworkers.kinds.encoders.cross_validation_chart import protocols_chart, sources_chart
from mlworkers.kinds.encoders.furthest import furthest_of


@require_GET
def cross_validation_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    run = cross_validation_for(request.user, pk)
    found = cross_validation_stored(run.result)
    context = {
        "run": run,
        "csv": reverse("mlworkers:cross_validation_csv", args=[pk]) if found else "",
        "found": found,
        "shows": what_the_folds_show(found) if found else "",
        "cite": what_to_cite(found) if found else "",
        "chart": protocols_chart(found, judges=run.judges) if found else None,
        "sources_chart": sources_chart(found, judges=run.judges) if found else None,
        "warnings": run.result.get("warnings", []),
        "furthest": furthest_of(
            run,
            request.user,
            asked=request.GET.get("furthest", ""),
            proposed=found.cited.best[0].method if found and found.cited.best else "",
        ),
        "folds_file": run.artifacts.filter(kind="folds", removed_at=None).first(),
    }
    return render(request, "mlworkers/cross_validation.html", context)


@require_GET
def cross_validation_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    run = cross_validation_for(request.user, pk)
    found = cross_validation_stored(run.result)
    rows = cross_validation_csv_rows(found) if found else []
    return csv_answer(request, f"cross-validation-{pk}.csv", CSV_COLUMNS, rows, judges=run.judges)
