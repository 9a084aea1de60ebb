"""What is stored about an annotator, who sees it and may have it erased; so may an owner for them."""

from django.contrib import messages
from django.contrib.auth import logout
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import campaign_for
from annotation.campaigns.head import campaign_head
from annotation.crowds.entering import about_delete
from annotation.crowds.erasing import person_erase
from annotation.forms.entering import EraseForm
from annotation.models import CrowdPerson, Participation
from annotation.views.saying import campaign_say
from curation.foundation.errors import UserError
from curation.people.access import AuthedRequest
from curation.people.members import erase_refusal


@never_cache
@require_GET
def own_data(request: AuthedRequest) -> HttpResponse:
    context = {
        "participations": Participation.objects.filter(user=request.user)
        .select_related("campaign")
        .order_by("pk"),
        "crowd_people": _crowd_people(request)
        .select_related("crowd__campaign", "consent", "answers")
        .prefetch_related("submissions"),
        "form": EraseForm(),
        "refusal": erase_refusal(request.user, by=request.user),
    }
    return render(request, "annotation/crowds/own_data.html", context)


def _crowd_people(request: AuthedRequest) -> QuerySet[CrowdPerson]:
    return CrowdPerson.objects.filter(participation__user=request.user).order_by("pk")


@require_POST
def own_answers_delete(request: AuthedRequest, person_pk: int) -> HttpResponse:
    about_delete(person=get_object_or_404(_crowd_people(request), pk=person_pk))
    messages.success(request, _("Your answers are deleted."))
    return redirect("annotation:own_data")


@require_POST
def own_data_erase(request: AuthedRequest) -> HttpResponse:
    """Erase the data of the person who asks, and log them out: the account is closed."""
    if not EraseForm(request.POST).is_valid():
        messages.error(request, _("Tick the box if you are sure."))
        return redirect("annotation:own_data")
    try:
        person_erase(user=request.user, by=request.user, at=now())
    except UserError as error:
        messages.error(request, str(error))
        return redirect("annotation:own_data")
    logout(request)
    return render(request, "annotation/crowds/erased.html")


@require_http_methods(["GET", "POST"])
def annotator_erase(request: AuthedRequest, campaign_pk: int, person_pk: int) -> HttpResponse:
    """Erase an annotator's data, because they asked for it."""
    campaign = campaign_for(request.user, campaign_pk, may="own")
    people = campaign.participations.select_related("user", "campaign")
    person = get_object_or_404(people, pk=person_pk)
    form = EraseForm(request.POST or None)
    if form.is_valid():
        try:
            name = person_erase(user=person.user, by=request.user, at=now())
        except UserError as error:
            form.add_error(None, str(error))
        else:
            said = _("The personal data is erased. The judgements stay, under the name %(name)s.")
            campaign_say(request, campaign, said % {"name": name})
            return redirect("annotation:annotator", campaign.pk, person.pk)
    context = campaign_head(request.user, campaign, "campaign") | {
        "person": person,
        "form": form,
        "refusal": erase_refusal(person.user, by=request.user),
    }
    return render(request, "annotation/crowds/erase.html", context)
