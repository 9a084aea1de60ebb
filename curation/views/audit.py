"""The audit log of a dataset, for its owners: who changed what, and when."""

from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from curation.access import AuthedRequest, dataset_for, dataset_may
from curation.datasets.audit import audit_found, audit_people, audit_rows
from curation.forms.audit import AuditFilterForm
from curation.models import Dataset
from curation.numbers import page_number
from curation.views.tables import csv_answer

ENTRIES_ON_A_PAGE = 50
COLUMNS = ("at", "by", "via", "token", "action", "subject", "pair", "pairs", "details")


@require_GET
def audit_log(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="audit")
    form = _form(request, dataset)
    entries = audit_found(dataset, form.audit_filter)
    page = Paginator(entries, ENTRIES_ON_A_PAGE).get_page(max(page_number(request), 1))
    may_oversee = dataset_may(request.user, dataset, may="oversee")
    context = {
        "dataset": dataset,
        "form": form,
        "page": page,
        "address": form.address,
        "may_oversee": may_oversee,
    }
    return render(request, "curation/audit.html", context)


@require_GET
def audit_file(request: AuthedRequest, slug: str) -> StreamingHttpResponse:
    """The entries that the filters find as CSV. With `?spreadsheet=1` nothing in it is a formula to a spreadsheet."""
    dataset = dataset_for(request.user, slug, may="audit")
    entries = audit_found(dataset, _form(request, dataset).audit_filter)
    return csv_answer(request, f"{slug}-log.csv", COLUMNS, audit_rows(entries))


def _form(request: AuthedRequest, dataset: Dataset) -> AuditFilterForm:
    return AuditFilterForm(request.GET, people=audit_people(dataset))
