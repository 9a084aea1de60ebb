"""The log book of runs, and the page of one."""

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from curation.foundation.heartbeats import database_now
from curation.foundation.numbers import page_number
from curation.people.access import AuthedRequest, dataset_for, datasets_readable
from curation.results.reports import Link, Links, Part, Text
from curation.views.tables import csv_answer
from mlworkers.access import kinds_startable, run_for, run_may, runs_allow, runs_visible
from mlworkers.forms.filters import RunFilterForm
from mlworkers.kinds.comparisons.searches import CSV_COLUMNS, csv_rows, search_of
from mlworkers.kinds.encoders.furthest import furthest_of
from mlworkers.kinds.steps import pairs_links
from mlworkers.models import Run
from mlworkers.plans.kinds import KINDS, MODEL_KINDS, PAGES
from mlworkers.runs.attempts import fix_of
from mlworkers.runs.curves import curve_charts
from mlworkers.runs.selectors import (
    datasets_with_runs,
    run_page,
    run_rows,
    runs_before,
    runs_of_snapshot,
    shards_running,
    stages_of,
    worker_for,
)
from mlworkers.runs.services import run_cancel as cancel
from mlworkers.runs.services import run_put_first
from mlworkers.runs.storage import Curve, RunLog
from mlworkers.views.reports import reader_of

RUNS_ON_A_DATASET_S_PAGE = 3
RUNS_OF_A_SNAPSHOT = 20


@require_GET
def run_list(request: AuthedRequest) -> HttpResponse:
    runs_allow(request.user)
    runs = runs_visible(request.user)
    slug = request.GET.get("dataset", "")
    dataset = datasets_readable(request.user).filter(slug=slug).first() if slug else None
    form = RunFilterForm(request.GET, datasets=datasets_with_runs(runs, asked=dataset))
    asked = request.GET.copy()
    asked.pop("page", None)
    wanted = form.wanted()
    page = run_page(runs, **wanted, page=page_number(request))
    kinds = kinds_startable(request.user)
    context = {
        "dataset": dataset,
        "form": form,
        "filtered": any(wanted.values()),
        "narrowed": bool(wanted["kind"] or wanted["state"]),
        "page": page,
        "rows": run_rows(page, database_now()),
        "address": f"{asked.urlencode()}&" if asked else "",  # of the other pages
        "kinds": kinds,
    }
    return render(request, "mlworkers/runs.html", context)


@require_GET
def dataset_runs(request: AuthedRequest, slug: str) -> HttpResponse:
    """The newest runs of a dataset, for its own page, which knows nothing of runs."""
    dataset = dataset_for(request.user, slug, may="read")
    page = run_page(runs_visible(request.user), dataset=slug)
    rows = run_rows(page.object_list[:RUNS_ON_A_DATASET_S_PAGE], database_now())
    at_work = any(not row["run"].ended for row in rows)
    context = {"dataset": dataset, "rows": rows, "page": page, "at_work": at_work}
    return render(request, "mlworkers/_dataset_runs.html", context)


