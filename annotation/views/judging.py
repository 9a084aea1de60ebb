"""The judging screen. Every address answers as a page, and as JSON to the page's script."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import campaign_for, crowd_has
from annotation.campaigns.selectors import campaigns_of
from annotation.crowds.leaving import submission_now
from annotation.forms.judging import FlagForm, JudgementForm, UndoForm
from annotation.judging.assignment import (
    answer_submit,
    judgement_undo,
    participation_of,
    tuple_claim,
    tuple_flag,
    tuple_skip,
    walk_move,
)
from annotation.judging.choosing import NoTupleReason
from annotation.judging.gold import gold_feedback
from annotation.judging.no_tuple import no_tuple_context
from annotation.judging.rehearsal import practice_cards
from annotation.judging.screen import (
    TupleScreen,
    addresses_of,
    answered_html,
    answered_of,
    last_judgement,
    progress_text,
    screen_json,
    shown_again,
    shown_now,
    sitting_is_over,
    sitting_judged,
    sitting_of,
    undo_offered,
    words,
)
from annotation.models import Flag, Judgement, Participation
from annotation.results.selectors import judgements_of
from annotation.views.rehearsal import rehearsal_page
from curation.foundation.errors import UserError
from curation.foundation.numbers import number_asked, page_number
from curation.people.access import AuthedRequest


@never_cache
@require_GET
def judge(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The tuple on the person's screen, or the page that says why there is none.

    With `?tuple=17`, somebody who runs the campaign gets that tuple next, if it is open for them: annotators take
    what is handed to them.
    """
    participation = _participation(request, campaign_pk)
    at = now()
    if number := number_asked(request, "tuple", 0):
        campaign_for(request.user, campaign_pk, may="curate")
        walk_move(participation=participation, number=number)
    lease = tuple_claim(participation=participation, at=at)
    if lease is NoTupleReason.QUIZ:
        return redirect("annotation:quiz", campaign_pk)
    if isinstance(lease, NoTupleReason):
        return _no_tuple_page(request, participation, lease)
    return _page(request, participation, shown=shown_now(participation, lease))


