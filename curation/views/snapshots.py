"""Snapshots: the list, what one holds and what changed since another, and which of them hold a pair."""

from django.core.paginator import Paginator
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from curation.datasets.leak_guard import LeaksError
from curation.datasets.pairs_table import PairChoices
from curation.datasets.selectors import has_active_pairs
from curation.exchange.exporting import snapshot_create, snapshot_file
from curation.exchange.snapshots import (
    LEAKS_COUNTED_IN,
    changes_listed,
    leaks_of_snapshot,
    snapshot_facts,
    snapshots_difference,
    snapshots_with,
)
from curation.forms.exchange import SnapshotForm
from curation.forms.splits import leaks_sent
from curation.foundation.numbers import number_from, page_number
from curation.people.access import AuthedRequest, dataset_allow, dataset_for, dataset_may
from curation.views.said import success_say
from curation.views.tables import csv_streamed

CHANGES_ON_A_PAGE = 50
CHANGE_COLUMNS = ("pair", "id", "sentence1", "sentence2", "what", "before", "after")


@require_http_methods(["GET", "POST"])
def snapshot_list(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="read")
    form, refused = SnapshotForm(dataset=dataset, choices=PairChoices(dataset)), False
    if request.method == "POST":
        dataset_allow(request.user, dataset, may="curate")
        form = SnapshotForm(request.POST, dataset=dataset, choices=PairChoices(dataset))
    if form.is_valid():
        try:
            made = snapshot_create(
                dataset=dataset, filter=form.filter(), by=request.user, leaks=leaks_sent(request.POST)
            )
        except LeaksError as error:
            form.add_error(None, str(error))
            refused = True
        else:
            success_say(
                request,
                _("Snapshot %(number)s was created.") % {"number": made.number},
                then=_("Export or publish the dataset"),
                address=reverse("curation:export", args=[slug]),
            )
            return redirect("curation:snapshots", slug=slug)
    context = {
        "dataset": dataset,
        "form": form if has_active_pairs(dataset) else None,
        "refused": refused,
        "snapshots": dataset.snapshots.select_related("created_by"),
        "may_curate": dataset_may(request.user, dataset, may="curate"),
    }
    return render(request, "curation/snapshots.html", context)


@require_GET
def snapshot_page(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """What a snapshot holds and, with `?since=N`, what changed from another one to it, be it older or newer."""
    dataset = dataset_for(request.user, slug, may="read")
    snapshot = get_object_or_404(dataset.snapshots.select_related("created_by"), number=number)
    others = list(dataset.snapshots.exclude(pk=snapshot.pk))
    asked = request.GET.get("since", "")
    since = next((other for other in others if other.number == number_from(asked)), None)
    context = {
        "dataset": dataset,
        "snapshot": snapshot,
        "contents": snapshot_facts(snapshot),
        "leaks": leaks_of_snapshot(snapshot),
        "leaks_counted_in": LEAKS_COUNTED_IN,
        "may_oversee": dataset_may(request.user, dataset, may="oversee"),
        "others": others,
        # The one before is what most people ask for.
        "proposed": since or next((other for other in others if other.number < number), None),
        "since": since,
        "not_there": "" if since else asked,
    }
    if since is not None:
        difference = snapshots_difference(since, snapshot)
        page = Paginator(difference.changes, CHANGES_ON_A_PAGE).get_page(max(page_number(request), 1))
        listed = changes_listed(since, snapshot, list(page))
        context |= {
            "difference": difference,
            "page": page,
            "listed": listed,
            "address": f"since={since.number}&",
        }
    return render(request, "curation/snapshot.html", context)


@require_GET
def snapshot_changes(request: AuthedRequest, slug: str, number: int, since: int) -> StreamingHttpResponse:
    """Every change from another snapshot to this one as CSV."""
    dataset = dataset_for(request.user, slug, may="read")
    snapshot = get_object_or_404(dataset.snapshots, number=number)
    other = get_object_or_404(dataset.snapshots.exclude(pk=snapshot.pk), number=since)
    difference = snapshots_difference(other, snapshot, most=None)
    rows = (
        [
            change.pair,
            *texts,
            change.what,
            *("" if one is None else one for one in (change.before, change.after)),
        ]
        for change, texts in changes_listed(other, snapshot, difference.changes)
    )
    return csv_streamed(request, f"{slug}-{since}-to-{number}.csv", CHANGE_COLUMNS, rows)


@require_GET
def snapshot_download(request: AuthedRequest, slug: str, number: int) -> FileResponse:
    dataset = dataset_for(request.user, slug, may="read")
    path = snapshot_file(get_object_or_404(dataset.snapshots, number=number))
    return FileResponse(path.open("rb"), as_attachment=True, filename=f"{slug}-{number}.parquet")


@require_GET
def pair_snapshots(request: AuthedRequest, slug: str, pair_pk: int) -> HttpResponse:
    """The snapshots that hold a pair, for its page, which does not wait for their files."""
    dataset = dataset_for(request.user, slug, may="read")
    pair = get_object_or_404(dataset.pairs, pk=pair_pk)
    found = snapshots_with(pair)
    return render(request, "curation/_pair_snapshots.html", {"dataset": dataset, "found": found})
