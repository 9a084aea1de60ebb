"""The running text beside a dataset: what there is, and the upload of more."""

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from curation.exchange.receiving import takes_file, upload_refusal
from curation.exchange.uploads import import_upload
from curation.foundation.errors import UserError
from curation.models import ImportBatch
from curation.people.access import AuthedRequest, dataset_allow, dataset_for, dataset_may
from mlworkers.kinds.contexts.access import corpus_for
from mlworkers.kinds.contexts.forms import FILES_MOST, CorpusForm, SentenceForm
from mlworkers.kinds.contexts.running_text import contexts_found, corpora_of
from mlworkers.runs.services import run_start
from mlworkers.runs.storage import artifact_path
from mlworkers.science.contexts.plan import INDEXING
from mlworkers.views.reports import reader_of


@takes_file(lambda request, slug: dataset_for(request.user, slug, may="curate"))
@require_http_methods(["GET", "POST"])
def corpora(request: AuthedRequest, slug: str) -> HttpResponse:
    """A POST keeps the files and starts the run that makes a corpus of them."""
    dataset = dataset_for(request.user, slug, may="read")
    form = CorpusForm(language=dataset.language)
    if request.method == "POST":
        dataset_allow(request.user, dataset, may="curate")
        form = CorpusForm(
            request.POST, request.FILES, refusal=upload_refusal(request), language=dataset.language
        )
    if form.is_valid():
        files, kind = form.cleaned_data["file"], ImportBatch.Kind.CORPUS
        try:
            batch = import_upload(dataset=dataset, files=files, by=request.user, kind=kind)
            plan = {"dataset": slug, "batch": batch.pk}
            plan |= {name: form.cleaned_data[name] for name in ("form", "language", "encoding")}
            run = run_start(kind=INDEXING, plan=plan, by=request.user, dataset=dataset)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            return redirect("mlworkers:run_detail", pk=run.pk)
    context = {
        "dataset": dataset,
        "form": form,
        "rows": corpora_of(dataset),
        "may_upload": dataset_may(request.user, dataset, may="curate"),
        "most_files": FILES_MOST,
        "most_bytes": settings.UPLOAD_MAX_BYTES,
    }
    return render(request, "mlworkers/running_text.html", context)


@require_GET
def corpus_contexts(request: AuthedRequest, pk: int) -> HttpResponse:
    """The contexts of a corpus in which a typed sentence could occur."""
    run = corpus_for(request.user, pk)
    made = run.artifacts.filter(kind="corpus", removed_at=None).first()
    form = SentenceForm(request.GET or None)
    label = _("Train a model on this corpus, to score pairs by contexts")
    context: dict[str, Any] = {
        "run": run,
        "made": made,
        "form": form,
        "train": reader_of(request).form("train_context_model", run.dataset, label, corpus=run.pk),
    }
    if made is not None and form.is_valid():
        try:
            context["found"] = contexts_found(artifact_path(made), form.cleaned_data["sentence"])
        except UserError as error:
            form.add_error("sentence", str(error))
    return render(request, "mlworkers/corpus.html", context)
