"""What enters and leaves a dataset: imports, exports for people, snapshots for training and evaluation.

An import is uploaded, seen, tried, and then imported. Nothing is written before the last step.
"""

from contextlib import suppress
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from curation.datasets.selectors import has_active_pairs
from curation.exchange.claiming import imports_of
from curation.exchange.importing import AT_ONCE_ROWS, ImportOptions
from curation.exchange.receiving import takes_file, upload_refusal
from curation.exchange.refusals import NothingImportedError
from curation.exchange.uploads import (
    import_apply_at_once,
    import_check_at_once,
    import_discard,
    import_errors_offered,
    import_errors_path,
    import_is_closed,
    import_likely,
    import_preview,
    import_proposed,
    import_upload,
    run_kind_of,
)
from curation.forms.exchange import ExportForm, ImportForm, ReadingForm, UploadForm
from curation.foundation.errors import UserError
from curation.models import ImportBatch
from curation.pairs.leaks import Leaks
from curation.people.access import AuthedRequest, dataset_allow, dataset_for, dataset_may
from curation.views.tables import csv_file_answer

IMPORTS_SHOWN = 50


@takes_file(lambda request, slug: dataset_for(request.user, slug, may="curate"))
@require_http_methods(["GET", "POST"])
def import_list(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="oversee")
    form = UploadForm()
    if request.method == "POST":
        dataset_allow(request.user, dataset, may="curate")
        form = UploadForm(request.POST, request.FILES, refusal=upload_refusal(request))
    if form.is_valid():
        try:
            batch = import_upload(dataset=dataset, files=[form.cleaned_data["file"]], by=request.user)
        except UserError as error:
            form.add_error("file", str(error))
        else:
            return redirect("curation:import_batch", slug=slug, batch_pk=batch.pk)
    imports = imports_of(dataset, now())[:IMPORTS_SHOWN]
    context = {
        "dataset": dataset,
        "form": form,
        "imports": imports,
        "most_bytes": settings.UPLOAD_MAX_BYTES,
        "may_curate": dataset_may(request.user, dataset, may="curate"),
    }
    return render(request, "curation/imports.html", context)


@require_GET
def import_batch(request: AuthedRequest, slug: str, batch_pk: int) -> HttpResponse:
    """Before the import: the file's first rows, its columns, and the result it would have. Afterwards: its result."""
    batch = _batch(request, slug, batch_pk)
    if import_is_closed(batch):
        return _page(request, batch)
    stored = ImportOptions.from_json(batch.mapping) if batch.mapping else None
    reading = ReadingForm(request.GET)
    if stored and not request.GET:
        header = "yes" if stored.header else "no"
        reading = ReadingForm(
            {"header": header, "delimiter": stored.delimiter or "", "encoding": stored.encoding or ""}
        )
    try:
        preview = import_preview(batch, **reading.reading)
    except UserError as error:
        likely = getattr(error.__cause__, "likely", ())
        asked = {name: value for name, value in reading.reading.items() if name != "encoding"}
        previews = list(import_likely(batch, likely, **asked))
        return _page(request, batch, reading=reading, problem=str(error), likely=previews)
    if stored and not request.GET:
        return _page(
            request, batch, reading=reading, preview=preview, form=ImportForm(preview=preview, stored=stored)
        )
    proposed = import_proposed(dataset=batch.dataset, header=preview.columns, named=preview.header)
    form = ImportForm(preview=preview, stored=proposed[1] if proposed else None)
    as_in = proposed[0] if proposed else None
    return _page(request, batch, reading=reading, preview=preview, form=form, as_in=as_in)


@require_POST
def import_check_view(request: AuthedRequest, slug: str, batch_pk: int) -> HttpResponse:
    """Try the import without writing a row. The import's page then shows the result it would have.

    A larger file is tried by a run: the page's form then goes there.
    """
    batch = _batch(request, slug, batch_pk)
    if import_is_closed(batch):
        return redirect("curation:import_batch", slug=slug, batch_pk=batch_pk)
    reading = ReadingForm(request.POST)
    preview = import_preview(batch, **reading.reading)
    form = ImportForm(request.POST, preview=preview)
    if form.is_valid():
        try:
            with suppress(NothingImportedError):  # the batch keeps it, with the rejected rows
                import_check_at_once(batch=batch, options=form.options())
        except UserError as error:
            form.add_error(None, str(error))
        else:
            return redirect("curation:import_batch", slug=slug, batch_pk=batch_pk)
    return _page(request, batch, reading=reading, preview=preview, form=form)


@require_POST
def import_apply_view(request: AuthedRequest, slug: str, batch_pk: int) -> HttpResponse:
    """Import what was tried. Larger files are imported by a run: the page's form then goes there instead."""
    batch = _batch(request, slug, batch_pk)
    import_apply_at_once(batch=batch, by=request.user)
    return redirect("curation:import_batch", slug=slug, batch_pk=batch_pk)


@require_POST
def import_discard_view(request: AuthedRequest, slug: str, batch_pk: int) -> HttpResponse:
    batch = _batch(request, slug, batch_pk)
    import_discard(batch=batch)
    messages.success(request, _("%(file)s is discarded.") % {"file": batch.file_name})
    return redirect("curation:import", slug=slug)


@require_GET
def import_errors(request: AuthedRequest, slug: str, batch_pk: int) -> StreamingHttpResponse:
    return rejected_rows_answer(request, _batch(request, slug, batch_pk))


def rejected_rows_answer(request: HttpRequest, batch: ImportBatch) -> StreamingHttpResponse:
    """The rejected rows of a file, which may be corrected and imported again. Raises Http404 where there are none."""
    path = import_errors_path(batch)
    if path is None:
        raise Http404
    return csv_file_answer(request, f"{batch.file_name}-errors.csv", path)


def _batch(request: AuthedRequest, slug: str, batch_pk: int) -> ImportBatch:
    dataset = dataset_for(request.user, slug, may="oversee")
    if request.method == "POST":
        dataset_allow(request.user, dataset, may="curate")
    return get_object_or_404(imports_of(dataset, now()), pk=batch_pk)


def _page(request: AuthedRequest, batch: ImportBatch, **more: Any) -> HttpResponse:
    to_do = batch.state != ImportBatch.State.DONE and not import_is_closed(batch)
    leaks = batch.report.get("leaks") or {}
    context = {
        "dataset": batch.dataset,
        "batch": batch,
        "checked": to_do and batch.checked,
        "to_check": to_do and bool(batch.mapping) and not batch.checked,
        "nothing_kept": bool(batch.rejected and batch.mapping.get("strict")),
        "leaks_refused": bool(leaks.get("added")) and batch.mapping.get("leaks") != Leaks.ALLOW,
        "as_run": batch.rows > AT_ONCE_ROWS,
        "run_kind": run_kind_of(batch),
        "launch": uuid4(),
        "errors_file": import_errors_offered(batch),
        "errors_route": "curation:import_errors",
        "done": batch.state == ImportBatch.State.DONE,
        "failure": batch.state != ImportBatch.State.RUNNING and batch.report.get("error"),
        **more,
    }
    return render(request, "curation/import_batch.html", context)


@require_GET
def export(request: AuthedRequest, slug: str) -> HttpResponse:
    """The form starts a run; its page then shows the progress and the file."""
    dataset = dataset_for(request.user, slug, may="read")
    may_oversee = dataset_may(request.user, dataset, may="oversee")
    form = ExportForm(dataset) if has_active_pairs(dataset) else None
    context = {"dataset": dataset, "form": form, "may_oversee": may_oversee}
    return render(request, "curation/export.html", context)
