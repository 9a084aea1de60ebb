"""Similarity from contexts: how it agrees with human scores, and the contexts of one pair."""

from pathlib import Path
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from curation.datasets.agreement import agreement_chart
from curation.foundation.numbers import page_number
from curation.models import Pair
from curation.people.access import AuthedRequest
from mlworkers.kinds.contexts.access import context_scores_for
from mlworkers.kinds.contexts.context_scores import (
    contexts_compared,
    pair_shown,
    pairs_ranked,
    rows_to_compare,
    sets_of_run,
)
from mlworkers.kinds.contexts.forms import ComparedWithForm
from mlworkers.models import Artifact
from mlworkers.runs.storage import artifact_path
from mlworkers.views.reports import reader_of

LISTED = 20


@require_GET
def context_scores_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    run = context_scores_for(request.user, pk)
    context: dict[str, Any] = {"run": run, "warnings": run.result.get("warnings", [])}
    rows = sets_of_run(run)
    if rows is not None and run.dataset is not None:
        centred = rows[0].score_set
        context["centred"] = centred
        label = _(
            "Train an encoder on the centred similarities (a student encoder), which scores any pair at once"
        )
        context["train"] = reader_of(request).form("train_encoder", run.dataset, label, scores=centred.name)
        context["page"] = Paginator(pairs_ranked(centred), LISTED).get_page(max(page_number(request), 1))
        others = rows_to_compare(run.dataset, run)
        if others:
            form = ComparedWithForm(request.GET, rows=others)
            found = contexts_compared(rows, form.row, folder=_folder(run.pk, "context_scores"))
            context |= {
                "form": form,
                "people": form.row.score_set,
                "compared": found,
                "chart": agreement_chart(form.row.score_set, centred, found.centred.with_people),
                "address": f"scores={form.row.score_set.pk}&",
            }
    return render(request, "mlworkers/context_scores.html", context)


@require_GET
def pair_contexts(request: AuthedRequest, pk: int, pair: int) -> HttpResponse:
    run = context_scores_for(request.user, pk)
    found = get_object_or_404(Pair.objects.select_related("a", "b", "dataset"), pk=pair, dataset=run.dataset)
    folder, corpus = _folder(run.pk, "context_scores"), _folder(run.plan.get("corpus"), "corpus")
    context = {"run": run, "pair": found, "shown": pair_shown(run, found, folder=folder, corpus=corpus)}
    return render(request, "mlworkers/pair_contexts.html", context)


def _folder(run: int | None, kind: str) -> Path | None:
    """Of a run's files of that kind; None where they were removed."""
    made = Artifact.objects.filter(run=run, kind=kind, removed_at=None).first()
    folder = artifact_path(made) if made is not None else None
    return folder if folder is not None and folder.is_dir() else None
