"""A dataset's pairs as a table whose filters are its address, with what describes them all; one pair with its life."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from curation.datasets.columns import cells_of
from curation.datasets.lineage import imports_into, lines_attach
from curation.datasets.overview import dataset_overview, described_at_once
from curation.datasets.pair_charts import lengths_chart, overlap_chart
from curation.datasets.pairs_table import PairChoices, pair_neighbours, pairs_page
from curation.datasets.score_chart import scores_chart
from curation.datasets.selectors import (
    pair_life,
    score_sets_in_order,
    score_sets_of,
)
from curation.forms.edits import EditForm
from curation.forms.pairs import ColumnsForm, PairFilterForm
from curation.foundation.numbers import number_asked, page_number
from curation.models import Dataset, ScoreSet, User
from curation.people.access import AuthedRequest, dataset_for, dataset_may
from curation.people.audit import pair_history
from curation.review.history import decisions_of_pair
from curation.review.queue import waiting_of

COLUMNS = "columns"  # in the session: of each dataset, what its address says of the columns


@require_GET
@vary_on_headers("HX-Request")
def pair_list(request: AuthedRequest, slug: str) -> HttpResponse:
    """The dataset's page; for htmx, which exchanges the table alone, only that."""
    dataset = dataset_for(request.user, slug, may="read")
    sets = score_sets_in_order(dataset, asked=number_asked(request, "score_set", 0))
    form = PairFilterForm(request.GET, choices=PairChoices(dataset), score_sets=sets)
    shown = next((each for each in sets if each.pk == form.set_shown), None)
    columns = ColumnsForm(request.GET.getlist("columns"), score_sets=sets, shown=shown)
    if "keep" in request.GET:
        # For this person's sitting; "" forgets them.
        kept = request.session.get(COLUMNS, {}) | {str(dataset.pk): columns.address}
        request.session[COLUMNS] = {key: value for key, value in kept.items() if value}
        return redirect(f"{request.path}?{form.address(columns=columns.address)}".rstrip("?&"))
    remembered = request.session.get(COLUMNS, {}).get(str(dataset.pk))
    if remembered and "columns" not in request.GET and not request.htmx:
        page_asked = request.GET.get("page", "")
        return redirect(f"{request.path}?{form.address(columns=remembered, page=page_asked)}".rstrip("&"))
    page = pairs_page(dataset, form.pair_filter, order=form.sorted_by, number=page_number(request))
    context = {
        "dataset": dataset,
        "form": form,
        "columns": columns,
        "page": page,
        "rows": list(zip(page, cells_of(list(page), columns.chosen), strict=True)),
        "headings": form.headings(columns.chosen, shown),
        "address": form.address(),
        "shown": shown,
    }
    if may_curate := dataset_may(request.user, dataset, may="curate"):
        context |= {"may_curate": True, "edit_form": EditForm(filter=form.pair_filter)}
    if request.htmx and not request.htmx.history_restore_request:
        return render(request, "curation/_pairs.html", context)
    context["waiting"] = waiting_of(dataset) if may_curate else 0
    if described_at_once(dataset):
        context |= {"described": True, **_description(request.user, dataset, shown)}
    return render(request, "curation/dataset.html", context)


@require_GET
def dataset_glance(request: AuthedRequest, slug: str) -> HttpResponse:
    """The facts above the table of a large dataset, which come after the page."""
    dataset = dataset_for(request.user, slug, may="read")
    return render(
        request, "curation/_glance.html", _description(request.user, dataset, _set_asked(request, dataset))
    )


@require_GET
def dataset_charts(request: AuthedRequest, slug: str) -> HttpResponse:
    """The charts and score sets of a large dataset, which come after the page."""
    dataset = dataset_for(request.user, slug, may="read")
    return render(
        request, "curation/_described.html", _description(request.user, dataset, _set_asked(request, dataset))
    )


@require_GET
def pair(request: AuthedRequest, slug: str, pair_pk: int) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="read")
    shown = get_object_or_404(dataset.pairs.select_related("a", "b"), pk=pair_pk)
    sets = score_sets_in_order(dataset, asked=number_asked(request, "score_set", 0))
    form = PairFilterForm(request.GET, choices=PairChoices(dataset), score_sets=sets)
    life = pair_life(shown)
    lines_attach(life.scores)
    before, after = pair_neighbours(shown, form.pair_filter, form.sorted_by)
    context = {
        "dataset": dataset,
        "pair": shown,
        "before": before,
        "after": after,
        "life": life,
        "history": pair_history(shown),
        "decisions": decisions_of_pair(shown),
        "may_oversee": dataset_may(request.user, dataset, may="oversee"),
        "address": form.address(),
    }
    return render(request, "curation/pair.html", context)


def _set_asked(request: AuthedRequest, dataset: Dataset) -> ScoreSet | None:
    asked = number_asked(request, "score_set", 0)
    sets = score_sets_in_order(dataset, asked=asked)
    return next((each for each in sets if each.pk == asked), sets[0] if sets else None)


def _description(user: User, dataset: Dataset, shown: ScoreSet | None) -> dict[str, Any]:
    """What describes all pairs of a dataset: facts, score sets and charts. shown: the set whose scores they show."""
    rows = score_sets_of(dataset, withdrawn=True)
    row = next((row for row in rows if row.score_set == shown), None)
    charts = (scores_chart(row), overlap_chart(row), lengths_chart(dataset))
    return {
        "dataset": dataset,
        "shown": shown,
        "shown_row": row,
        "overview": dataset_overview(dataset),
        "score_sets": [each for each in rows if each.score_set == shown or not each.score_set.withdrawn_at],
        "withdrawn": [each.score_set for each in rows if each.score_set.withdrawn_at],
        "charts": [chart for chart in charts if chart],
        "imports": imports_into([shown])[shown.pk] if shown else [],
        "may_oversee": dataset_may(user, dataset, may="oversee"),
    }
