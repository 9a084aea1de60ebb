"""The rating screen of a slider arm. Every address answers as a page, and as JSON to the page's script."""

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation.access import rater_for
from annotation.forms.judging import UndoForm
from annotation.forms.rating import RatingForm
from annotation.judging.rating import rating_context, rating_json, rating_submit, rating_undo
from curation.foundation.errors import UserError
from curation.people.access import AuthedRequest


@never_cache
@require_GET
def rate(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The pair on the person's screen, or why there is none."""
    person = rater_for(request.user, campaign_pk)
    context = rating_context(person, guidelines_open=request.GET.get("guidelines") == "open")
    return render(request, "annotation/judging/rate.html", context)


@never_cache
@require_GET
def rating_screen(request: AuthedRequest, campaign_pk: int) -> JsonResponse:
    return JsonResponse(rating_json(request, rater_for(request.user, campaign_pk)))


@require_POST
def rating_answer(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    person = rater_for(request.user, campaign_pk)
    at = now()
    form = RatingForm(person, request.POST)
    if form.is_valid():
        try:
            rating_submit(person=person, at=at, **form.rating(at))
        except UserError as error:
            form.add_error(None, str(error))
    sentences = [sentence for errors in form.errors.values() for sentence in errors]
    if request.headers.get("Accept") == "application/json":
        note = {"note": str(sentences[0])} if sentences else {}
        return JsonResponse(rating_json(request, person) | note, status=400 if sentences else 200)
    for sentence in sentences:
        messages.error(request, str(sentence))
    return redirect("annotation:rate", campaign_pk)


@require_POST
def rating_undo_view(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """Take back the last answer. The script's page shows it again with its value; without the script it comes back
    where the person's order has it.
    """
    person = rater_for(request.user, campaign_pk)
    json = request.headers.get("Accept") == "application/json"
    form = UndoForm(request.POST)
    try:
        taken_back = rating_undo(
            person=person, client_id=form.cleaned_data["client_id"] if form.is_valid() else None
        )
    except UserError as error:
        if json:
            return JsonResponse({"note": str(error)}, status=400)
        messages.warning(request, str(error))
    else:
        if json:
            return JsonResponse(rating_json(request, person, taken_back=taken_back))
        if taken_back is not None:
            context = rating_context(person, taken_back=taken_back)
            return render(request, "annotation/judging/rate.html", context)
    return redirect("annotation:rate", campaign_pk)
