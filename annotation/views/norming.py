"""A norming session for those who take part: its page, its judging screen, comments."""

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from annotation.access import campaign_for, campaign_may, crowd_has
from annotation.forms.judging import JudgementForm
from annotation.forms.norming import NormingCommentForm
from annotation.judging.norming import (
    norming_comment,
    norming_context,
    norming_join,
    norming_json,
    norming_leftovers,
    norming_names,
    norming_submit,
    norming_undo,
    round_now,
    tuples_left,
)
from annotation.judging.screen import words
from annotation.models import NormingSession, Participation
from annotation.results.norming import agreement_of, norming_rows, people_finished
from curation.foundation.errors import UserError
from curation.foundation.numbers import number_asked
from curation.people.access import AuthedRequest


def _session_for(
    request: AuthedRequest, campaign_pk: int, number: int
) -> tuple[NormingSession, Participation]:
    """The session and the person's row. People of a crowd take no part: others would read what they write."""
    campaign = campaign_for(request.user, campaign_pk, may="annotate")
    if crowd_has(request.user, campaign):
        raise Http404
    session: NormingSession = get_object_or_404(campaign.norming, number=number)
    session.campaign = campaign
    return session, norming_join(campaign=campaign, user=request.user)


@never_cache
@require_GET
def norming_session(request: AuthedRequest, campaign_pk: int, number: int) -> HttpResponse:
    """What to do in the session; from the discussion on, how everybody judged."""
    session, person = _session_for(request, campaign_pk, number)
    return _session_page(request, session, person)


def _session_page(
    request: AuthedRequest,
    session: NormingSession,
    person: Participation,
    *,
    form: NormingCommentForm | None = None,
) -> HttpResponse:
    shown = session.state != NormingSession.State.JUDGING
    every, round_number = session.tuples.count(), round_now(session)
    left = tuples_left(session, person, round_number).count() if round_number else 0
    mine = person.norming_judgements.filter(tuple__session=session)
    context = {
        "session": session,
        "campaign": session.campaign,
        "left": left,
        "every": every,
        "judged": mine.filter(round=1).count(),
        "judged_again": mine.filter(round=2).count(),
        "finished": people_finished(session),
        "rows": norming_rows(session, norming_names(session, me=person.pk)) if shown else [],
        "agreement": agreement_of(session) if shown else None,
        "form": form,
        "leftovers": norming_leftovers(session, person),
        "words": words(person),
        "curates": campaign_may(request.user, session.campaign, may="curate"),
    }
    status = 400 if form is not None and form.errors else 200
    return render(request, "annotation/judging/norming.html", context, status=status)


@never_cache
@require_GET
def norming_judge(request: AuthedRequest, campaign_pk: int, number: int) -> HttpResponse:
    """The judging screen, with the session's tuples."""
    session, person = _session_for(request, campaign_pk, number)
    context = norming_context(session, person)
    if context is None:
        return redirect("annotation:norming_session", campaign_pk, number)
    context["guidelines_open"] = request.GET.get("guidelines") == "open"
    return render(request, "annotation/judging/judge.html", context)


@never_cache
@require_GET
def norming_screen(request: AuthedRequest, campaign_pk: int, number: int) -> JsonResponse:
    session, person = _session_for(request, campaign_pk, number)
    return JsonResponse(norming_json(request, session, person))


@require_POST
def norming_answer(request: AuthedRequest, campaign_pk: int, number: int) -> HttpResponse:
    """The address names the round, so that an answer which comes late is not taken as one of the next round."""
    session, person = _session_for(request, campaign_pk, number)
    at = now()
    form = JudgementForm(person, request.POST, shown=session.tuples.all())
    if form.is_valid():
        answer = form.judgement(at)
        try:
            norming_submit(
                person=person,
                row=answer["lease"],
                number=number_asked(request, "round", 0),
                best=answer["best"],
                worst=answer["worst"],
                client_id=answer["client_id"],
                at=at,
                active_ms=answer["active_ms"],
            )
        except UserError as error:
            form.add_error(None, str(error))
    session.refresh_from_db(fields=["state"])
    sentences = [sentence for errors in form.errors.values() for sentence in errors]
    if request.headers.get("Accept") == "application/json":
        note = {"note": sentences[0]} if sentences else {}
        status = 400 if sentences else 200
        return JsonResponse(norming_json(request, session, person) | note, status=status)
    for sentence in sentences:
        messages.error(request, str(sentence))
    return redirect("annotation:norming_judge", campaign_pk, number)


@require_POST
def norming_undo_view(request: AuthedRequest, campaign_pk: int, number: int) -> HttpResponse:
    session, person = _session_for(request, campaign_pk, number)
    json = request.headers.get("Accept") == "application/json"
    try:
        taken_back = norming_undo(session=session, person=person)
    except UserError as error:
        if json:
            return JsonResponse({"note": str(error)}, status=400)
        messages.warning(request, str(error))
    else:
        if json:
            return JsonResponse(norming_json(request, session, person, taken_back=taken_back))
    return redirect("annotation:norming_judge", campaign_pk, number)


@require_POST
def norming_comment_view(request: AuthedRequest, campaign_pk: int, number: int) -> HttpResponse:
    session, person = _session_for(request, campaign_pk, number)
    form = NormingCommentForm(session, request.POST)
    if form.is_valid():
        row, text = form.cleaned_data["tuple"], form.cleaned_data["text"]
        try:
            norming_comment(person=person, row=row, text=text, at=now())
        except UserError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Your comment is there. Others read it under your pseudonym."))
            return redirect("annotation:norming_session", campaign_pk, number)
    return _session_page(request, session, person, form=form)
