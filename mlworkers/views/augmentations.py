"""Comparisons of paraphrases: the table and the curves of one, and its figures as a file."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from curation.people.access import AuthedRequest
from curation.views.tables import csv_answer
from mlworkers.access import augmentations_for, kind_may_start
from mlworkers.kinds.comparisons.augmentations import (
    CSV_COLUMNS,
    augmentations_chart,
    augmentations_of,
    csv_rows,
    unequal_examples,
    what_they_show,
)
from mlworkers.plans.kinds import kind_named


@require_GET
def augmentations_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    run = augmentations_for(request.user, pk)
    found = augmentations_of(run)
    profile = kind_named("profile_corpora")
    context = {
        "run": run,
        "may_profile": run.dataset is not None and kind_may_start(request.user, profile, run.dataset),
        "csv": reverse("mlworkers:augmentations_csv", args=[pk]) if found else "",
        "found": found,
        "shows": what_they_show(found) if found else "",
        "chart": augmentations_chart(found) if found else None,
        "warnings": [
            *filter(None, [unequal_examples(found) if found else ""]),
            *run.result.get("warnings", []),
        ],
        "models": run.artifacts.filter(kind="encoder").order_by("pk"),
    }
    return render(request, "mlworkers/augmentations.html", context)


@require_GET
def augmentations_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    run = augmentations_for(request.user, pk)
    found = augmentations_of(run)
    rows = csv_rows(found) if found else []
    return csv_answer(request, f"paraphrases-{pk}.csv", CSV_COLUMNS, rows, judges=run.judges)
