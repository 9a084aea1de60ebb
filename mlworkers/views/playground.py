"""Two sentences, and the cosine that an encoder gives them: asked of a worker, for the web process loads no model."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from curation.access import AuthedRequest
from curation.heartbeats import database_now
from curation.numbers import number_from
from mlworkers.access import model_for, models_visible, relation_for, runs_allow, start_allow
from mlworkers.forms.playground import PlaygroundForm
from mlworkers.models import Run
from mlworkers.plans.kinds import KINDS
from mlworkers.runs.presence import worker_command
from mlworkers.runs.selectors import queue_is_served
from mlworkers.runs.services import run_start

RELATE = KINDS["relate_sentences"]


@require_POST
def relate(request: AuthedRequest) -> HttpResponse:
    runs_allow(request.user)
    number = number_from(request.POST.get("artifact", ""))
    artifact = model_for(request.user, number) if number else None
    form = PlaygroundForm(
        request.POST, models=models_visible(request.user), artifact=artifact, by=request.user
    )
    if not form.is_valid():
        return render(request, "mlworkers/_related.html", {"form": form})
    dataset = artifact.run.dataset if artifact else None
    start_allow(request.user, RELATE, dataset)
    plan = {**form.cleaned_data, "artifact": artifact.pk if artifact else 0}
    run = run_start(kind=RELATE.name, plan=plan, by=request.user, dataset=dataset)
    return render(request, "mlworkers/_related.html", _context(run))


@require_GET
def related(request: AuthedRequest, pk: int) -> HttpResponse:
    """The answer so far; the page asks again until there is one."""
    return render(request, "mlworkers/_related.html", _context(relation_for(request.user, pk)))


def _context(run: Run) -> dict[str, Any]:
    cosine, pairs = run.result.get("cosine"), run.result.get("pairs")
    return {
        "run": run,
        "served": run.ended or queue_is_served(run.queue, database_now()),
        "queue": run.queue,
        "command": worker_command(run.queue),
        "cosine": cosine,
        "share": run.result["below"] / pairs if pairs else None,
        "pairs": pairs,
    }
