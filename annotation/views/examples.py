"""Worked examples of a campaign's guidelines, as a curator writes them."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import campaign_for
from annotation.campaigns.examples import example_add, example_remove, pairs_judged_too
from annotation.campaigns.head import campaign_head
from annotation.forms.examples import WorkedExampleForm
from curation.foundation.errors import UserError
from curation.people.access import AuthedRequest


@require_http_methods(["GET", "POST"])
def example_new(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    form = WorkedExampleForm(campaign, request.POST or None)
    if form.is_valid():
        try:
            example_add(campaign=campaign, example=form.example(), by=request.user)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Added. Annotators see it in the guidelines with their next pairs."))
            numbers = pairs_judged_too(campaign, form.example())
            said = ngettext(
                "Pair %(pairs)s of the example is annotated in this campaign, so people now read an answer "
                "about it. Sentences from elsewhere are better.",
                "Pairs %(pairs)s of the example are annotated in this campaign, so people now read an "
                "answer about them. Sentences from elsewhere are better.",
                len(numbers),
            )
            if numbers:
                messages.warning(request, said % {"pairs": ", ".join(map(str, numbers))})
            return redirect("annotation:guidelines", campaign.pk)
    context = campaign_head(request.user, campaign, "guidelines") | {"form": form}
    return render(request, "annotation/campaigns/example.html", context)


@require_POST
def example_remove_view(request: AuthedRequest, campaign_pk: int, number: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    try:
        example_remove(campaign=campaign, number=number, by=request.user)
        messages.success(request, _("Removed. Earlier versions of the guidelines keep it."))
    except UserError as error:
        messages.error(request, str(error))
    return redirect("annotation:guidelines", campaign.pk)
