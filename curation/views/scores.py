"""Two score sets of a dataset beside each other."""

from collections.abc import Iterator

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from curation.datasets.agreement import agreement_chart, differences_of, pairs_listed, sets_compared
from curation.datasets.selectors import ScoreSetRow, score_sets_of
from curation.forms.scores import ComparedSetsForm
from curation.foundation.numbers import page_number
from curation.models import Dataset
from curation.people.access import AuthedRequest, dataset_for
from curation.views.tables import csv_streamed

LISTED = 20
PAIR_COLUMNS = ("pair", "sentence1", "sentence2", "source", "split")


@require_GET
def score_sets_compared(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="read")
    rows = _comparable(dataset)
    if len(rows) < 2:
        return render(request, "curation/score_sets.html", {"dataset": dataset})
    form = ComparedSetsForm(request.GET, rows=rows)
    compared = sets_compared(form.first_row, form.second_row)
    page = Paginator(compared.largest, LISTED).get_page(max(page_number(request), 1))
    context = {
        "dataset": dataset,
        "form": form,
        "first": form.first_row.score_set,
        "second": form.second_row.score_set,
        "compared": compared,
        "chart": agreement_chart(form.first_row.score_set, form.second_row.score_set, compared),
        "page": page,
        "listed": pairs_listed(list(page)),
        "address": f"first={form.first_row.score_set.pk}&second={form.second_row.score_set.pk}&",
    }
    return render(request, "curation/score_sets.html", context)


@require_GET
def score_differences(request: AuthedRequest, slug: str) -> StreamingHttpResponse:
    """All pairs with both scores as CSV, the largest difference of ranks first.

    With `?spreadsheet=1` nothing in it is a formula to a spreadsheet, as with the switch of that name of exports.
    """
    dataset = dataset_for(request.user, slug, may="read")
    rows = _comparable(dataset)
    if len(rows) < 2:
        raise Http404
    form = ComparedSetsForm(request.GET, rows=rows)
    if form.unknown or form.twice:
        raise Http404
    first, second = form.first_row.score_set, form.second_row.score_set
    columns = [*PAIR_COLUMNS, str(first), str(second), "rank_difference"]

    def lines() -> Iterator[list[object]]:
        for pair, scores in differences_of(first, second):
            facts = (pair.external_id, pair.a.text, pair.b.text, pair.source, pair.split)
            yield [*facts, scores.first, scores.second, f"{scores.difference:.6f}"]

    return csv_streamed(request, f"{dataset.slug}-score-differences.csv", columns, lines())


def _comparable(dataset: Dataset) -> list[ScoreSetRow]:
    return [row for row in score_sets_of(dataset) if row.count]
