"""The audit log of a dataset, for its owners: who changed what, and when."""

from collections.abc import Iterator

from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from curation.access import AuthedRequest, dataset_for
from curation.datasets.audit import audit_found, audit_people, audit_rows
from curation.files.tables import csv_lines, harmless
from curation.forms.audit import AuditFilterForm
from curation.models import Dataset
from curation.numbers import page_number

ENTRIES_ON_A_PAGE = 50
COLUMNS = ("at", "by", "via", "token", "action", "subject", "pair", "pairs", "details")


@require_GET
def audit_log(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="audit")
    form = _form(request, dataset)
    entries = audit_found(dataset, form.audit_filter)
    page = Paginator(entries, ENTRIES_ON_A_PAGE).get_page(max(page_number(request), 1))
    context = {"dataset": dataset, "form": form, "page": page, "address": form.address}
    return render(request, "curation/audit.html", context)


@require_GET
def audit_file(request: AuthedRequest, slug: str) -> StreamingHttpResponse:
    """The entries that the filters find as CSV. With `?spreadsheet=1` nothing in it is a formula to a spreadsheet."""
    dataset = dataset_for(request.user, slug, may="audit")
    entries = audit_found(dataset, _form(request, dataset).audit_filter)
    cell = harmless if request.GET.get("spreadsheet") == "1" else str

    def rows() -> Iterator[list[object]]:
        for row in audit_rows(entries):
            yield [cell(value) if isinstance(value, str) else value for value in row]

    answer = StreamingHttpResponse(csv_lines(COLUMNS, rows()), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{slug}-log.csv"'
    return answer


def _form(request: AuthedRequest, dataset: Dataset) -> AuditFilterForm:
    return AuditFilterForm(request.GET, people=audit_people(dataset))
