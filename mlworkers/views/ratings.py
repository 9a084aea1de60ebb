"""Ratings of a round-trip translation's candidates: a page to rate blind, and the means of each setting."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from curation.foundation.errors import UserError
from curation.people.access import AuthedRequest
from curation.views.tables import csv_answer
from mlworkers.kinds.paraphrases.access import rating_for, rating_may
from mlworkers.kinds.paraphrases.rating_forms import DrawForm, RatingForm
from mlworkers.kinds.paraphrases.ratings import CSV_COLUMNS, next_candidate, ratings_csv_rows, ratings_shown
from mlworkers.runs.ratings import candidates_draw, rating_record, rating_undo


@require_GET
def rating_results(request: AuthedRequest, pk: int) -> HttpResponse:
    run = rating_for(request.user, pk, may="read")
    context = {
        "run": run,
        "shown": ratings_shown(run),
        "form": DrawForm(),
        "may_draw": rating_may(request.user, run, may="curate"),
        "may_rate": rating_may(request.user, run, may="annotate"),
    }
    return render(request, "mlworkers/ratings.html", context)


@require_GET
def ratings_csv(request: AuthedRequest, pk: int) -> HttpResponse:
    run = rating_for(request.user, pk, may="read")
    return csv_answer(request, f"ratings-{pk}.csv", CSV_COLUMNS, ratings_csv_rows(ratings_shown(run)))


@require_POST
def ratings_draw(request: AuthedRequest, pk: int) -> HttpResponse:
    run = rating_for(request.user, pk, may="curate")
    form = DrawForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(map(str, form.errors["most"])))
        return redirect("mlworkers:ratings", pk)
    try:
        drawn = candidates_draw(run=run, most=form.cleaned_data["most"])
    except UserError as error:
        messages.error(request, str(error))
    else:
        sentence = ngettext("%(n)s candidate can be rated.", "%(n)s candidates can be rated.", drawn)
        messages.success(request, sentence % {"n": drawn})
    return redirect("mlworkers:ratings", pk)


@require_http_methods(["GET", "POST"])
def rate(request: AuthedRequest, pk: int) -> HttpResponse:
    """A source and a candidate, without the setting."""
    run = rating_for(request.user, pk, may="annotate")
    if request.method == "POST":
        form = RatingForm(request.POST)
        if form.is_valid():
            rated = get_object_or_404(run.rated_candidates, pk=form.cleaned_data["candidate"])
            rating_record(candidate=rated, person=request.user, values=form.values)
            return redirect("mlworkers:rate", pk)
        messages.error(request, _("Choose a value on each of the three scales."))
    candidate, progress = next_candidate(run, request.user)
    context = {
        "run": run,
        "candidate": candidate,
        "progress": progress,
        "form": RatingForm(),
        "may_read": rating_may(request.user, run, may="read"),
    }
    return render(request, "mlworkers/rate.html", context)


@require_POST
def rate_undo(request: AuthedRequest, pk: int) -> HttpResponse:
    """Take back the person's own newest rating."""
    run = rating_for(request.user, pk, may="annotate")
    if rating_undo(run=run, person=request.user):
        messages.info(request, _("Your last rating was undone."))
    return redirect("mlworkers:rate", pk)
