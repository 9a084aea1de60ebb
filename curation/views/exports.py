"""What leaves a dataset: exports for people, snapshots for training and evaluation."""

from django.contrib import messages
from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from curation.access import AuthedRequest, dataset_allow, dataset_for, dataset_may
from curation.datasets.selectors import pair_choices
from curation.exchange.exporting import snapshot_create, snapshot_path
from curation.forms.exports import ExportForm, SnapshotForm


@require_GET
def export(request: AuthedRequest, slug: str) -> HttpResponse:
    """The form starts a run; its page then shows the progress and the file."""
    dataset = dataset_for(request.user, slug, may="read")
    return render(request, "curation/export.html", {"dataset": dataset, "form": ExportForm(dataset)})


@require_http_methods(["GET", "POST"])
def snapshot_list(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="read")
    form = SnapshotForm(choices=pair_choices(dataset))
    if request.method == "POST":
        dataset_allow(request.user, dataset, may="curate")
        form = SnapshotForm(request.POST, choices=pair_choices(dataset))
    if form.is_valid():
        made = snapshot_create(dataset=dataset, filter=form.filter(), by=request.user)
        messages.success(request, _("Snapshot %(number)s is taken.") % {"number": made.number})
        return redirect("curation:snapshots", slug=slug)
    context = {
        "dataset": dataset,
        "form": form,
        "snapshots": dataset.snapshots.select_related("created_by"),
        "may_curate": dataset_may(request.user, dataset, may="curate"),
    }
    return render(request, "curation/snapshots.html", context)


@require_GET
def snapshot_download(request: AuthedRequest, slug: str, number: int) -> FileResponse:
    dataset = dataset_for(request.user, slug, may="read")
    path = snapshot_path(get_object_or_404(dataset.snapshots, number=number))
    return FileResponse(path.open("rb"), as_attachment=True, filename=f"{slug}-{number}.parquet")
