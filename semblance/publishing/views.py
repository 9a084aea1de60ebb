"""The page on which a snapshot is published: what its folder would say, and the folder as a zip."""

from tempfile import TemporaryFile
from typing import Any

from django.forms import Form
from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from curation.files.publishing.texts import methods_files
from curation.models import Dataset, Snapshot
from curation.people.access import AuthedRequest, dataset_for, dataset_may
from semblance.publishing.collecting import publication_of, scores_held
from semblance.publishing.folder import (
    dataset_publish_zip,
    folder_name,
    publishing_is_quick,
    small_snapshot,
)
from semblance.publishing.forms import FolderForm, SnapshotChoiceForm


@require_GET
def publish(request: AuthedRequest, slug: str) -> HttpResponse:
    """What a published folder of a snapshot says. `?snapshot=N` names one; without it, the newest."""
    dataset = dataset_for(request.user, slug, may="oversee")
    choice = SnapshotChoiceForm(request.GET, dataset=dataset)
    snapshot = choice.cleaned_data["snapshot"] if choice.is_valid() else None
    return _page(request, dataset, snapshot, choice=choice)


@require_GET
def published_folder(request: AuthedRequest, slug: str, number: int) -> HttpResponseBase:
    """The folder as a zip, where it is small enough to be made while somebody waits."""
    dataset = dataset_for(request.user, slug, may="oversee")
    snapshot = small_snapshot(dataset, number, command="publish_dataset")
    form = FolderForm(request.GET, snapshot=snapshot)
    if not form.is_valid():
        return _page(request, dataset, snapshot, form=form)
    file = TemporaryFile()  # noqa: SIM115 - the response closes it
    try:
        dataset_publish_zip(snapshot=snapshot, file=file, **form.asked)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=f"{folder_name(snapshot)}.zip")


@require_GET
def methods(request: AuthedRequest, slug: str, number: int) -> HttpResponse:
    """The methods section of a snapshot, to be read and copied. `?score_set=NAME` names the main scores."""
    dataset = dataset_for(request.user, slug, may="oversee")
    snapshot = small_snapshot(dataset, number, command="methods_section")
    found = publication_of(snapshot, score_set=request.GET.get("score_set", ""))
    files = [
        (f"methods-{place}", *each) for place, each in enumerate(methods_files(found.publication).items())
    ]
    context = {"dataset": dataset, "snapshot": snapshot, "files": files}
    return render(request, "semblance/methods.html", context)


def _page(request: AuthedRequest, dataset: Dataset, snapshot: Snapshot | None, **forms: Form) -> HttpResponse:
    context: dict[str, Any] = {
        "dataset": dataset,
        "snapshots": dataset.snapshots.all(),
        "snapshot": snapshot,
        "may_own": dataset_may(request.user, dataset, may="own"),
        **forms,
    }
    if snapshot is not None and (scores := scores_held(snapshot)):
        context |= {
            "scores": scores,
            "simulated": any(each.simulated for each in scores),
            "quick": publishing_is_quick(snapshot),
            "form": forms.get("form") or FolderForm(snapshot=snapshot),
        }
    return render(request, "semblance/publish.html", context)
