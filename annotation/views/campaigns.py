"""Campaigns: the list, a new one, a draft's settings, guidelines, and the moves between its states."""

from collections.abc import Callable
from copy import copy
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import campaign_for, campaign_may
from annotation.campaigns.adapting import phase_note
from annotation.campaigns.cloning import campaign_clone
from annotation.campaigns.cost import campaign_proposed, gate_of_campaign, settings_of, sizes_compared
from annotation.campaigns.head import campaign_head
from annotation.campaigns.promises import promises
from annotation.campaigns.selectors import campaigns_in
from annotation.campaigns.services import (
    campaign_archive,
    campaign_change,
    campaign_close,
    campaign_create,
    campaign_pause,
    campaign_restore,
    campaign_resume,
    design_cancel,
    guideline_save,
    repeats_change,
)
from annotation.forms.campaigns import CampaignForm, GuidelineForm, RepeatsForm
from annotation.forms.estimate import EstimateForm, estimate_asked, estimate_assumed
from annotation.models import Campaign, CampaignDesign
from annotation.results.selectors import phase_sums
from annotation.tasks import design_now_or_later
from annotation.views.saying import campaign_say
from curation.foundation.errors import UserError
from curation.foundation.numbers import number_asked, number_from
from curation.models import Dataset, User
from curation.people.access import AuthedRequest, dataset_for, dataset_may, datasets_readable

DATASETS_OFFERED = 100


def _open(*, campaign: Campaign, by: User) -> None:
    design_now_or_later(campaign=campaign, purpose=CampaignDesign.Purpose.OPEN, at=now(), by=by)


# From one state of a campaign to another, for pages and programs.
MOVES: dict[str, Callable[..., object]] = {
    "open": _open,
    "pause": campaign_pause,
    "resume": campaign_resume,
    "close": campaign_close,
    "archive": campaign_archive,
    "restore": campaign_restore,
}


@require_GET
def campaign_list(request: AuthedRequest) -> HttpResponse:
    """Every campaign the person may read, or those of one dataset."""
    slug = request.GET.get("dataset", "")
    dataset = dataset_for(request.user, slug, may="read") if slug else None
    datasets = datasets_readable(request.user)
    asked = datasets.filter(pk=dataset.pk) if dataset else datasets
    archived = request.GET.get("show") == "archived"
    context = {
        "dataset": dataset,
        "archived": archived,
        "campaigns": campaigns_in(asked, archived=archived),
        "archived_number": Campaign.objects.filter(dataset__in=asked, archived=True).count(),
        "may_create": dataset is None or dataset_may(request.user, dataset, may="curate"),
    }
    return render(request, "annotation/campaigns/list.html", context)


@require_http_methods(["GET", "POST"])
def campaign_new(request: AuthedRequest) -> HttpResponse:
    slug = request.GET.get("dataset", "")
    if not slug:
        readable = datasets_readable(request.user).filter(archived=False)[:DATASETS_OFFERED]
        datasets = [dataset for dataset in readable if dataset_may(request.user, dataset, may="curate")]
        return render(request, "annotation/campaigns/choose_dataset.html", {"datasets": datasets})
    dataset = dataset_for(request.user, slug, may="curate")
    proposed = campaign_proposed(dataset)
    form = CampaignForm(dataset, request.POST or None, instance=proposed)
    if form.is_valid():
        try:
            assumed = estimate_assumed(request.POST)
            campaign = campaign_create(
                dataset=dataset, by=request.user, estimate=assumed, **form.cleaned_data
            )
        except UserError as error:
            form.add_error(None, str(error))
        else:
            return _to_draft(request, campaign)
    return _form_page(request, dataset, form, settings_of(proposed))


