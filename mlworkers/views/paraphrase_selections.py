"""A balanced selection of paraphrases: what each split got of each cell."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from curation.people.access import AuthedRequest
from mlworkers.access import kind_may_start, selection_for
from mlworkers.kinds.paraphrases.paraphrase_selections import splits_shown
from mlworkers.plans.kinds import kind_named


@require_GET
def selection_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    run = selection_for(request.user, pk)
    train = kind_named("train_paraphraser")
    context = {
        "run": run,
        "splits": splits_shown(run.result),
        "labels_from": run.result.get("labels_from", ""),
        "may_train": run.dataset is not None and kind_may_start(request.user, train, run.dataset),
        "files": run.artifacts.order_by("pk"),
    }
    return render(request, "mlworkers/selection.html", context)
