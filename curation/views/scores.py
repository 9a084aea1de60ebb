"""One score set: its name on pages, and whether it is withdrawn; two of a dataset beside each other."""

from collections.abc import Iterator
from copy import copy

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from curation.datasets.agreement import agreement_chart, differences_of, pairs_listed, sets_compared
from curation.datasets.selectors import ScoreSetRow, score_sets_of
from curation.datasets.services import score_set_describe, score_set_restore, score_set_withdraw
from curation.forms.scores import ComparedSetsForm, ScoreSetForm, WithdrawForm
from curation.foundation.numbers import number_asked, page_number
from curation.models import Dataset, ScoreSet
from curation.people.access import AuthedRequest, dataset_allow, dataset_for, dataset_may
from curation.views.tables import csv_streamed

LISTED = 20
PAIR_COLUMNS = ("pair", "sentence1", "sentence2", "source", "split")


@require_http_methods(["GET", "POST"])
def score_set_page(request: AuthedRequest, slug: str, score_set_pk: int) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="read")
    score_set = get_object_or_404(dataset.score_sets, pk=score_set_pk)
    owns = dataset_may(request.user, dataset, may="own")
    if request.method == "POST":
        dataset_allow(request.user, dataset, may="own")
    form = ScoreSetForm(request.POST or None, instance=copy(score_set))
    if form.is_valid():
        score_set_describe(score_set=score_set, by=request.user, **form.cleaned_data)
        return _said(request, slug, score_set_pk, _("The score set is saved."))
    return _page(request, score_set, owns=owns, form=form)


@require_POST
def score_set_move(request: AuthedRequest, slug: str, score_set_pk: int) -> HttpResponse:
    """Withdraw the score set, or restore one that is withdrawn: one button that says which."""
    dataset = dataset_for(request.user, slug, may="own")
    score_set = get_object_or_404(dataset.score_sets, pk=score_set_pk)
    if score_set.withdrawn_at:
        score_set_restore(score_set=score_set, by=request.user)
        return _said(request, slug, score_set_pk, _("The score set is restored."))
    withdrawal = WithdrawForm(request.POST)
    if withdrawal.is_valid():
        score_set_withdraw(score_set=score_set, at=now(), by=request.user, **withdrawal.cleaned_data)
        return _said(request, slug, score_set_pk, _("The score set is withdrawn."))
    return _page(request, score_set, owns=True, withdrawal=withdrawal)


def _page(
    request: AuthedRequest,
    score_set: ScoreSet,
    *,
    owns: bool,
    form: ScoreSetForm | None = None,
    withdrawal: WithdrawForm | None = None,
) -> HttpResponse:
    """withdrawal: refused, if there is one."""
    context = {
        "dataset": score_set.dataset,
        "score_set": score_set,
        "shown": str(score_set),
        "owns": owns,
        "form": form or ScoreSetForm(instance=score_set),
        "withdrawal": withdrawal or WithdrawForm(),
    }
    return render(request, "curation/score_set.html", context, status=400 if withdrawal else 200)


def _said(request: AuthedRequest, slug: str, score_set_pk: int, sentence: str) -> HttpResponse:
    messages.success(request, sentence)
    return redirect("curation:score_set", slug, score_set_pk)


@require_GET
def score_sets_compared(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="read")
    rows = _comparable(request, dataset)
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
    rows = _comparable(request, dataset)
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


def _comparable(request: AuthedRequest, dataset: Dataset) -> list[ScoreSetRow]:
    """The sets with scores, and those that the address names also if they were withdrawn."""
    asked = [number_asked(request, name, 0) for name in ("first", "second")]
    rows = [row for row in score_sets_of(dataset, withdrawn=True) if row.count]
    return [row for row in rows if not row.score_set.withdrawn_at or row.score_set.pk in asked]