@require_GET
def snapshot_runs(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """The runs that read a snapshot, and their models, for its own page, which knows nothing of runs."""
    dataset = dataset_for(request.user, slug, may="read")
    get_object_or_404(dataset.snapshots, number=number)
    runs = runs_of_snapshot(runs_visible(request.user), dataset, number)
    rows = run_rows(runs.prefetch_related("artifacts")[:RUNS_OF_A_SNAPSHOT], database_now())
    for row in rows:
        row["models"] = [each for each in row["run"].artifacts.all() if each.kind in MODEL_KINDS]
    context = {
        "dataset": dataset,
        "number": number,
        "rows": rows,
        "count": runs.count(),
        "train": reader_of(request).form(
            "train_encoder", dataset, _("Train an encoder on it"), snapshot=number
        ),
    }
    return render(request, "mlworkers/_snapshot_runs.html", context)


@require_GET
def run_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    run = run_for(request.user, pk, may="read")
    context = {**_run_context(request, run), "charts": curve_charts(Curve(run.pk).read())}
    return render(request, "mlworkers/run.html", context)


@require_GET
def run_progress(request: AuthedRequest, pk: int) -> HttpResponse:
    """The part of the run's page that changes; the page asks for it again until the run has ended."""
    run = run_for(request.user, pk, may="read")
    context = {**_run_context(request, run), "follows": True}
    if run.ended:
        context |= {"afterwards": True, "charts": curve_charts(Curve(run.pk).read())}
    return render(request, "mlworkers/_progress.html", context)


@require_GET
def run_curves(request: AuthedRequest, pk: int) -> HttpResponse:
    """The current curves. Each request draws them, so the page asks for them less often than for the progress."""
    run = run_for(request.user, pk, may="read")
    return render(
        request, "mlworkers/_curves.html", {"run": run, "charts": curve_charts(Curve(run.pk).read())}
    )


def _run_context(request: AuthedRequest, run: Run) -> dict[str, Any]:
    at, artifacts = database_now(), list(run.artifacts.order_by("pk"))
    stages = stages_of(run)
    before = runs_before(run).count() if run.state == Run.State.QUEUED else 0
    return {
        **run_rows([run], at)[0],
        **worker_for(run.queue, ended=run.ended, at=at),
        "log": RunLog(run.pk).tail(),
        "artifacts": artifacts,
        "may_remove": run_may(request.user, run, may="remove")
        and any(not one.removed_at for one in artifacts),
        "model_kinds": MODEL_KINDS,
        "search": search_of(run),
        "furthest": furthest_of(run, request.user) if run.kind not in PAGES else None,
        "next_steps": _next_steps(request, run),
        "stages": stages,
        "at_work": shards_running(run),
        "may_cancel": not run.ended and run_may(request.user, run, may="cancel"),
        "before": before,
        "may_put_first": before > 0 and run_may(request.user, run, may="first"),
        "launch": uuid4(),
        "may_start": run.ended and run_may(request.user, run, may="start"),
        "fix": fix_of(run),
        "shards_done": sum(stage["finished"] for stage in stages),
    }


def _next_steps(request: AuthedRequest, run: Run) -> list[Part]:
    """The sentences and links of its kind, for a run that succeeded. If the person may go on with none of them and no
    page shows the results, the dataset's pairs.
    """
    kind = KINDS.get(run.kind)
    if kind is None or run.state != Run.State.SUCCEEDED:
        return []
    steps = kind.function(kind.next_steps)(run, reader_of(request)) if kind.next_steps else []
    links = [step for step in steps if isinstance(step, Link)]
    if not links and kind.page is None:
        links = pairs_links(run)
    sentences: list[Part] = [Text(step) for step in steps if isinstance(step, str)]
    return [*sentences, Links(links)] if links else sentences


@require_GET
def search_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    """The trials of a search. Raises Http404 where the run has none."""
    run = run_for(request.user, pk, may="read")
    search = search_of(run)
    if search is None:
        raise Http404
    return csv_answer(request, f"trials-{pk}.csv", CSV_COLUMNS, csv_rows(search), judges=run.judges)


@require_POST
def run_first(request: AuthedRequest, pk: int) -> HttpResponse:
    run = run_for(request.user, pk, may="first")
    if not run_put_first(run=run, by=request.user):
        messages.info(request, _("The run had begun before it could be put first."))
    return redirect("mlworkers:run_detail", pk=pk)


@require_POST
def run_cancel(request: AuthedRequest, pk: int) -> HttpResponse:
    run = run_for(request.user, pk, may="cancel")
    if not cancel(run=run, by=request.user):
        messages.info(request, _("The run had ended before it could be cancelled."))
    return redirect("mlworkers:run_detail", pk=pk)
