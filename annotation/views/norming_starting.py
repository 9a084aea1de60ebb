"""The norming sessions of a campaign, as a curator starts and ends them."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import campaign_for
from annotation.campaigns.head import campaign_head
from annotation.campaigns.norming import discussion_begin, norming_close, norming_start
from annotation.forms.norming_starting import NormingForm
from annotation.models import Campaign
from annotation.results.norming import sessions_of
from curation.foundation.errors import UserError
from curation.people.access import AuthedRequest

MOVES = {"discuss": discussion_begin, "close": norming_close}


@require_http_methods(["GET", "POST"])
def norming(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The sessions so far, with agreement before and after; a POST starts one."""
    campaign = campaign_for(request.user, campaign_pk, may="curate" if request.method == "POST" else "read")
    form = NormingForm(request.POST or None)
    if form.is_valid():
        chosen = {key: value for key, value in form.cleaned_data.items() if value is not None}
        try:
            session = norming_start(campaign=campaign, by=request.user, **chosen)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            messages.success(
                request,
                _("Started. Annotators find it among their campaigns; send them the address of this page."),
            )
            return redirect("annotation:norming_session", campaign.pk, session.number)
    sessions = sessions_of(campaign)
    context = campaign_head(request.user, campaign, "guidelines") | {
        "form": form,
        "sessions": sessions,
        "may_start": campaign.state in {Campaign.State.OPEN, Campaign.State.PAUSED}
        and not any(each.session.state != "closed" for each in sessions),
    }
    return render(request, "annotation/campaigns/norming.html", context)


@require_POST
def norming_move(request: AuthedRequest, campaign_pk: int, number: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    session = get_object_or_404(campaign.norming, number=number)
    move = MOVES.get(request.POST.get("move", ""))
    try:
        if move is None:
            raise UserError(_("Choose what to do with the session: begin the discussion, or close it."))
        move(session=session, at=now(), by=request.user)
    except UserError as error:
        messages.error(request, str(error))
    return redirect("annotation:norming_session", campaign.pk, number)
