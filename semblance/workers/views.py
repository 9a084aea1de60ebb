"""The page of the workers, for staff."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from curation.foundation.heartbeats import database_now
from curation.people.access import AuthedRequest
from mlworkers.access import installation_allow
from mlworkers.models import WorkerHeartbeat
from mlworkers.plans.kinds import QUEUES
from mlworkers.runs.draining import worker_drain, worker_undrain
from mlworkers.runs.presence import worker_command
from mlworkers.runs.selectors import beat_heard, live_workers
from semblance.health import beat_problem
from semblance.workers.listing import WorkerState, worker_rows


@require_GET
def worker_list(request: AuthedRequest) -> HttpResponse:
    installation_allow(request.user)
    at = database_now()
    rows = worker_rows(at)
    served = {queue for row in rows if row.may_drain for queue in row.worker.queues}
    live = [row for row in rows if row.state != WorkerState.SILENT]
    context = {
        "rows": rows,
        "beat": beat_heard(at),
        "beat_problem": beat_problem(),
        "live": live,
        "unserved": [(queue, worker_command(queue)) for queue in QUEUES if queue not in served],
        "may_drain": any(row.may_drain for row in rows),
        "may_undrain": any(row.may_undrain for row in rows),
        "all_drained": bool(live) and all(row.state == WorkerState.DRAINED for row in live),
    }
    return render(request, "semblance/workers.html", context)


@require_POST
def drain(request: AuthedRequest, pk: int) -> HttpResponse:
    installation_allow(request.user)
    worker = get_object_or_404(WorkerHeartbeat, pk=pk)
    if worker_drain(worker=worker, by=request.user, at=database_now()):
        message = _("%(worker)s takes no more work. What it carries out, it finishes or hands back.")
        messages.success(request, message % {"worker": worker})
    return redirect("workers")


@require_POST
def undrain(request: AuthedRequest, pk: int) -> HttpResponse:
    installation_allow(request.user)
    worker = get_object_or_404(WorkerHeartbeat, pk=pk)
    if worker_undrain(worker=worker, by=request.user):
        messages.success(request, _("%(worker)s takes work again.") % {"worker": worker})
    return redirect("workers")


@require_POST
def drain_all(request: AuthedRequest) -> HttpResponse:
    installation_allow(request.user)
    at = database_now()
    asked = sum(worker_drain(worker=worker, by=request.user, at=at) for worker in live_workers(at))
    message = ngettext("%(n)s worker takes no more work.", "%(n)s workers take no more work.", asked)
    messages.success(request, message % {"n": asked})
    return redirect("workers")


@require_POST
def undrain_all(request: AuthedRequest) -> HttpResponse:
    installation_allow(request.user)
    asked = sum(worker_undrain(worker=worker, by=request.user) for worker in live_workers(database_now()))
    message = ngettext("%(n)s worker takes work again.", "%(n)s workers take work again.", asked)
    messages.success(request, message % {"n": asked})
    return redirect("workers")
