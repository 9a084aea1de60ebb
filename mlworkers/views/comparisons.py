"""Comparisons of weightings: their list, the table of one, its figures as a file, and evaluations side by side."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from curation.foundation.numbers import number_from
from curation.pairs.judged_by import marked
from curation.people.access import AuthedRequest
from curation.views.tables import csv_answer
from mlworkers.access import models_visible, runs_allow, runs_visible
from mlworkers.kinds.comparisons.access import comparison_for
from mlworkers.kinds.comparisons.augmentations import augmentations_of, what_they_show
from mlworkers.kinds.comparisons.comparison import comparison_of, side_by_side
from mlworkers.kinds.comparisons.comparison_words import (
    what_it_shows,
)
from mlworkers.kinds.comparisons.listed import (
    comparisons,
    evaluation_runs,
    links_to_start,
)
from mlworkers.kinds.comparisons.pre_fine_tuning import pre_fine_tunings_of
from mlworkers.kinds.comparisons.pre_fine_tuning import what_they_show as what_pre_fine_tunings_show
from mlworkers.kinds.comparisons.suite_table import CSV_COLUMNS as SUITE_CSV_COLUMNS
from mlworkers.kinds.comparisons.suite_table import csv_rows as suite_csv_rows
from mlworkers.kinds.comparisons.suite_table import suite_table_of
from mlworkers.runs.models_named import models_behind

RUNS_ON_A_PAGE = 50
BASE = "base"  # the row of the baseline model in a result


@require_GET
def comparison_list(request: AuthedRequest) -> HttpResponse:
    """Every comparison run, and evaluations of single models, of which those ticked stand side by side."""
    runs_allow(request.user)
    runs = runs_visible(request.user)
    chosen = [number for text in request.GET.getlist("run") if (number := number_from(text)) is not None]
    of_weightings, of_paraphrases, of_pre_fine_tunings = comparisons(runs)
    evaluated = evaluation_runs(runs)
    shown = evaluated[:RUNS_ON_A_PAGE]
    table = side_by_side(evaluated.filter(pk__in=chosen)) if chosen else None
    names = {
        *(run.plan.get("model", "") for run in shown),
        *(model for _run, model, _figures in (table.rows if table else ())),
    }
    context = {
        "comparisons": [
            (run, what_it_shows(comparison_of(run.result, [])) if run.result.get("encoders") else "")
            for run in of_weightings[:RUNS_ON_A_PAGE]
        ],
        "augmentations": [
            (run, what_they_show(found) if (found := augmentations_of(run)) else "")
            for run in of_paraphrases[:RUNS_ON_A_PAGE]
        ],
        "pre_fine_tunings": [
            (run, what_pre_fine_tunings_show(tuned) if (tuned := pre_fine_tunings_of(run)) else "")
            for run in of_pre_fine_tunings[:RUNS_ON_A_PAGE]
        ],
        "evaluated": shown,
        "chosen": chosen,
        "table": table,
        "models": models_behind(names, among=models_visible(request.user)),
        "starts": links_to_start(request.user),
    }
    return render(request, "mlworkers/comparisons.html", context)


@require_GET
def comparison_suites_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    """The table of sources and suites. Raises Http404 where the comparison has none."""
    run = comparison_for(request.user, pk)
    table = suite_table_of(run.result, judged=False)
    if table is None:
        raise Http404
    rows = list(suite_csv_rows(table, own_test=marked("own test", run.judges)))
    return csv_answer(request, f"comparison-{pk}-suites.csv", SUITE_CSV_COLUMNS, rows)
