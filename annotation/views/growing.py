"""More of a campaign after its launch: extra judgements where scores are least sure, and pairs that join."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import campaign_for
from annotation.bws.studies.costs import campaign_costs, seconds_at_size
from annotation.campaigns.adapting import adaptive_spend, adaptive_withdraw, phase_note
from annotation.campaigns.growing import growth_preview
from annotation.campaigns.head import campaign_head
from annotation.forms.growing import GrowForm, SpendForm
from annotation.models import Campaign, CampaignDesign
from annotation.results.selectors import phase_sums
from annotation.tasks import design_now_or_later
from annotation.views.saying import campaign_say
from curation.foundation.errors import UserError
from curation.people.access import AuthedRequest


@require_http_methods(["GET", "POST"])
def spend(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """How far the adaptive phase is; a POST gives it judgements to ask for."""
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    form = SpendForm(request.POST or None)
    if form.is_valid():
        try:
            adaptive_spend(campaign=campaign, by=request.user, **form.cleaned_data)
        except UserError as error:
            form.add_error("judgements", str(error))
        else:
            campaign_say(
                request, campaign, _("Saved. Tuples are chosen when the design is nearly annotated.")
            )
            return redirect("annotation:spend", campaign.pk)
    sums = phase_sums(campaign)
    context = campaign_head(request.user, campaign, "campaign_design") | {
        "form": form,
        "phases": sums,
        "note": phase_note(campaign, sums),
        "running": campaign.state in {Campaign.State.OPEN, Campaign.State.PAUSED},
    }
    return render(request, "annotation/campaigns/spend.html", context)


@require_POST
def withdraw(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    adaptive_withdraw(campaign=campaign, by=request.user)
    campaign_say(
        request, campaign, _("Withdrawn. Tuples that are on a screen now can still be answered, and count.")
    )
    return redirect("annotation:spend", campaign.pk)


@require_http_methods(["GET", "POST"])
def grow(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """What joining would add; a POST adds it."""
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    form = GrowForm(request.POST if request.method == "POST" else request.GET)
    growth, problem = None, ""
    seconds = seconds_at_size(campaign.tuple_size)
    if form.is_valid():
        number = form.cleaned_data["number"]
        try:
            growth = growth_preview(campaign=campaign, number=number)
            if request.method == "POST":
                # Add the pairs, or leave it to a worker, whose progress the campaign's page shows.
                purpose = CampaignDesign.Purpose.GROW
                by = request.user
                if not design_now_or_later(
                    campaign=campaign, purpose=purpose, at=now(), number=number, by=by
                ):
                    return redirect("annotation:campaign", campaign.pk)
                sentence = ngettext(
                    "%(pairs)d pair joined, in %(tuples)d tuples.",
                    "%(pairs)d pairs joined, in %(tuples)d tuples.",
                    growth.pairs,
                )
                messages.success(request, sentence % {"pairs": growth.pairs, "tuples": growth.tuples})
                return redirect("annotation:campaign_design", campaign.pk)
        except UserError as error:
            problem = str(error)
    context = campaign_head(request.user, campaign, "campaign_design") | {
        "form": form,
        "problem": problem,
        "growth": growth,
        "hours": campaign_costs(growth.judgements, seconds_per_judgement=seconds).hours if growth else None,
        "seconds": seconds,
    }
    return render(request, "annotation/campaigns/grow.html", context)
