"""Comparisons of pre-fine-tunings: the heatmaps and the table of one, and its figures as a file."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from curation.people.access import AuthedRequest
from curation.views.tables import csv_answer
from mlworkers.access import kind_may_start, pre_fine_tuning_for
from mlworkers.kinds.comparisons.pre_fine_tuning import (
    CSV_COLUMNS,
    csv_rows,
    pre_fine_tunings_of,
    task_charts,
    task_finding,
    unequal_examples,
)
from mlworkers.plans.kinds import kind_named


@require_GET
def pre_fine_tuning_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    run = pre_fine_tuning_for(request.user, pk)
    found = pre_fine_tunings_of(run)
    tasks = found.tasks if found else ()
    may_start = {
        name: run.dataset is not None and kind_may_start(request.user, kind_named(name), run.dataset)
        for name in (run.kind, "compare_augmentations")
    }
    context = {
        "run": run,
        "may_again": may_start[run.kind],
        "may_compare": may_start["compare_augmentations"],
        "csv": reverse("mlworkers:pre_fine_tuning_csv", args=[pk]) if found else "",
        "found": found,
        "tasks": [
            (task, task_finding(task), task_charts(task, place, judges=run.judges))
            for place, task in enumerate(tasks)
        ],
        "warnings": [
            *filter(None, [unequal_examples(found) if found else ""]),
            *run.result.get("warnings", []),
        ],
        "models": run.artifacts.filter(kind="classifier").order_by("pk"),
    }
    return render(request, "mlworkers/pre_fine_tuning.html", context)


@require_GET
def pre_fine_tuning_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    run = pre_fine_tuning_for(request.user, pk)
    found = pre_fine_tunings_of(run)
    rows = csv_rows(found) if found else []
    return csv_answer(request, f"pre-fine-tuning-{pk}.csv", CSV_COLUMNS, rows, judges=run.judges)