@never_cache
@require_GET
def practice(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The judging screen with one tuple to try it on. Nothing is stored, and nothing is handed to anybody."""
    campaign = campaign_for(request.user, campaign_pk, may="annotate")
    cards = practice_cards(campaign, request.user)
    if not cards:
        return redirect("annotation:judge", campaign.pk)
    if number_asked(request, "tuple", 1) > 1:
        return render(request, "annotation/judging/practised.html", {"campaign": campaign})
    leave = reverse("annotation:judge", args=[campaign.pk])
    return rehearsal_page(request, campaign, [cards], number=1, name=_("Practice"), leave=leave)


@never_cache
@require_GET
def judge_screen(request: AuthedRequest, campaign_pk: int) -> JsonResponse:
    """The tuple on the screen and those fetched ahead, for the script."""
    return JsonResponse(screen_json(request, _participation(request, campaign_pk), now()))


@require_POST
def judgement_create(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    participation = _participation(request, campaign_pk)
    at = now()
    form = JudgementForm(participation, request.POST)
    if not form.is_valid():
        return _refused(request, participation, at, form)
    try:
        submitted = answer_submit(at=at, fetch=_asks_for_json(request), **form.judgement(at))
    except UserError as error:
        form.add_error(None, str(error))
        return _refused(request, participation, at, form)
    gold, judgement = submitted.gold, submitted.judgement
    as_expected = _("The last pairs had a known answer, and yours was the expected one.")
    if _asks_for_json(request):
        said = screen_json(request, participation, at, held=submitted.held)
        said["pause"] = not submitted.repeated and sitting_is_over(said["sitting"])
        if gold:
            said |= (
                {"note": as_expected}
                if gold.right
                else {"answered": answered_html(participation, judgement, gold)}
            )
        return JsonResponse(said)
    if gold and not gold.right:
        return redirect("annotation:judgement_answered", campaign_pk, judgement.client_id)
    if gold:
        messages.success(request, as_expected)
    return redirect("annotation:judge", campaign_pk)


def _refused(
    request: AuthedRequest, participation: Participation, at: datetime, form: JudgementForm
) -> HttpResponse:
    """The same tuple with the same choices and the sentence; without JavaScript as a page."""
    if _asks_for_json(request):
        sentences = [sentence for errors in form.errors.values() for sentence in errors]
        return JsonResponse(screen_json(request, participation, at) | {"note": sentences[0]}, status=400)
    lease = form.cleaned_data.get("lease") or tuple_claim(participation=participation, at=at)
    if isinstance(lease, NoTupleReason):
        return _no_tuple_page(request, participation, lease)
    chosen = {role: form.cleaned_data.get(role) for role in ("best", "worst")}
    shown = shown_again(lease, **chosen, tie=bool(form.cleaned_data.get("tie")))
    return _page(request, participation, shown=shown, form=form, status=400)


@never_cache
@require_GET
def judgement_answered(request: AuthedRequest, campaign_pk: int, client_id: UUID) -> HttpResponse:
    """What the expected answer was to a gold tuple that the person has judged."""
    participation = _participation(request, campaign_pk)
    judgement: Judgement = get_object_or_404(participation.judgements, client_id=client_id)
    feedback = gold_feedback(judgement)
    if feedback is None:
        return redirect("annotation:judge", campaign_pk)
    return _page(request, participation, answered=answered_of(judgement, feedback))


@require_POST
def undo(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    participation = _participation(request, campaign_pk)
    form = UndoForm(request.POST)
    client_id = form.cleaned_data["client_id"] if form.is_valid() else None
    at = now()
    try:
        judgement_undo(participation=participation, at=at, client_id=client_id)
    except UserError as error:
        if _asks_for_json(request):
            return JsonResponse({"note": str(error)}, status=400)
        messages.warning(request, str(error))
        return redirect("annotation:judge", campaign_pk)
    if _asks_for_json(request):
        return JsonResponse(screen_json(request, participation, at))
    return redirect("annotation:judge", campaign_pk)


@require_http_methods(["GET", "POST"])
def skip(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    return _flag(request, campaign_pk, Flag.Kind.SKIP)


@require_http_methods(["GET", "POST"])
def flag(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    return _flag(request, campaign_pk, Flag.Kind.FLAG)


def _flag(request: AuthedRequest, campaign_pk: int, kind: Flag.Kind) -> HttpResponse:
    participation = _participation(request, campaign_pk)
    form = FlagForm(
        participation,
        request.POST or None,
        initial={"lease": request.GET.get("lease")},
        comments=kind == Flag.Kind.FLAG,
    )
    if form.is_valid():
        try:
            lease = form.cleaned_data.pop("lease")
            keep = tuple_skip if kind == Flag.Kind.SKIP else tuple_flag
            keep(participation=participation, tuple_id=lease.tuple_id, at=now(), **form.cleaned_data)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            said = (
                _("Skipped. Here are the next pairs.")
                if kind == Flag.Kind.SKIP
                else _("Flagged. You can still answer this question.")
            )
            if _asks_for_json(request):
                return JsonResponse(screen_json(request, participation, now()) | {"note": said})
            messages.info(request, said)
            return redirect("annotation:judge", participation.campaign_id)
    if _asks_for_json(request):
        sentences = [sentence for errors in form.errors.values() for sentence in errors]
        return JsonResponse({"note": sentences[0]}, status=400)
    skips = kind == Flag.Kind.SKIP
    heading = _("Skip these pairs") if skips else _("Flag these pairs, or comment on them")
    context = {"campaign": participation.campaign, "kind": kind, "heading": heading, "flag_form": form}
    return render(request, "annotation/judging/flag.html", context, status=400 if form.is_bound else 200)


def _participation(request: AuthedRequest, campaign_pk: int) -> Participation:
    return participation_of(user=request.user, campaign_pk=campaign_pk)


def _asks_for_json(request: AuthedRequest) -> bool:
    return request.headers.get("Accept") == "application/json"


def _page(
    request: AuthedRequest,
    participation: Participation,
    *,
    shown: TupleScreen | None = None,
    answered: dict[str, Any] | None = None,
    form: JudgementForm | None = None,
    status: int = 200,
) -> HttpResponse:
    judged = sitting_judged(participation)
    context = {
        "participation": participation,
        "campaign": participation.campaign,
        "shown": shown,
        "addresses": addresses_of(participation.campaign),
        "answered": answered,
        "form": form,
        "skip_form": FlagForm(participation, auto_id="skip_%s"),
        "flag_form": FlagForm(participation, auto_id="flag_%s", comments=True),
        "guideline": participation.campaign.guidelines.first(),
        "guidelines_open": request.GET.get("guidelines") == "open",
        "progress": progress_text(judged),
        "sitting": sitting_of(participation.campaign, judged),
        "last": last_judgement(participation),
        **undo_offered(participation),
        "words": words(participation),
        "by_crowd": crowd_has(request.user, participation.campaign),
    }
    return render(request, "annotation/judging/judge.html", context, status=status)


@require_GET
def mine(request: AuthedRequest) -> HttpResponse:
    context = {
        "campaigns": campaigns_of(request.user),
        "judged": judgements_of(request.user, page=page_number(request)),
    }
    return render(request, "annotation/mine.html", context)


def _no_tuple_page(
    request: AuthedRequest, participation: Participation, reason: NoTupleReason
) -> HttpResponse:
    submission = submission_now(participation)
    if submission is not None and submission.outcome:
        return redirect("annotation:crowd_finish", participation.campaign_id)
    context = no_tuple_context(participation, reason) | {"by_crowd": submission is not None}
    return render(request, "annotation/judging/over.html", context)
