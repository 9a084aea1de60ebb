"""Finished judgements into a dataset: files are uploaded, seen, checked, and become a closed campaign.

Nothing is written before the last step.
"""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from annotation.forms.importing import JudgementsForm, JudgementsUploadForm
from annotation.results.importing import makes_pairs
from annotation.results.uploading import JudgementOptions, judgements_likely, judgements_preview
from annotation.tasks import judgements_check_now_or_later, judgements_import_now_or_later
from curation.exchange.claiming import imports_of
from curation.exchange.receiving import takes_file, upload_refusal
from curation.exchange.uploads import import_discard, import_errors_offered, import_errors_path, import_upload
from curation.forms.exchange import TextForm
from curation.foundation.errors import UserError
from curation.models import ImportBatch
from curation.people.access import AuthedRequest, dataset_allow, dataset_for
from curation.views.tables import csv_file_answer

IMPORTS_SHOWN = 50
State = ImportBatch.State


@takes_file(lambda request, slug: dataset_for(request.user, slug, may="curate"))
@require_http_methods(["GET", "POST"])
def judgement_imports(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="oversee")
    form = JudgementsUploadForm()
    if request.method == "POST":
        dataset_allow(request.user, dataset, may="curate")
        form = JudgementsUploadForm(request.POST, request.FILES, refusal=upload_refusal(request))
    if form.is_valid():
        files, kind = form.cleaned_data["file"], ImportBatch.Kind.JUDGEMENTS
        try:
            batch = import_upload(dataset=dataset, files=files, by=request.user, kind=kind)
        except UserError as error:
            form.add_error("file", str(error))
        else:
            return redirect("annotation:judgement_import", slug, batch.pk)
    imports = imports_of(dataset, now(), kind=ImportBatch.Kind.JUDGEMENTS)[:IMPORTS_SHOWN]
    context = {
        "dataset": dataset,
        "form": form,
        "imports": imports,
        "most_bytes": settings.UPLOAD_MAX_BYTES,
        "makes_pairs": makes_pairs(dataset),
    }
    return render(request, "annotation/imports/list.html", context)


@require_GET
def judgement_import(request: AuthedRequest, slug: str, batch_pk: int) -> HttpResponse:
    """Before the import: the first rows, the columns, and the campaign it would make. Afterwards: what became of it."""
    batch = _batch(request, slug, batch_pk)
    if _is_closed(batch):
        return _page(request, batch)
    stored = JudgementOptions.from_json(batch.mapping) if batch.mapping else None
    asked = {"delimiter": stored.delimiter, "encoding": stored.encoding} if stored else {}
    text = TextForm(request.GET or {name: value or "" for name, value in asked.items()})
    reading = text.reading
    try:
        preview = judgements_preview(batch, stored, **reading)
    except UserError as error:
        likely = getattr(error.__cause__, "likely", ())
        previews = list(judgements_likely(batch, likely, delimiter=reading["delimiter"]))
        return _page(request, batch, text=text, problem=str(error), likely=previews)
    form = JudgementsForm(batch=batch, preview=preview, stored=stored, reading=reading)
    return _page(request, batch, text=text, preview=preview, form=form)


@require_POST
def judgement_import_check(request: AuthedRequest, slug: str, batch_pk: int) -> HttpResponse:
    """Check without writing a row. The import's page then shows the campaign it would make."""
    batch = _batch(request, slug, batch_pk)
    if _is_closed(batch):
        return redirect("annotation:judgement_import", slug, batch_pk)
    text = TextForm(request.POST)
    preview = judgements_preview(batch, **text.reading)
    form = JudgementsForm(request.POST, batch=batch, preview=preview, reading=text.reading)
    if form.is_valid():
        try:
            judgements_check_now_or_later(batch=batch, options=form.options())
        except UserError as error:
            form.add_error(None, str(error))
        else:
            return redirect("annotation:judgement_import", slug, batch_pk)
    return _page(request, batch, text=text, preview=preview, form=form)


@require_POST
def judgement_import_apply(request: AuthedRequest, slug: str, batch_pk: int) -> HttpResponse:
    """Import what was checked. A second click finds what the first one began."""
    batch = _batch(request, slug, batch_pk)
    if batch.state == State.DONE:
        return _to_campaign(request, batch.report["campaign"])
    if _is_underway(batch):
        return redirect("annotation:judgement_import", slug, batch_pk)
    campaign = None
    try:
        campaign = judgements_import_now_or_later(batch=batch)
    except UserError as error:
        now_is = _batch(request, slug, batch_pk)
        if not _is_closed(now_is) and now_is.state != State.FAILED:  # else the page shows what became of it
            messages.error(request, str(error))
    if campaign is None:
        return redirect("annotation:judgement_import", slug, batch_pk)
    return _to_campaign(request, campaign.pk)


@require_GET
def judgement_import_state(request: AuthedRequest, slug: str, batch_pk: int) -> HttpResponse:
    """How far a worker is; once it has ended, the browser goes to the result."""
    batch = _batch(request, slug, batch_pk)
    if _is_underway(batch):
        context = {"dataset": batch.dataset, "batch": batch}
        return render(request, "annotation/imports/_progress.html", context)
    if batch.state == State.DONE:
        return HttpResponseClientRedirect(_to_campaign(request, batch.report["campaign"])["Location"])
    return HttpResponseClientRedirect(reverse("annotation:judgement_import", args=[slug, batch_pk]))


@require_POST
def judgement_import_discard(request: AuthedRequest, slug: str, batch_pk: int) -> HttpResponse:
    batch = _batch(request, slug, batch_pk)
    import_discard(batch=batch)
    messages.success(request, _("%(file)s is discarded.") % {"file": batch.file_name})
    return redirect("annotation:judgement_imports", slug)


@require_GET
def judgement_import_errors(request: AuthedRequest, slug: str, batch_pk: int) -> StreamingHttpResponse:
    batch = _batch(request, slug, batch_pk)
    path = import_errors_path(batch)
    if path is None:
        raise Http404
    return csv_file_answer(request, "rejected-judgements.csv", path)


def _batch(request: AuthedRequest, slug: str, batch_pk: int) -> ImportBatch:
    dataset = dataset_for(request.user, slug, may="oversee")
    if request.method == "POST":
        dataset_allow(request.user, dataset, may="curate")
    return get_object_or_404(imports_of(dataset, now(), kind=ImportBatch.Kind.JUDGEMENTS), pk=batch_pk)


def _is_underway(batch: ImportBatch) -> bool:
    """Whether a worker or a request has the upload, or is to have it."""
    running = batch.state == State.RUNNING and not batch.interrupted  # type: ignore[attr-defined]
    return running or batch.state == State.WAITING


def _is_closed(batch: ImportBatch) -> bool:
    """Whether nothing can be chosen."""
    return _is_underway(batch) or batch.state == State.DONE


def _to_campaign(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    done = _("The judgements are imported. Look at their reliability, then publish the scores.")
    messages.success(request, done)
    return redirect("annotation:campaign", campaign_pk)


def _page(request: AuthedRequest, batch: ImportBatch, **more: Any) -> HttpResponse:
    context = {
        "dataset": batch.dataset,
        "batch": batch,
        "underway": _is_underway(batch),
        "checked": not _is_closed(batch) and batch.checked,
        "errors_file": import_errors_offered(batch),
        "failure": "" if _is_closed(batch) else batch.report.get("error", ""),
        **more,
    }
    return render(request, "annotation/imports/import.html", context)
