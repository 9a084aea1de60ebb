"""A dataset's pairs as a table whose filters are its address, and one pair with its life."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from curation.access import AuthedRequest, dataset_for, dataset_may
from curation.datasets.score_chart import scores_chart
from curation.datasets.selectors import pair_choices, pair_life, pair_neighbours, pairs_page, score_sets_of
from curation.forms.pairs import PairFilterForm
from curation.models import Dataset, ScoreSet
from curation.numbers import page_number
from curation.review.history import decisions_of_pair
from curation.review.queue import waiting_of

# What is shown where the address names no score set: what people judged, then what a file gave.
SHOWN_FIRST = ["human", "reference", "model", "target", "realism", "consistency"]


@require_GET
@vary_on_headers("HX-Request")
def pair_list(request: AuthedRequest, slug: str) -> HttpResponse:
    """The dataset's page; for htmx, which exchanges the table alone, only that."""
    dataset = dataset_for(request.user, slug, may="read")
    sets = _score_sets(dataset)
    form = PairFilterForm(request.GET, choices=pair_choices(dataset), score_sets=sets)
    shown = next((each for each in sets if each.pk == form.set_shown), None)
    context = {
        "dataset": dataset,
        "form": form,
        "page": pairs_page(dataset, form.pair_filter, order=form.sorted_by, number=page_number(request)),
        "headings": form.headings(shown),
        "address": form.address(),
        "shown": shown,
    }
    if request.htmx and not request.htmx.history_restore_request:
        return render(request, "curation/_pairs.html", context)
    rows = score_sets_of(dataset)
    may_curate = dataset_may(request.user, dataset, may="curate")
    context |= {
        "score_sets": rows,
        "chart": scores_chart(next((row for row in rows if row.score_set == shown), None)),
        "may_curate": may_curate,
        "waiting": waiting_of(dataset) if may_curate else 0,
    }
    return render(request, "curation/dataset.html", context)


@require_GET
def pair(request: AuthedRequest, slug: str, pair_pk: int) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="read")
    shown = get_object_or_404(dataset.pairs.select_related("a", "b"), pk=pair_pk)
    form = PairFilterForm(request.GET, choices=pair_choices(dataset), score_sets=_score_sets(dataset))
    before, after = pair_neighbours(shown, form.pair_filter, form.sorted_by)
    context = {
        "dataset": dataset,
        "pair": shown,
        "before": before,
        "after": after,
        "life": pair_life(shown),
        "decisions": decisions_of_pair(shown),
        "address": form.address(),
    }
    return render(request, "curation/pair.html", context)


def _score_sets(dataset: Dataset) -> list[ScoreSet]:
    """The dataset's score sets, first those that are shown where the address names none."""
    return sorted(dataset.score_sets.all(), key=lambda each: (SHOWN_FIRST.index(each.kind), -each.pk))
