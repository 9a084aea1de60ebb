"""A dataset's pairs as a table whose filters are its address, and one pair with its life."""

from dataclasses import dataclass

from django.core.cache import cache
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from curation.access import AuthedRequest, dataset_for, dataset_may
from curation.charts import KEPT_SECONDS, Chart, score_chart
from curation.datasets.selectors import (
    ScoreSetRow,
    pair_choices,
    pair_life,
    pair_neighbours,
    pairs_page,
    score_histogram,
    score_sets_of,
)
from curation.forms.pairs import PairFilterForm
from curation.models import Dataset, ScoreSet
from curation.numbers import page_number
from curation.review.queue import decisions_of_pair, sentence_scores_of, waiting_of

# What is shown where the address names no score set: what people judged, then what a file gave.
SHOWN_FIRST = ["people", "gold", "model", "target", "realism"]
# Tenths of the scale: common scores such as 2.25 and 2.4 fall evenly into them, and into finer bins do not.
HISTOGRAM_BINS = 10
SOURCES_SHOWN = 4


@dataclass(frozen=True)
class Heading:
    """A column by which the table can be sorted: a click sorts up, the next one down."""

    label: str
    address: str
    sorted: str  # as aria-sort says it, or nothing
    number: bool = False


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
        "headings": _headings(form, shown),
        "address": form.address(),
        "shown": shown,
    }
    if request.htmx and not request.htmx.history_restore_request:
        return render(request, "curation/_pairs.html", context)
    rows = score_sets_of(dataset)
    may_curate = dataset_may(request.user, dataset, may="curate")
    context |= {
        "score_sets": rows,
        "chart": _chart(next((row for row in rows if row.score_set == shown), None)),
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
        "sentence_scores": sentence_scores_of(shown),
        "address": form.address(),
    }
    return render(request, "curation/pair.html", context)


def _score_sets(dataset: Dataset) -> list[ScoreSet]:
    """The dataset's score sets, first those that are shown where the address names none."""
    return sorted(dataset.score_sets.all(), key=lambda each: (SHOWN_FIRST.index(each.kind), -each.pk))


def _headings(form: PairFilterForm, shown: ScoreSet | None) -> list[Heading]:
    headings = [_heading(form, "external_id", _("Pair")), _heading(form, "source", _("Source"))]
    if shown:
        headings.append(_heading(form, "score", shown.name, number=True))
    return headings


def _heading(form: PairFilterForm, name: str, label: str, *, number: bool = False) -> Heading:
    down = f"-{name}"
    sorted_as = {name: "ascending", down: "descending"}.get(form.sorted_by, "")
    return Heading(label, form.address(order=down if form.sorted_by == name else name), sorted_as, number)


def _chart(row: ScoreSetRow | None) -> Chart | None:
    """The histogram of the scores shown. Scores are added and never changed, so their number says which it is."""
    if row is None or not row.count:
        return None
    score_set = row.score_set
    key = f"histogram:{score_set.pk}:{score_set.created_at.timestamp()}:{row.count}"
    histogram = cache.get(key) or score_histogram(score_set, bins=HISTOGRAM_BINS, most=SOURCES_SHOWN)
    cache.set(key, histogram, KEPT_SECONDS)
    return score_chart(score_set, histogram)
