"""The audit log of a dataset, for its owners and staff: who changed what, and when. Staff read that of all datasets."""

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from curation.forms.audit import AuditFilterForm
from curation.foundation.numbers import page_number
from curation.models import Dataset, User
from curation.people.access import AuthedRequest, audit_all_allow, dataset_for, dataset_may
from curation.people.audit import (
    COLUMNS,
    AuditFilter,
    audit_export,
    audit_found,
    audit_objects,
    audit_people,
    audit_rows,
)
from curation.views.tables import csv_streamed, jsonl_streamed

ENTRIES_ON_A_PAGE = 50
FORMATS = ("csv", "jsonl")


@require_GET
def audit_log(request: AuthedRequest, slug: str) -> HttpResponse:
    return _page(request, dataset_for(request.user, slug, may="audit"))


@require_GET
def audit_log_of_all(request: AuthedRequest) -> HttpResponse:
    audit_all_allow(request.user)
    return _page(request, None)


@require_GET
def audit_file(request: AuthedRequest, slug: str, file_format: str) -> StreamingHttpResponse:
    dataset = dataset_for(request.user, slug, may="audit")
    return log_file(request, dataset, _form(request, dataset).audit_filter, file_format)


@require_GET
def audit_file_of_all(request: AuthedRequest, file_format: str) -> StreamingHttpResponse:
    audit_all_allow(request.user)
    return log_file(request, None, _form(request, None).audit_filter, file_format)


def log_file(
    request: HttpRequest, dataset: Dataset | None, filter: AuditFilter, file_format: str
) -> StreamingHttpResponse:
    """The entries that a filter finds as CSV or JSONL.

    With `?spreadsheet=1` nothing in CSV is a formula to a spreadsheet. The download is itself an entry of the log,
    which the file does not have.
    """
    if file_format not in FORMATS:
        raise Http404
    user: User = request.user  # type: ignore[assignment]  # login before every address
    entries = audit_export(dataset=dataset, filter=filter, format=file_format, by=user)
    name = f"{dataset.slug}-log.{file_format}" if dataset else f"log.{file_format}"
    if file_format == "jsonl":
        return jsonl_streamed(name, audit_objects(entries))
    return csv_streamed(request, name, COLUMNS, audit_rows(entries))


def _page(request: AuthedRequest, dataset: Dataset | None) -> HttpResponse:
    form = _form(request, dataset)
    entries = audit_found(dataset, form.audit_filter)
    page = Paginator(entries, ENTRIES_ON_A_PAGE).get_page(max(page_number(request), 1))
    context = {
        "dataset": dataset,
        "form": form,
        "page": page,
        "address": form.address,
        "may_oversee": dataset is not None and dataset_may(request.user, dataset, may="oversee"),
    }
    return render(request, "curation/audit.html", context)


def _form(request: AuthedRequest, dataset: Dataset | None) -> AuditFilterForm:
    return AuditFilterForm(request.GET, people=audit_people(dataset))
