"""What runs and the rest of the site hold on the disk, and how people remove what nobody needs."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from curation.foundation.errors import UserError
from curation.foundation.heartbeats import database_now
from curation.people.access import AuthedRequest
from mlworkers.access import installation_allow, run_for
from mlworkers.plans.kinds import KINDS
from mlworkers.runs.disk import beside_runs, disk_use, leftovers_reclaim
from mlworkers.runs.removing import removal_of, run_files_remove

HOLDINGS_SHOWN = 100


@require_GET
def disk_detail(request: AuthedRequest) -> HttpResponse:
    installation_allow(request.user)
    use = disk_use(at=database_now())
    shown = [(one, KINDS.get(one.run.kind) if one.run else None) for one in use.holdings[:HOLDINGS_SHOWN]]
    context = {"use": use, "shown": shown, "beside": beside_runs()}
    return render(request, "mlworkers/disk.html", context)


@require_POST
def disk_reclaim(request: AuthedRequest) -> HttpResponse:
    installation_allow(request.user)
    freed = leftovers_reclaim(at=database_now())
    messages.success(request, _("%(size)s freed.") % {"size": filesizeformat(freed)})
    return redirect("mlworkers:disk")


@require_http_methods(["GET", "POST"])
def run_files(request: AuthedRequest, pk: int) -> HttpResponse:
    """What removing a run's files would lose, and the button that does it."""
    run = run_for(request.user, pk, may="remove")
    if request.method == "POST":
        try:
            freed = run_files_remove(run=run, by=request.user, at=database_now())
        except UserError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, _("%(size)s freed.") % {"size": filesizeformat(freed)})
        return redirect("mlworkers:run_detail", pk=pk)
    context = {"run": run, "kind": KINDS.get(run.kind), "removal": removal_of(run)}
    return render(request, "mlworkers/run_files.html", context)
