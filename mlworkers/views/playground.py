"""Two sentences, and the cosine that an encoder gives them; a sentence, and what a paraphraser writes of it. Both are
asked of a worker, for the web process loads no model.
"""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from curation.foundation.numbers import number_from
from curation.models import User
from curation.people.access import AuthedRequest
from mlworkers.access import model_for, models_visible, paraphraser_for, runs_allow, start_allow
from mlworkers.forms.playground import PlaygroundForm, TrialForm
from mlworkers.kinds.encoders.access import relation_for
from mlworkers.kinds.paraphrases.access import trial_for
from mlworkers.models import Artifact, Run
from mlworkers.plans.kinds import KINDS
from mlworkers.runs.models_named import reference_of
from mlworkers.runs.selectors import worker_for
from mlworkers.runs.services import run_start

RELATE = KINDS["relate_sentences"]
TRY = KINDS["try_paraphraser"]


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


@require_POST
def paraphrase(request: AuthedRequest, pk: int) -> HttpResponse:
    runs_allow(request.user)
    artifact = paraphraser_for(request.user, pk)
    form = TrialForm(request.POST, artifact=artifact, models=models_visible(request.user), by=request.user)
    if not form.is_valid():
        return render(request, "mlworkers/_paraphrased.html", {"form": form})
    run = trial_start(artifact, form, request.user)
    return render(request, "mlworkers/_paraphrased.html", _asked(run))


def trial_start(artifact: Artifact, form: TrialForm, by: User) -> Run:
    """Ask a worker for the paraphrases of a valid form."""
    start_allow(by, TRY, artifact.run.dataset)
    plan = {**form.cleaned_data, "model": reference_of(artifact, alone=False)}
    return run_start(kind=TRY.name, plan=plan, by=by, dataset=artifact.run.dataset)


@require_GET
def paraphrased(request: AuthedRequest, pk: int) -> HttpResponse:
    """The paraphrases so far; the page asks again until they are there."""
    return render(request, "mlworkers/_paraphrased.html", _asked(trial_for(request.user, pk)))


def _asked(run: Run) -> dict[str, Any]:
    return {"run": run, **worker_for(run.queue, ended=run.ended)}


def _context(run: Run) -> dict[str, Any]:
    cosine, pairs = run.result.get("cosine"), run.result.get("pairs")
    return {
        **_asked(run),
        "cosine": cosine,
        "share": run.result["below"] / pairs if pairs else None,
        "pairs": pairs,
    }
