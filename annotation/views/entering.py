"""Coming to a campaign by a crowd's link, and leaving it with a code."""

from copy import copy
from typing import Any

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import campaign_for
from annotation.crowds.entering import (
    Arrival,
    arrival_read,
    consent_newest,
    crowd_by_token,
    crowd_enter,
    entry_refusal,
    person_known,
)
from annotation.crowds.leaving import completion_address, outcome_of, submission_end, submission_now
from annotation.forms.entering import AboutForm, AgreeForm
from annotation.judging.assignment import participation_join
from annotation.judging.choosing import is_something_open
from annotation.judging.screen import words
from curation.foundation.errors import UserError
from curation.people.access import AuthedRequest
from curation.people.accounts.visitors import visitor_address

ARRIVAL = "crowd_arrival"
BACKEND = "django.contrib.auth.backends.ModelBackend"


@login_not_required
@never_cache
@require_GET
def crowd_entry(request: HttpRequest, token: str) -> HttpResponse:
    """What the platform's link opens: who comes is kept in the session, and no longer stands in the address."""
    crowd = crowd_by_token(token)
    if crowd is None:
        return _turned_away(
            request, _("This link does not exist. Open the study from the platform again."), 404
        )
    try:
        arrival = arrival_read(crowd, request.GET.dict())
    except UserError as error:
        return _turned_away(request, str(error), 400)
    request.session[ARRIVAL] = {"token": token, **arrival.as_dict()}
    return redirect("annotation:crowd_consent", token)


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def crowd_consent(request: HttpRequest, token: str) -> HttpResponse:
    """What people agree to; with it they are logged in and judge."""
    crowd = crowd_by_token(token)
    kept = request.session.get(ARRIVAL, {})
    if crowd is None or kept.get("token") != token:
        return _turned_away(request, _("Open the study from the page of the platform that sent you."), 404)
    arrival = Arrival(kept["external_id"], kept["study"], kept["submission"])
    person = person_known(crowd, arrival)
    if request.user.is_authenticated and (person is None or person.participation.user != request.user):
        return render(request, "annotation/crowds/someone_else.html", status=403)
    consent = consent_newest(crowd)
    refusal = entry_refusal(crowd) if person is None else ""
    if refusal or consent is None:
        return _turned_away(request, refusal or _("This study is not open at the moment."), 403)
    form = AgreeForm(consent, request.POST or None)
    answers = (
        getattr(person, "answers", None) if person and person.participation.user == request.user else None
    )
    about = AboutForm(request.POST or None, instance=copy(answers))
    if form.is_valid() and about.is_valid():
        user: Any = request.user if request.user.is_authenticated else None
        try:
            person = crowd_enter(
                crowd=crowd,
                arrival=arrival,
                agreed=form.cleaned_data["version"],
                at=now(),
                user=user,
                address=visitor_address(request),
                about=about.cleaned_data,
            )
        except UserError as error:
            return _turned_away(request, str(error), error.status)
        if user is None:
            login(request, person.participation.user, backend=BACKEND)
        request.session.pop(ARRIVAL, None)
        return redirect("annotation:judge", crowd.campaign_id)
    context = {"crowd": crowd, "campaign": crowd.campaign, "consent": consent, "form": form, "about": about}
    return render(request, "annotation/crowds/consent.html", context)


def _turned_away(request: HttpRequest, sentence: str, status: int) -> HttpResponse:
    return render(request, "annotation/crowds/turned_away.html", {"sentence": sentence}, status=status)


@never_cache
@require_http_methods(["GET", "POST"])
def crowd_finish(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """How the person's part ends, and after a POST the code of it. All answers that arrived are stored by then."""
    campaign = campaign_for(request.user, campaign_pk, may="annotate")
    participation = participation_join(campaign=campaign, user=request.user)
    submission = submission_now(participation)
    if submission is None:
        return redirect("annotation:judge", campaign.pk)
    if request.method == "POST":
        submission = submission_end(participation=participation, at=now())
        return redirect("annotation:crowd_finish", campaign.pk)
    context = {
        "campaign": campaign,
        "participation": participation,
        "submission": submission,
        "crowd": submission.person.crowd,
        "judged": participation.judgements.count(),
        "outcome": submission.outcome or outcome_of(participation),
        "early": not submission.outcome and is_something_open(participation),
        "back": completion_address(submission) if submission.outcome else "",
        "words": words(participation),
    }
    return render(request, "annotation/crowds/finish.html", context)
