"""Machines that judge tuples of a campaign, compared with people."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.access import campaign_for
from annotation.campaigns.head import campaign_head
from annotation.campaigns.machine_block import tuples_reserve
from annotation.forms.machines import BlockForm, CostBenefitForm, penalty_asked
from annotation.models import Campaign
from annotation.results.machines import block_of, machines_compared, people_left_out
from curation.foundation.errors import UserError
from curation.people.access import AuthedRequest


@require_http_methods(["GET", "POST"])
def machines(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The machines that judged the campaign's block of tuples; a POST draws the block."""
    may = "curate" if request.method == "POST" else "read"
    campaign = campaign_for(request.user, campaign_pk, may=may)
    if campaign.state == Campaign.State.DRAFT:
        return redirect("annotation:campaign", campaign.pk)
    there = campaign.tuples.for_scores().exclude(phase="adaptive").count()
    form = BlockForm(request.POST or None, there=there)
    if form.is_valid():
        try:
            tuples_reserve(campaign=campaign, by=request.user, **form.cleaned_data)
        except UserError as error:
            form.add_error("number", str(error))
        else:
            messages.success(request, _("Sampled. Start a model annotator on these tuples now."))
            return redirect("annotation:machines", campaign.pk)
    block = block_of(campaign)
    penalty = CostBenefitForm({"penalty": penalty_asked(request.GET.get("penalty", ""))})
    rows = machines_compared(campaign, block, cost_benefit=penalty.chosen()) if block else []
    context = campaign_head(request.user, campaign, "machines") | {
        "drawn": block,  # within a template's block, “block” is Django's
        "form": form,
        "penalty": penalty,
        "rows": [(row, people_left_out(campaign, row.comparison)) for row in rows],
        "starts": request.user.is_staff,
    }
    return render(request, "annotation/campaigns/machines.html", context)
