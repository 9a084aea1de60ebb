"""Round-trip translations: how many candidates each setting puts into each cell."""

from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from curation.foundation.numbers import number_asked
from curation.people.access import AuthedRequest
from curation.views.tables import csv_answer
from mlworkers.kinds.paraphrases.access import round_trip_for
from mlworkers.kinds.paraphrases.forms import ProfileForm
from mlworkers.kinds.paraphrases.next_steps import labelling_links, selecting_links
from mlworkers.kinds.paraphrases.paraphrases import rows_for_profile, run_that_labelled
from mlworkers.kinds.paraphrases.round_trips import (
    CSV_COLUMNS,
    YieldsShown,
    yields_chart,
    yields_csv_rows,
    yields_finding,
    yields_shown,
)
from mlworkers.models import Run
from mlworkers.runs.candidates import candidates_read
from mlworkers.views.reports import reader_of


@require_GET
def round_trip_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    run = round_trip_for(request.user, pk)
    context: dict[str, Any] = {"run": run, "files": run.artifacts.order_by("pk")}
    reader = reader_of(request)
    context["label"] = labelling_links(reader, run.dataset)
    context["select"] = selecting_links(reader, run)
    form = _form(request, run)
    if form is not None:
        first, second = form.first_row, form.second_row
        shown = _shown(run, form)
        chosen = shown.named(request.GET.get("setting", ""))
        context |= {
            "form": form,
            "shown": shown,
            "chosen": chosen,
            "rows": shown.rows(chosen),
            "chart": yields_chart(shown, first, second),
            "finding": yields_finding(shown),
            "address": urlencode({"first": first.score_set.pk, "second": second.score_set.pk}),
        }
    return render(request, "mlworkers/round_trip.html", context)


@require_GET
def round_trip_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    """The number of candidates of each setting in each cell of tags."""
    run = round_trip_for(request.user, pk)
    form = _form(request, run)
    if form is None:
        raise Http404
    rows = yields_csv_rows(_shown(run, form))
    return csv_answer(request, f"round-trip-{pk}-cells.csv", CSV_COLUMNS, rows)


def _shown(run: Run, form: ProfileForm) -> YieldsShown:
    return yields_shown(run, partial(candidates_read, run), form.first_row, form.second_row)


def _form(request: AuthedRequest, run: Run) -> ProfileForm | None:
    """None where the run has not ended well, or its dataset has no two score sets with scores."""
    if run.dataset is None or run.state != Run.State.SUCCEEDED:
        return None
    labelled_by = number_asked(request, "run", 0) or run_that_labelled(run.dataset, written_by=run.pk)
    rows = rows_for_profile(run.dataset, labelled_by)
    return ProfileForm(request.GET, rows=rows) if len(rows) > 1 else None
