"""Pairs that say the same: searching for them, the groups, their file, and stopping a search."""

from collections.abc import Iterator

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from curation.datasets.differing_scores import DifferingScores
from curation.datasets.duplicates import (
    PARTS,
    groups_found,
    groups_shown,
    pairs_listed,
    search_is_stale,
)
from curation.datasets.selectors import score_shown_first
from curation.exchange.duplicate_searches import search_ask, search_cancel
from curation.forms.duplicates import PARTS as PARTS_NAMED
from curation.forms.duplicates import DuplicatesEditForm, DuplicatesForm, search_address
from curation.foundation.errors import UserError
from curation.foundation.numbers import page_number
from curation.models import DuplicateSearch
from curation.people.access import (
    AuthedRequest,
    dataset_for,
    dataset_may,
    datasets_beside,
    duplicate_search_for,
)
from curation.views.tables import csv_streamed

GROUPS_ON_A_PAGE = 20
DIFFERING_SHOWN = 10
COLUMNS = (
    "group", "likeness", "leaks", "scores_differ", "dataset", "pair", "id", "source", "split", "sentence1", "sentence2",
)  # fmt: skip


@require_http_methods(["GET", "POST"])
def duplicate_list(request: AuthedRequest, slug: str) -> HttpResponse:
    """The groups that a search found; the address says which search. A POST searches."""
    dataset = dataset_for(request.user, slug, may="read")
    others = datasets_beside(request.user, dataset)
    form = DuplicatesForm(request.POST if request.method == "POST" else request.GET, others=others)
    search = None
    if form.is_valid():
        question = form.question
        if request.method == "POST":
            try:
                search = search_ask(
                    dataset=dataset, against=form.datasets, threshold=question["threshold"], by=request.user
                )
            except UserError as error:
                form.add_error(None, str(error))
            else:
                return redirect(f"{reverse('curation:duplicates', args=[slug])}?{search_address(search)}")
        else:
            search = DuplicateSearch.objects.filter(dataset=dataset, **question).first()
    context: dict[str, object] = {
        "dataset": dataset,
        "form": form,
        "search": search,
        "has_pairs": dataset.pairs.exists(),
        "may_curate": dataset_may(request.user, dataset, may="curate"),
    }
    if search is not None and search.finished_at is not None:
        part, counts, address = _part(request), search.counts, f"{search_address(search)}&"
        page = Paginator(groups_found(search, part), GROUPS_ON_A_PAGE).get_page(max(page_number(request), 1))
        differing = DifferingScores(dataset, found_by=search)
        context |= {
            "differing_all": len(differing),
            "differing": list(differing.first(DIFFERING_SHOWN)),
            "stale": search_is_stale(search),
            "page": page,
            "groups": groups_shown(search, list(page)),
            "parts": [(value, label, counts[value]) for value, label in PARTS_NAMED if counts.get(value)],
            "part": part,
            "base": address,
            "address": f"{address}part={part}&" if part else address,
            "shown": score_shown_first(dataset),
            "edit_form": DuplicatesEditForm(search=search),
            "all_groups": sum(counts.get(kind, 0) for kind in ("exact", "mirrored", "near")),
        }
    return render(request, "curation/duplicates.html", context)


@require_GET
def duplicate_file(request: AuthedRequest, slug: str) -> StreamingHttpResponse:
    """Every pair of every group as CSV."""
    dataset = dataset_for(request.user, slug, may="read")
    form = DuplicatesForm(request.GET, others=datasets_beside(request.user, dataset))
    search = (
        DuplicateSearch.objects.filter(dataset=dataset, **form.question).first() if form.is_valid() else None
    )
    if search is None:
        raise Http404
    part = _part(request)
    differing = DifferingScores(dataset, found_by=search).pairs()

    def rows() -> Iterator[list[object]]:
        for found, pair in pairs_listed(search, part):
            about = (found.group, found.likeness, int(found.leaks), int(pair.number in differing))
            yield [
                *about,
                pair.dataset,
                pair.number,
                pair.id,
                pair.source,
                pair.split,
                pair.first,
                pair.second,
            ]

    return csv_streamed(request, f"{slug}-duplicates.csv", COLUMNS, rows())


@require_GET
def duplicate_state(request: AuthedRequest, slug: str, search_pk: int) -> HttpResponse:
    """How far a worker is; once it has ended, the browser loads the page again."""
    dataset = dataset_for(request.user, slug, may="read")
    search = duplicate_search_for(request.user, dataset, search_pk)
    if not search.is_underway:
        return HttpResponseClientRefresh()
    return render(request, "curation/_duplicates_progress.html", {"dataset": dataset, "search": search})


@require_POST
def duplicate_cancel(request: AuthedRequest, slug: str, search_pk: int) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="read")
    search = duplicate_search_for(request.user, dataset, search_pk)
    search_cancel(search=search)
    return redirect(f"{reverse('curation:duplicates', args=[slug])}?{search_address(search)}")


def _part(request: AuthedRequest) -> str:
    part = request.GET.get("part", "")
    return part if part in PARTS else ""