@require_http_methods(["GET", "POST"])
def campaign_edit(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    if campaign.state != Campaign.State.DRAFT:
        return redirect("annotation:campaign", campaign.pk)
    form = CampaignForm(campaign.dataset, request.POST or None, instance=copy(campaign))
    if form.is_valid():
        try:
            assumed = estimate_assumed(request.POST)
            changed = campaign_change(
                campaign=campaign, by=request.user, estimate=assumed, **form.cleaned_data
            )
        except UserError as error:
            form.add_error(None, str(error))
        else:
            return _to_draft(request, changed)
    return _form_page(request, campaign.dataset, form, settings_of(campaign), campaign)


def _form_page(
    request: AuthedRequest,
    dataset: Dataset,
    form: CampaignForm,
    settings: dict[str, Any],
    campaign: Campaign | None = None,
) -> HttpResponse:
    typed = request.POST.dict() if form.is_bound else campaign.estimate if campaign else {}
    asked = typed if form.is_bound else settings | typed
    context = {
        "dataset": dataset,
        "campaign": campaign,
        "back": reverse("annotation:campaign", args=[campaign.pk])
        if campaign
        else f"{reverse('annotation:campaign_list')}?dataset={dataset.slug}",
        "form": form,
        "estimate_form": EstimateForm(initial=typed),
        "estimate": estimate_asked(dataset, asked, campaign=campaign),
    }
    return render(request, "annotation/campaigns/form.html", context)


@require_GET
def estimate(request: AuthedRequest, slug: str) -> HttpResponse:
    """The estimate for the current values of the form."""
    dataset = dataset_for(request.user, slug, may="curate")
    campaign = dataset.campaigns.filter(pk=number_asked(request, "campaign", 0)).first()
    context = {"estimate": estimate_asked(dataset, request.GET.dict(), campaign=campaign)}
    return render(request, "annotation/campaigns/_estimate_live.html", context)


@require_GET
def estimate_sizes(request: AuthedRequest, slug: str) -> HttpResponse:
    """What other sizes of tuples would reach, for the current values of the form."""
    dataset = dataset_for(request.user, slug, may="curate")
    form = EstimateForm(request.GET)
    context: dict[str, Any] = {}
    if not form.is_valid():
        context["problem"] = form.wrong or _("Fill in the design first.")
    else:
        try:
            context["sizes"] = sizes_compared(dataset, form.cleaned_data)
        except UserError as error:
            context["problem"] = str(error)
    return render(request, "annotation/campaigns/_sizes.html", context)


def _to_draft(request: AuthedRequest, campaign: Campaign) -> HttpResponse:
    """To the draft's page, with its design already computed where that is quick; else a worker computes it."""
    try:
        design_now_or_later(campaign=campaign, purpose=CampaignDesign.Purpose.PREVIEW, at=now())
    except UserError as error:
        messages.error(request, str(error))
    return redirect("annotation:campaign", campaign.pk)


@require_http_methods(["GET", "POST"])
def campaign_design(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """What the design guarantees and how the campaign may grow. A POST makes the design of a draft."""
    if request.method == "POST":
        return _to_draft(request, campaign_for(request.user, campaign_pk, may="curate"))
    campaign = campaign_for(request.user, campaign_pk, may="read")
    if campaign.state == Campaign.State.DRAFT:
        return redirect("annotation:campaign", campaign.pk)
    phases = phase_sums(campaign)
    is_open = campaign.state != Campaign.State.CLOSED
    context = campaign_head(request.user, campaign, "campaign_design") | {
        "promises": promises(campaign.certificate),
        "gate": gate_of_campaign(campaign),
        "phases": phases,
        "note": phase_note(campaign, phases),
        "growing": is_open and campaign_may(request.user, campaign, may="curate"),
        "repeats_form": RepeatsForm(instance=campaign),
    }
    return render(request, "annotation/campaigns/design.html", context)


@require_POST
def campaign_move(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """Open, pause, resume or close; or cancel what a worker designs for it."""
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    move = request.POST.get("move", "")
    try:
        if move == "cancel":
            design_cancel(campaign=campaign)
        elif move in MOVES:
            MOVES[move](campaign=campaign, by=request.user)
    except UserError as error:
        messages.error(request, str(error))
    return redirect("annotation:campaign", campaign.pk)


@require_POST
def campaign_copy(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """A new draft with the campaign's settings, guidelines and gold tuples."""
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    try:
        clone = campaign_clone(campaign=campaign, by=request.user)
    except UserError as error:
        messages.error(request, str(error))
        return redirect("annotation:campaign", campaign.pk)
    messages.success(
        request, _("This is a draft with the same settings. Change what should differ, then open it.")
    )
    return redirect("annotation:campaign_edit", clone.pk)


@require_POST
def campaign_repeats(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    form = RepeatsForm(request.POST, instance=copy(campaign))
    try:
        if form.is_valid():
            every = form.cleaned_data["repeat_every"]
            repeats_change(campaign=campaign, every=every, by=request.user)
            messages.success(request, _("Saved. The setting applies to tuples that people get from now on."))
        for error in form.errors.values():
            messages.error(request, str(error[0]))
    except UserError as error:
        messages.error(request, str(error))
    return redirect("annotation:campaign_design", campaign.pk)


@require_http_methods(["GET", "POST"])
def guidelines(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate" if request.method == "POST" else "read")
    newest = campaign.guidelines.first()
    form = GuidelineForm(request.POST or None, initial={"text": newest.text if newest else ""})
    if form.is_valid():
        guideline_save(campaign=campaign, text=form.cleaned_data["text"], by=request.user)
        campaign_say(request, campaign, _("Saved. Annotators see the new version with their next pairs."))
        return redirect("annotation:guidelines", campaign.pk)
    versions = campaign.guidelines.all()
    version = request.GET.get("version")
    earlier = None if version is None else get_object_or_404(versions, version=number_from(version))
    examples = {"examples": newest.examples if newest else []}
    context = {"form": form, "versions": versions, "earlier": earlier, "examples": examples}
    head = campaign_head(request.user, campaign, "guidelines")
    return render(request, "annotation/campaigns/guidelines.html", head | context)
