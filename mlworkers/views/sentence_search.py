"""The sentences of a dataset that are nearest to a typed one. A worker finds them: the web process loads no model."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_http_methods

from curation.models import Dataset, User
from curation.people.access import AuthedRequest, dataset_for
from mlworkers.access import kind_may_start, start_allow
from mlworkers.kinds.encoders.access import sentence_search_for
from mlworkers.kinds.encoders.forms import SentenceSearchForm
from mlworkers.kinds.encoders.sentence_search import KIND, SEARCH, IndexRow, indexes_of, sentences_found
from mlworkers.models import Run
from mlworkers.plans.kinds import KINDS
from mlworkers.runs.selectors import worker_for
from mlworkers.runs.services import run_start


@require_http_methods(["GET", "POST"])
def sentence_search(request: AuthedRequest, slug: str) -> HttpResponse:
    """A POST asks a worker; htmx exchanges the answer alone."""
    dataset = dataset_for(request.user, slug, may="read")
    rows = indexes_of(dataset)
    form = SentenceSearchForm(request.POST or None, rows=rows)
    run = search_start(dataset, form, request.user) if rows and form.is_valid() else None
    context = {"form": form, **(_asked(run) if run else worker_for(KINDS[SEARCH].queue))}
    return _page(request, dataset, rows, context)


@require_GET
def sentences_searched(request: AuthedRequest, pk: int) -> HttpResponse:
    """The answer so far, which the page asks for again until there is one; opened by itself, with the form above it."""
    run, dataset = sentence_search_for(request.user, pk)
    if request.htmx:
        return render(request, "mlworkers/_sentences_found.html", _asked(run))
    rows = indexes_of(dataset)
    return _page(
        request, dataset, rows, {"form": SentenceSearchForm(initial=run.plan, rows=rows), **_asked(run)}
    )


def _page(
    request: AuthedRequest, dataset: Dataset, rows: list[IndexRow], context: dict[str, Any]
) -> HttpResponse:
    if request.htmx:
        return render(request, "mlworkers/_sentences_found.html", context)
    context |= {
        "dataset": dataset,
        "rows": rows,
        "may_index": kind_may_start(request.user, KINDS[KIND], dataset),
    }
    return render(request, "mlworkers/sentence_search.html", context)


def search_start(dataset: Dataset, form: SentenceSearchForm, by: User) -> Run:
    """Ask a worker for the sentences of a valid form."""
    start_allow(by, KINDS[SEARCH], dataset)
    return run_start(kind=SEARCH, plan=form.plan(), by=by, dataset=dataset)


def _asked(run: Run) -> dict[str, Any]:
    found = sentences_found(run) if run.state == Run.State.SUCCEEDED else []
    return {"run": run, "found": found, **worker_for(run.queue, ended=run.ended)}
