"""A campaign's crowd as a curator sees it: settings, link, people and their hours."""

from copy import copy

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import campaign_for
from annotation.campaigns.head import campaign_head
from annotation.crowds.entering import consent_newest
from annotation.crowds.leaving import submission_end
from annotation.crowds.presets import PRESETS, parameters_of
from annotation.crowds.selectors import HOURS_COLUMNS, about_counts, hours_of, outcomes_of, people_of
from annotation.crowds.services import crowd_change, crowd_link_renew, crowd_of
from annotation.forms.crowds import CrowdForm, PresetForm
from annotation.models import CrowdPerson, CrowdSubmission
from annotation.views.saying import campaign_say
from curation.foundation.errors import UserError
from curation.foundation.numbers import page_number
from curation.people.access import AuthedRequest
from curation.views.said import success_say
from curation.views.tables import csv_streamed

Outcome = CrowdSubmission.Outcome


@require_http_methods(["GET", "POST"])
def crowd(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The settings of the crowd, its link and its people."""
    campaign = campaign_for(
        request.user, campaign_pk, may="curate" if request.method == "POST" else "oversee"
    )
    saved = crowd_of(campaign)
    consent = consent_newest(saved) if saved.pk else None
    preset = PRESETS.get(request.GET.get("preset", ""))
    initial = dict(preset.settings) if preset else {}
    form = CrowdForm(
        request.POST or None, instance=copy(saved), initial=initial, consent=consent.text if consent else ""
    )
    if form.is_valid():
        try:
            crowd_change(campaign=campaign, by=request.user, **form.cleaned_data)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            success_say(
                request,
                _("Saved."),
                then=_("Copy the entry link"),
                address="#entry-link",
            )
            return redirect("annotation:crowd", campaign.pk)
    context = campaign_head(request.user, campaign, "crowd") | {
        "form": form,
        "preset_form": PresetForm(initial={"preset": request.GET.get("preset", "prolific")}),
        "consent": consent,
    }
    context["crowd"] = None
    if saved.pk is not None:
        names = ("external_id_parameter", "study_parameter", "submission_parameter")
        link = request.build_absolute_uri(reverse("annotation:crowd_entry", args=[saved.token]))
        labels = dict(Outcome.choices)
        context |= {
            "crowd": saved,
            "link": f"{link}?{parameters_of({name: getattr(saved, name) for name in names})}",
            "people": people_of(saved, page=page_number(request)),
            "outcomes": [(labels.get(name, _("underway")), number) for name, number in outcomes_of(saved)],
            "about": about_counts(saved),
        }
    return render(request, "annotation/crowds/crowd.html", context)


@require_POST
def crowd_link(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    crowd_link_renew(campaign=campaign, by=request.user)
    success_say(
        request,
        _("There is a new entry link. The old one admits nobody any more."),
        then=_("Copy the entry link"),
        address="#entry-link",
    )
    return redirect("annotation:crowd", campaign.pk)


@require_POST
def crowd_person_end(request: AuthedRequest, campaign_pk: int, person_pk: int) -> HttpResponse:
    """The platform says that somebody returned their submission: their part ends as if they had left."""
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    person = get_object_or_404(CrowdPerson, pk=person_pk, crowd__campaign=campaign)
    ended = submission_end(participation=person.participation, at=now(), by=request.user)
    names = {"name": person.participation.user, "outcome": ended.get_outcome_display()}
    campaign_say(request, campaign, _("%(name)s has ended: %(outcome)s.") % names)
    return redirect("annotation:crowd", campaign.pk)


@require_GET
def crowd_hours(request: AuthedRequest, campaign_pk: int) -> StreamingHttpResponse:
    """The hours of everybody who judged, as CSV. With `?spreadsheet=1` nothing in it is a formula to a spreadsheet."""
    campaign = campaign_for(request.user, campaign_pk, may="oversee")
    rows = (each.as_row() for each in hours_of(campaign.participations.all()))
    name = slugify(campaign.name) or f"campaign-{campaign.pk}"
    return csv_streamed(request, f"{name}-hours.csv", HOURS_COLUMNS, rows)
