"""How written paraphrases meet the tags that were requested: heatmaps and figures of a run, and these as a file."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from curation.people.access import AuthedRequest
from curation.views.tables import csv_answer
from mlworkers.access import kind_may_start, written_paraphrases_for
from mlworkers.kinds.paraphrases.requested import (
    CSV_COLUMNS,
    csv_rows,
    requested_charts,
    requested_of,
    what_was_met,
)
from mlworkers.plans.kinds import kind_named


@require_GET
def requested_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    run = written_paraphrases_for(request.user, pk)
    found = requested_of(run)
    compare = kind_named("compare_augmentations")
    context = {
        "may_compare": run.dataset is not None and kind_may_start(request.user, compare, run.dataset),
        "run": run,
        "csv": reverse("mlworkers:requested_csv", args=[pk]) if found else "",
        "found": found,
        "shows": what_was_met(found) if found else "",
        "charts": requested_charts(run, found) if found else [],
    }
    return render(request, "mlworkers/requested.html", context)


@require_GET
def requested_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    found = requested_of(written_paraphrases_for(request.user, pk))
    return csv_answer(request, f"requested-{pk}.csv", CSV_COLUMNS, csv_rows(found) if found else [])
