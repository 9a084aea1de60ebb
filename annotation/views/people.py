"""One person's work in a campaign, stopping them and letting them go on; and what annotators report."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import campaign_for
from annotation.campaigns.head import campaign_head
from annotation.campaigns.selectors import flags_of
from annotation.campaigns.services import flag_resolve
from annotation.forms.campaigns import StopForm
from annotation.judging.looking import signs_accept, signs_reopen
from annotation.judging.settling import participation_reinstate, participation_stop
from annotation.models import Campaign, Flag, Participation
from annotation.results.annotators import repeat_agreement_by_person
from annotation.results.selectors import judgements_in
from annotation.results.signs import signs_shown
from annotation.results.study import signs_of
from curation.foundation.numbers import page_number
from curation.people.access import AuthedRequest
from curation.views.said import success_say


@require_http_methods(["GET", "POST"])
def annotator(request: AuthedRequest, campaign_pk: int, person_pk: int) -> HttpResponse:
    """What one person judged; a POST stops them."""
    campaign = campaign_for(request.user, campaign_pk, may="curate" if request.method == "POST" else "read")
    person = _person(campaign, person_pk)
    form = StopForm(request.POST or None)
    if form.is_valid():
        participation_stop(participation=person, by=request.user, **form.cleaned_data)
        success_say(
            request,
            _("%(name)s is stopped. To undo this, use the button above.") % {"name": person.user},
            then=_("See who annotates what is required again"),
            address=reverse("annotation:campaign", args=[campaign.pk]),
        )
        return redirect("annotation:annotator", campaign.pk, person.pk)
    context = campaign_head(request.user, campaign, "campaign") | {
        "person": person,
        "form": form,
        "signs": signs_shown(person, signs_of(person)),
        "repeat_agreement": repeat_agreement_by_person(campaign).get(person.pk),
        "judged": judgements_in(campaign, participation=person, page=page_number(request)),
    }
    return render(request, "annotation/campaigns/annotator.html", context)


@require_POST
def annotator_reinstate(request: AuthedRequest, campaign_pk: int, person_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    person = _person(campaign, person_pk)
    participation_reinstate(participation=person, by=request.user)
    messages.success(
        request,
        _("%(name)s can continue. Their judgements count again where they are still required.")
        % {"name": person.user},
    )
    return redirect("annotation:campaign", campaign.pk)


@require_POST
def annotator_signs(request: AuthedRequest, campaign_pk: int, person_pk: int) -> HttpResponse:
    """A curator looked at the signs of carelessness and found them harmless; `again` undoes that."""
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    person = _person(campaign, person_pk)
    if "again" in request.POST:
        signs_reopen(participation=person)
        messages.success(request, _("%(name)s needs a look again.") % {"name": person.user})
    else:
        signs_accept(participation=person, kinds=request.POST.getlist("kind"))
        said = _("%(name)s needs no look any more. You can undo this on their page.") % {"name": person.user}
        messages.success(request, said)
    return redirect("annotation:campaign", campaign.pk)


def _person(campaign: Campaign, person_pk: int) -> Participation:
    people = campaign.participations.select_related("user", "campaign")
    person: Participation = get_object_or_404(people, pk=person_pk)
    return person


@require_GET
def inbox(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="read")
    resolved = request.GET.get("show") == "resolved"
    context = campaign_head(request.user, campaign, "inbox") | {
        "resolved": resolved,
        "flags": flags_of(campaign, resolved=resolved, page=page_number(request)),
    }
    return render(request, "annotation/campaigns/inbox.html", context)


@require_POST
def flag_resolve_view(request: AuthedRequest, campaign_pk: int, flag_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    flag = get_object_or_404(Flag, pk=flag_pk, tuple__campaign=campaign)
    flag_resolve(flag=flag, by=request.user, at=now())
    return redirect("annotation:inbox", campaign.pk)
