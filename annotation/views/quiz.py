"""The quiz that an annotator answers before the first tuple."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.access import campaign_for, crowd_has
from annotation.forms.quiz import QuizForm
from annotation.judging.assignment import participation_join
from annotation.judging.choosing import quiz_is_due
from annotation.judging.quiz import quiz_answer
from curation.people.access import AuthedRequest


@never_cache
@require_http_methods(["GET", "POST"])
def quiz(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """Wrong answers come back with the reason, and are answered again."""
    campaign = campaign_for(request.user, campaign_pk, may="annotate")
    participation = participation_join(campaign=campaign, user=request.user)
    if not quiz_is_due(participation):
        return redirect("annotation:judge", campaign.pk)
    form = QuizForm(list(campaign.quiz.all()), request.POST or None)
    if form.is_valid():
        form.mark(quiz_answer(participation=participation, chosen=form.chosen(), at=now()))
        if form.is_valid():
            messages.success(request, _("All answers are as expected. Here are the first pairs."))
            return redirect("annotation:judge", campaign.pk)
    context = {
        "campaign": campaign,
        "form": form,
        "guideline": campaign.guidelines.first(),
        "by_crowd": crowd_has(request.user, campaign),
    }
    return render(request, "annotation/judging/quiz.html", context)
