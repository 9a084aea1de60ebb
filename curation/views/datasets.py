"""The list of datasets, a new one, and the settings of one."""

from copy import copy

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from curation.datasets.selectors import facts_of
from curation.datasets.services import dataset_archive, dataset_change, dataset_create, dataset_restore
from curation.forms.datasets import DatasetForm, NewDatasetForm
from curation.people.access import (
    AuthedRequest,
    audit_all_may,
    dataset_allow,
    dataset_for,
    dataset_may,
    datasets_may_create,
    datasets_readable,
)
from curation.views.said import pairs_say


@require_GET
def dataset_list(request: AuthedRequest) -> HttpResponse:
    datasets = list(datasets_readable(request.user))
    facts = facts_of(datasets)
    rows = [(dataset, facts[dataset.pk]) for dataset in datasets]
    context = {
        "rows": [row for row in rows if not row[0].archived],
        "archived": [row for row in rows if row[0].archived],
        "may_audit": audit_all_may(request.user),
        "may_create": datasets_may_create(request.user),
    }
    return render(request, "curation/datasets.html", context)


@require_http_methods(["GET", "POST"])
def dataset_create_view(request: AuthedRequest) -> HttpResponse:
    if not datasets_may_create(request.user):
        raise PermissionDenied
    form = NewDatasetForm(request.POST or None)
    if form.is_valid():
        dataset = dataset_create(by=request.user, **form.cleaned_data)
        for note in form.notes:
            messages.info(request, note)
        return redirect("curation:import", slug=dataset.slug)
    return render(request, "curation/dataset_new.html", {"form": form})


@require_http_methods(["GET", "POST"])
def dataset_settings(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="archive")
    if request.method == "POST":
        dataset_allow(request.user, dataset, may="own")
    # The form fills in a copy, so that the head of the page goes on showing what is saved.
    form = DatasetForm(request.POST or None, instance=copy(dataset))
    if form.is_valid():
        dataset_change(dataset=dataset, by=request.user, **form.cleaned_data)
        pairs_say(request, slug, _("The settings are saved."))
        for note in form.notes:
            messages.info(request, note)
        return redirect("curation:settings", slug=slug)
    owns = dataset_may(request.user, dataset, may="own")
    return render(request, "curation/settings.html", {"dataset": dataset, "form": form, "owns": owns})


@require_POST
def dataset_archive_view(request: AuthedRequest, slug: str) -> HttpResponse:
    """Archive the dataset, or take it out of the archive: one button that says which."""
    dataset = dataset_for(request.user, slug, may="archive")
    if dataset.archived:
        dataset_restore(dataset=dataset, by=request.user)
    else:
        dataset_archive(dataset=dataset, by=request.user)
    return redirect("curation:settings", slug=slug)
