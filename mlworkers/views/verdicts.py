"""What the verdicts on a p_D set say: its page, and its files."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from curation.people.access import AuthedRequest, dataset_may
from curation.review.queue import Queue
from curation.views.tables import csv_answer
from mlworkers.access import realism_set_for
from mlworkers.kinds.realism.forms import AutomationForm
from mlworkers.kinds.realism.verdict_chart import kept_chart
from mlworkers.kinds.realism.verdict_words import (
    answer_of,
    automation_sentences,
    next_step_of,
    reviewers_of,
    set_aside,
)
from mlworkers.kinds.realism.verdicts import (
    FIGURE_COLUMNS,
    SENTENCE_COLUMNS,
    Frame,
    VerdictReport,
    figure_rows,
    sentence_rows,
    verdict_report,
)
from mlworkers.science.realism.verdicts import FEWEST_EACH

SENTENCES_SHOWN = 20  # of each list; its file has them all


@require_GET
@vary_on_headers("HX-Request")
def verdict_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    """The page; for htmx, which exchanges the sentences under the sliders alone, only those."""
    report = verdict_report(realism_set_for(request.user, pk))
    automation = _automation(request, report)
    if request.htmx and not request.htmx.history_restore_request:
        return render(request, "mlworkers/_automation.html", automation)
    dataset = report.score_set.dataset
    context = automation | {
        "report": report,
        "dataset": dataset,
        "answer": answer_of(report),
        "reviewers": [] if report.empty else reviewers_of(report),
        "set_aside": set_aside(report),
        "next_step": next_step_of(report),
        "chart": kept_chart(report.main) if report.main else None,
        "may_curate": dataset_may(request.user, dataset, may="curate"),
        "fewest": FEWEST_EACH,
        "shown": f":{SENTENCES_SHOWN}",
        "shown_number": SENTENCES_SHOWN,
        "queue": Queue(report.score_set, frame=Frame.RANDOM, blind=True, human=True).address,
    }
    return render(request, "mlworkers/verdicts.html", context)


def _automation(request: AuthedRequest, report: VerdictReport) -> dict[str, Any]:
    form = AutomationForm(request.GET)
    shares = form.shares
    return {
        "sliders": [(name, form.LABELS[name], value) for name, value in shares.items()],
        "sentences": automation_sentences(report, **shares),
    }


@require_GET
def verdict_figures_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    report = verdict_report(realism_set_for(request.user, pk))
    return csv_answer(request, f"verdicts-{pk}.csv", FIGURE_COLUMNS, figure_rows(report))


@require_GET
def verdict_rejected_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    report = verdict_report(realism_set_for(request.user, pk))
    return csv_answer(request, f"rejected-{pk}.csv", SENTENCE_COLUMNS, sentence_rows(report.rejected))


@require_GET
def verdict_kept_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    report = verdict_report(realism_set_for(request.user, pk))
    return csv_answer(request, f"kept-{pk}.csv", SENTENCE_COLUMNS, sentence_rows(report.kept))
