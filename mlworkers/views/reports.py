"""The pages of results and their files, whatever kind of run left them."""

import json
from collections.abc import Callable, Mapping
from typing import cast

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from curation.files.publishing.prose import LATEX_COMMANDS, latex_text, markdown_text
from curation.models import Dataset
from curation.pairs.judged_by import mark_of, marked, with_mark
from curation.people.access import AuthedRequest, dataset_may
from curation.results.reports import Report, as_json
from curation.results.tables import Column, Row, Table
from curation.views.tables import csv_answer
from mlworkers.access import kind_may_start, run_of_kind, runs_visible
from mlworkers.kinds.encoders.furthest import furthest_of
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run
from mlworkers.plans.kinds import KINDS, PAGES, Page, kind_named


@require_GET
def report_detail(request: AuthedRequest, pk: int, kind: str) -> HttpResponse:
    run, page, report = _reported(request, pk, kind)
    csv = reverse(f"mlworkers:{page.name}_csv", args=[pk]) if report.parts and page.file else ""
    models = run.artifacts.filter(kind__in=("encoder", "classifier")).order_by("pk") if page.models else []
    asked = request.GET.get("furthest", "")
    proposed = KINDS[kind].function(page.proposed)(run) if page.proposed else ""
    furthest = furthest_of(run, request.user, asked=asked, proposed=proposed)
    names = {"": _("Result")}
    if report.parts and furthest and furthest.pairs:
        names["errors"] = _("Largest errors")
    if report.parts and models:
        names["models"] = str(page.models)
    tab = request.GET.get("tab", "errors" if asked else "")
    tab = tab if tab in names else ""
    context = {
        "run": run,
        "page": page,
        "report": report,
        "csv": csv,
        "models": models,
        "furthest": furthest,
        "tab": tab,
        "tabs": [
            {"label": label, "address": f"?tab={name}" if name else "?", "here": name == tab}
            for name, label in names.items()
        ],
    }
    return render(request, "mlworkers/report.html", context)


@require_GET
def report_csv(request: AuthedRequest, pk: int, kind: str) -> HttpResponse:
    """The table of all figures as CSV or, with `?as=`, as Parquet; the page's tables as Markdown or LaTeX."""
    _run, page, report = _reported(request, pk, kind)
    name, form = f"{page.file}-{pk}", request.GET.get("as", "csv")
    if form == "csv":
        return csv_answer(request, f"{name}.csv", report.data.names, report.data.rows, judges=report.judges)
    if form not in _WRITTEN:
        raise Http404
    content_type, ending, written = _WRITTEN[form]
    disposition = content_disposition_header(as_attachment=True, filename=f"{name}.{ending}")
    return HttpResponse(
        written(report), content_type=content_type, headers={"Content-Disposition": disposition or ""}
    )


def _in_parquet(report: Report) -> bytes:
    names, rows = with_mark(report.data.names, report.data.rows, report.judges)
    return Table([Column(name) for name in names], cast("list[Row]", list(rows))).parquet()


def _in_markdown(report: Report) -> str:
    return "\n".join(
        f"## {markdown_text(marked(heading, report.judges))}\n\n{table.markdown(markdown_text)}"
        for heading, table in report.tables
    )


def _in_latex(report: Report) -> str:
    """The heading is a comment, but the mark of simulated annotators stands in the paper."""
    simulated = mark_of(report.judges)
    mark = f"\\par\\noindent ({latex_text(simulated)})\n" if simulated else ""
    tables = (f"% {latex_text(name)}\n{table.latex(latex_text)}{mark}" for name, table in report.tables)
    return LATEX_COMMANDS + "\n" + "\n".join(tables)


_WRITTEN: Mapping[str, tuple[str, str, Callable[[Report], str | bytes]]] = {
    "parquet": ("application/vnd.apache.parquet", "parquet", _in_parquet),
    "markdown": ("text/markdown; charset=utf-8", "md", _in_markdown),
    "json": ("application/json", "json", lambda report: json.dumps(as_json(report), ensure_ascii=False)),
    "latex": ("application/x-tex; charset=utf-8", "tex", _in_latex),
}


def _reported(request: AuthedRequest, pk: int, kind: str) -> tuple[Run, Page, Report]:
    run, page = run_of_kind(request.user, pk, kind), PAGES[kind]
    return run, page, KINDS[kind].function(page.report)(run, reader_of(request))


def reader_of(request: AuthedRequest) -> Reader:
    def may_start(kind: str, dataset: Dataset) -> bool:
        return kind_may_start(request.user, kind_named(kind), dataset)

    def may(dataset: Dataset, right: str) -> bool:
        return dataset_may(request.user, dataset, may=right)

    return Reader(may_start, may, runs_visible(request.user), request.GET.dict())


paths = [
    path(f"{page.address}/<number:pk>/{end}", view, {"kind": kind}, name=f"{page.name}{suffix}")
    for kind, page in PAGES.items()
    for end, view, suffix in (("", report_detail, ""), ("table.csv", report_csv, "_csv"))
    if page.file or not end
]
