"""How far a worker is with what somebody asked of a campaign's judgements."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation.access import campaign_for, campaign_may, work_may_end, work_to_end_for
from annotation.models import CampaignWork
from annotation.results.works import score_sets_made, work_remove
from curation.people.access import AuthedRequest
from curation.views.said import success_say


@require_GET
def work_state(request: AuthedRequest, campaign_pk: int, work_pk: int) -> HttpResponse:
    """How far it is, which the page asks until it has ended; the page is then loaded again, and says what came."""
    campaign = campaign_for(request.user, campaign_pk, may="read")
    work = campaign.works.filter(pk=work_pk).first()
    if work is None or not work.is_underway:
        if work is not None:
            work_say(request, work)
        return HttpResponseClientRefresh() if request.htmx else redirect("annotation:campaign", campaign_pk)
    work.campaign = campaign
    context = {"campaign": campaign, "work": work, "curates": work_may_end(request.user, work)}
    return render(request, "annotation/campaigns/_work.html", context)


@require_POST
def work_end(request: AuthedRequest, campaign_pk: int, work_pk: int) -> HttpResponse:
    """Withdraw work that goes on, or dismiss work that failed."""
    work = work_to_end_for(request.user, campaign_pk, work_pk)
    work_remove(work=work)
    on_scores = work.kind in {CampaignWork.Kind.PUBLISH, CampaignWork.Kind.BUNDLE}
    shown_on = "scores" if on_scores else "campaign"
    return redirect(f"annotation:{shown_on}", campaign_pk)


def work_say(request: AuthedRequest, work: CampaignWork) -> None:
    """Say on the next page what was published, or that the bundle is there."""
    if work.has_bundle:
        if campaign_may(request.user, work.campaign, may="oversee"):
            address = reverse("annotation:bundle_file", args=[work.campaign_id, work.pk])
            success_say(request, _("The bundle is ready."), then=_("Download bundle (zip)"), address=address)
        return
    published = list(score_sets_made(work))
    if not published:
        return
    sentence = ngettext(
        "Published as the score set %(names)s.",
        "Published as the score sets %(names)s.",
        len(published),
    )
    success_say(
        request,
        sentence % {"names": ", ".join(f"“{score_set.name}”" for score_set in published)},
        then=_("Export the dataset"),
        address=reverse("curation:export", args=[work.campaign.dataset.slug]),
    )
