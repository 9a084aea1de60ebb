"""The slider arm of a campaign for curators: starting it, choosing its raters, reading its results."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation.access import campaign_for, campaign_may
from annotation.campaigns.head import campaign_head
from annotation.campaigns.slider import (
    arm_of,
    rater_remove,
    raters_add,
    slider_close,
    slider_open,
    slider_remove,
    slider_start,
)
from annotation.forms.slider import RatersForm, SliderForm
from annotation.models import Campaign, SliderArm
from annotation.results.charts import methods_chart
from annotation.results.slider import (
    RATING_COLUMNS,
    judges_of_both,
    rating_rows,
    slider_progress,
    verdict,
)
from annotation.results.works import comparison_shown
from annotation.tasks import comparison_ask
from curation.foundation.errors import UserError
from curation.people.access import AuthedRequest
from curation.views.tables import csv_answer

MOVES = {"open": slider_open, "close": slider_close, "remove": slider_remove}


def _arm_for(request: AuthedRequest, campaign_pk: int, *, may: str) -> SliderArm:
    campaign = campaign_for(request.user, campaign_pk, may=may)
    arm = arm_of(campaign)
    if arm is None:
        raise Http404
    arm.campaign = campaign
    return arm


@require_http_methods(["GET", "POST"])
def slider(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The arm, or the form that starts one; a POST starts it."""
    campaign = campaign_for(request.user, campaign_pk, may="curate" if request.method == "POST" else "read")
    form = SliderForm(campaign, request.POST or None)
    if form.is_valid():
        try:
            slider_start(campaign=campaign, by=request.user, **form.cleaned_data)
        except UserError as error:
            form_is_shown = campaign.state != Campaign.State.DRAFT and arm_of(campaign) is None
            if not form_is_shown:
                messages.error(request, str(error))
                return redirect("annotation:slider", campaign.pk)
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The rating-scale condition is added. Choose who rates in it."))
            return redirect("annotation:slider", campaign.pk)
    return _page(request, campaign, form=form)


def _page(
    request: AuthedRequest,
    campaign: Campaign,
    *,
    form: SliderForm | None = None,
    raters: RatersForm | None = None,
) -> HttpResponse:
    arm = arm_of(campaign)
    context: dict[str, Any] = campaign_head(request.user, campaign, "analysis")
    context |= {"arm": arm, "form": form or SliderForm(campaign)}
    if arm is not None:
        context |= {
            "progress": slider_progress(arm),
            "raters": raters or RatersForm(campaign),
        }
    refused = any(each is not None and each.errors for each in (form, raters))
    return render(request, "annotation/campaigns/slider.html", context, status=400 if refused else 200)


@require_POST
def slider_people(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    arm = _arm_for(request, campaign_pk, may="curate")
    form = RatersForm(arm.campaign, request.POST)
    if form.is_valid():
        try:
            added = raters_add(arm=arm, by=request.user, **form.cleaned_data)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            said = ngettext(
                "%(n)d person rates now. They find “Rate pairs” among their campaigns.",
                "%(n)d people rate now. They find “Rate pairs” among their campaigns.",
                len(added),
            )
            messages.success(request, said % {"n": len(added)})
            return redirect("annotation:slider", campaign_pk)
    return _page(request, arm.campaign, raters=form)


@require_POST
def slider_person_remove(request: AuthedRequest, campaign_pk: int, user_pk: int) -> HttpResponse:
    arm = _arm_for(request, campaign_pk, may="curate")
    if not arm.campaign.participations.filter(user=user_pk, rates=True).exists():
        raise Http404
    try:
        rater_remove(arm=arm, user_pk=user_pk, by=request.user)
    except UserError as error:
        messages.error(request, str(error))
    return redirect("annotation:slider", campaign_pk)


@require_POST
def slider_move(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    arm = _arm_for(request, campaign_pk, may="curate")
    move = MOVES.get(request.POST.get("move", ""))
    try:
        if move is None:
            raise UserError(_("Choose what to do with the rating-scale condition: open, close or remove it."))
        move(arm=arm, by=request.user)
    except UserError as error:
        messages.error(request, str(error))
    return redirect("annotation:slider", campaign_pk)


@require_http_methods(["GET", "POST"])
def slider_comparison(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """Both methods in the same time. With `?standardised=1` each rater's values less their mean, by their deviation.

    Where there are many answers, a POST asks a worker to compare them, and the page shows what it found last.
    """
    arm = _arm_for(request, campaign_pk, may="read")
    if request.method == "POST":
        standardised = request.POST.get("standardised") == "1"
        work = comparison_ask(arm=arm, standardised=standardised, by=request.user)
        if request.htmx and work.is_underway:
            curates = campaign_may(request.user, arm.campaign, may="curate")
            context = {"campaign": arm.campaign, "work": work, "curates": curates}
            return render(request, "annotation/campaigns/_work.html", context)
        page = f"{reverse('annotation:slider_comparison', args=[arm.campaign_id])}{'?standardised=1' * standardised}"
        return HttpResponseClientRefresh() if request.htmx else redirect(page)
    standardised = request.GET.get("standardised") == "1"
    shown = comparison_shown(arm, standardised=standardised, at=now())
    found = shown.compared.found if shown.compared else None
    context = campaign_head(request.user, arm.campaign, "analysis") | {
        "arm": arm,
        "shown": shown,
        "work": shown.work,
        "compared": shown.compared,
        "standardised": standardised,
        "verdict": verdict(found) if found else "",
        "chart": methods_chart(found, judges=judges_of_both(arm.campaign)) if found else None,
    }
    return render(request, "annotation/campaigns/slider_comparison.html", context)


@require_GET
def slider_ratings(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """Every rating as CSV. With `?spreadsheet=1` nothing in it is a formula to a spreadsheet."""
    arm = _arm_for(request, campaign_pk, may="read")
    name = f"{slugify(arm.campaign.name) or f'campaign-{arm.campaign_id}'}-ratings.csv"
    rows = rating_rows(arm.campaign)
    return csv_answer(request, name, RATING_COLUMNS, rows, judges=judges_of_both(arm.campaign))
