"""The quiz of a campaign, as a curator writes it."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import campaign_for
from annotation.campaigns.head import campaign_head
from annotation.campaigns.quiz import question_add, question_remove
from annotation.forms.quiz_writing import QuestionForm
from annotation.results.selectors import quiz_results
from annotation.views.saying import campaign_say
from curation.foundation.errors import UserError
from curation.people.access import AuthedRequest


@require_http_methods(["GET", "POST"])
def quiz_edit(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The questions with how people answered them first; a POST adds one."""
    may = "curate" if request.method == "POST" else "read"
    campaign = campaign_for(request.user, campaign_pk, may=may)
    form = QuestionForm(request.POST or None)
    if form.is_valid():
        try:
            question_add(campaign=campaign, by=request.user, **form.cleaned_data)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            campaign_say(request, campaign, _("Added. People answer it before their first pairs."))
            return redirect("annotation:quiz_edit", campaign.pk)
    context = campaign_head(request.user, campaign, "guidelines") | {
        "form": form,
        "results": quiz_results(campaign),
    }
    return render(request, "annotation/campaigns/quiz.html", context)


@require_POST
def quiz_remove(request: AuthedRequest, campaign_pk: int, number: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    question_remove(question=get_object_or_404(campaign.quiz, number=number), by=request.user)
    campaign_say(request, campaign, _("Removed. Nobody is asked it any more."))
    return redirect("annotation:quiz_edit", campaign.pk)
