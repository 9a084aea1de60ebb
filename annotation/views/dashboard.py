"""How a campaign goes: its figures, its scores and its judgements."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotation.access import campaign_for, campaign_may
from annotation.bws.studies.costs import seconds_at_size
from annotation.campaigns.cost import campaign_estimate, gate_of_campaign, people_arriving, settings_of
from annotation.campaigns.designing import preview_tuples
from annotation.campaigns.head import campaign_head
from annotation.campaigns.promises import promises
from annotation.forms.publishing import PlacesForm
from annotation.models import Campaign, CampaignWork, Crowd
from annotation.results.dashboard import Dashboard, campaign_dashboard
from annotation.results.figures import campaign_mark, score_page
from annotation.results.gold_doubts import golds_to_remove
from annotation.results.kept_bundles import bundle_is_quick, bundle_kept
from annotation.results.next_step import next_step
from annotation.results.record import annotators_named
from annotation.results.selectors import judgements_in, score_sets_of
from annotation.results.since import Since, changed_since
from annotation.results.study import study_latest
from annotation.results.study_page import analysis_context, published_notes, study_context
from annotation.results.turning import order_claim
from annotation.results.waiting import waiting_context
from annotation.results.works import bundles_kept, study_work, works_shown
from annotation.tasks import study_ask
from annotation.views.rehearsal import rehearsal_page
from annotation.views.studied import study_shown
from curation.forms.people import InvitationForm
from curation.foundation.errors import form_errors_said
from curation.foundation.numbers import number_asked, page_number
from curation.foundation.roles import Role
from curation.models import User
from curation.people.access import AuthedRequest
from curation.people.members import invitations_shown, members_of

Kind = CampaignWork.Kind


@require_GET
def campaign(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """A draft's design and cost, or how the campaign goes."""
    chosen = campaign_for(request.user, campaign_pk, may="read")
    context = campaign_head(request.user, chosen, "campaign")
    if chosen.state == Campaign.State.DRAFT:
        context |= {"promises": promises(chosen.certificate), **_draft(chosen)}
        missing = chosen.judgements_per_tuple - context["people"]
        context |= _inviting(request.user, chosen, missing)
        return render(request, "annotation/campaigns/draft.html", context)
    at = now()
    figures = campaign_dashboard(chosen, at=at)
    waiting = waiting_context(request.user, chosen, figures)
    missing = waiting.get("waiting_people") or chosen.judgements_per_tuple - _people(chosen)
    running: dict[str, Any] = {
        **study_context(chosen, figures, study_shown(chosen, figures, at=at), pay=chosen.estimate.get("pay")),
        **waiting,
        **_inviting(request.user, chosen, missing),
        "dashboard": figures,
        "gate": gate_of_campaign(chosen),
        "golds_doubted": len(golds_to_remove(chosen)) if chosen.state != Campaign.State.CLOSED else 0,
        "score_sets": (published := list(score_sets_of(chosen))),
        "since": next(iter(changed_since(published[:1]).values()), Since()),
        "works": works_shown(chosen, Kind.PUBLISH),
        "shown_on": "annotation:campaign",
        "judge_address": request.build_absolute_uri(reverse("annotation:judge", args=[chosen.pk])),
    }
    running["next_step"] = next_step(request.user, chosen, figures, running)
    return render(request, "annotation/campaigns/dashboard.html", context | running)


def _people(campaign: Campaign) -> int:
    """How many people may annotate: the members of the dataset, and those who come by the link of a crowd."""
    crowd = Crowd.objects.filter(campaign=campaign).first()
    return members_of(campaign.dataset).count() + (people_arriving(crowd) if crowd else 0)


def _draft(campaign: Campaign) -> dict[str, Any]:
    typed = campaign.estimate
    return {
        "certificate": campaign.certificate,
        "estimate": campaign_estimate(campaign.dataset, settings_of(campaign) | typed),
        "gate": gate_of_campaign(campaign),
        "seconds": typed.get("seconds", seconds_at_size(campaign.tuple_size)),
        "people": _people(campaign),
    }


def _bundle(user: User, campaign: Campaign, figures: Dashboard) -> dict[str, Any]:
    """The page's part about bundles, for people who may download them.

    A large campaign has kept bundles, and those that a worker makes now.
    """
    if not (figures.collected and campaign_may(user, campaign, may="oversee")):
        return {}
    if bundle_is_quick(campaign):
        return {"bundle_at_once": True}
    made = [bundle_kept(work) for work in bundles_kept(campaign)]
    return {"bundle_by_worker": True, "bundles": made, "bundle_works": works_shown(campaign, Kind.BUNDLE)}


@require_GET
def analysis(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """What the judgements are worth: reliability, sliders, exclusions, lowest-agreement tuples, screen positions."""
    chosen = campaign_for(request.user, campaign_pk, may="read")
    if chosen.state == Campaign.State.DRAFT:
        return redirect("annotation:campaign", chosen.pk)
    at = now()
    figures = campaign_dashboard(chosen, at=at)
    shown = study_shown(chosen, figures, at=at)
    context = campaign_head(request.user, chosen, "analysis") | analysis_context(
        chosen, figures, shown, request.GET
    )
    context |= {
        "dashboard": figures,
        "shown_on": "annotation:analysis",
        "judgements_address": reverse("annotation:judgements", args=[chosen.pk]),
    }
    return render(request, "annotation/campaigns/analysis.html", context)


def _inviting(user: User, campaign: Campaign, missing: int = 1) -> dict[str, Any]:
    """The form of invitations, filled in: for the annotators who are missing or for one more, for two weeks. None for
    people who may not invite. With it the closed invitations, whose links are no longer shown.
    """
    needed = campaign.state in {Campaign.State.DRAFT, Campaign.State.OPEN}
    if not needed or not campaign_may(user, campaign, may="own"):
        return {"invitation_form": None}
    note = _("For the campaign %(name)s") % {"name": campaign.name}
    longest = InvitationForm.base_fields["note"].max_length  # type: ignore[attr-defined]
    first = {"role": Role.ANNOTATOR, "people": max(1, missing), "note": note[:longest]}
    form = InvitationForm(mail=False, initial=first, auto_id=False)
    invitations = invitations_shown(campaign.dataset, at=now())
    return {"invitation_form": form, "closed": [each.pk for each, refusal in invitations if refusal]}


@require_GET
def campaign_progress(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The four figures, which an open campaign's page fetches again and again."""
    chosen = campaign_for(request.user, campaign_pk, may="read")
    figures = campaign_dashboard(chosen, at=now())
    context = {"campaign": chosen, "dashboard": figures, **_inviting(request.user, chosen)}
    latest = study_latest(chosen, figures.mark)
    context |= study_context(chosen, figures, latest, pay=chosen.estimate.get("pay"))
    return render(request, "annotation/campaigns/_progress.html", context)


@require_GET
def design_state(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """How far a worker is with the campaign's design; once it has ended, the page is loaded again."""
    chosen = campaign_for(request.user, campaign_pk, may="read")
    context = campaign_head(request.user, chosen, "campaign")
    work = context["design_work"]
    if work is None or not work.is_underway:
        return HttpResponseClientRefresh()
    return render(request, "annotation/campaigns/_design_work.html", context)


@require_POST
def study(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """Ask a worker for a study where the last one is out of date; the page's script asks until there is a newer one.

    It asks for one that failed again only where a person presses the button.
    """
    chosen = campaign_for(request.user, campaign_pk, may="read")
    mark = campaign_mark(chosen)
    latest = study_latest(chosen, mark)
    work = study_work(chosen, mark)
    if latest.stale and (work is None or request.GET.get("waits") != "1"):
        study_ask(chosen, mark, at=now(), by=request.user)
        work = study_work(chosen, mark)
    shown_on = "annotation:analysis" if request.GET.get("page") == "analysis" else "annotation:campaign"
    if not request.htmx:
        return redirect(shown_on, chosen.pk)
    since = request.GET.get("since", "")
    made = latest.computed_at.isoformat() if latest.computed_at else ""
    context = {
        "campaign": chosen,
        "study": latest.figures,
        "computed_at": latest.computed_at,
        "since": since,
        "study_due": latest.stale,
        "study_work": work,
        "asked": True,
        "shown_on": shown_on,
        "newer": made not in {"", since},
    }
    return render(request, "annotation/campaigns/_study_state.html", context)


@require_GET
def campaign_preview(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The judging screen itself with real pairs. Nothing is stored, and nothing is handed to anybody.

    Where a worker has yet to work the design out, its sums, which are known without it.
    """
    chosen = campaign_for(request.user, campaign_pk, may="read")
    tuples = preview_tuples(chosen)
    if not tuples:
        context = campaign_head(request.user, chosen, "campaign") | _draft(chosen)
        return render(request, "annotation/campaigns/preview_later.html", context)
    number = number_asked(request, "tuple", 1)
    if number > len(tuples):
        context = campaign_head(request.user, chosen, "campaign") | {"tuples": len(tuples)}
        return render(request, "annotation/campaigns/previewed.html", context)
    leave = reverse("annotation:campaign", args=[chosen.pk])
    return rehearsal_page(request, chosen, tuples, number=number, name=_("Preview"), leave=leave)


@require_GET
def scores(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The scores of now, what was published of them, and the files."""
    chosen = campaign_for(request.user, campaign_pk, may="read")
    order = "score" if request.GET.get("order") == "score" else "-score"
    shown = score_page(chosen, page=page_number(request), lowest_first=order == "score")
    published = list(score_sets_of(chosen))
    since = changed_since(published)
    context = campaign_head(request.user, chosen, "scores") | {
        "dashboard": (figures := campaign_dashboard(chosen, at=now())),
        "published": [(each, published_notes(each.parameters, since[each.pk])) for each in published],
        "works": works_shown(chosen, Kind.PUBLISH),
        **_bundle(request.user, chosen, figures),
        "scores": shown,
        "page": shown.page,
        "lowest_first": order == "score",
        **_order_claim(request, chosen, len(shown.page.paginator.object_list)),
        "address": f"order={order}&",
    }
    return render(request, "annotation/campaigns/scores.html", context)


def _order_claim(request: AuthedRequest, campaign: Campaign, places: int) -> dict[str, Any]:
    """The form that asks how few answers the order of two places rests on, and what was found or is wrong."""
    form = PlacesForm(places, request.GET if "higher" in request.GET else None)
    if form.is_valid():
        return {"places": form, "claim": order_claim(campaign, **form.cleaned_data)}
    return {"places": form, "claim": form_errors_said(form)}


@require_GET
def judgements(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The judgements behind the figures: all, or those of one tuple, or in which one pair was shown."""
    chosen = campaign_for(request.user, campaign_pk, may="read")
    number, pair_pk = number_asked(request, "tuple", 0), number_asked(request, "pair", 0)
    pair = chosen.dataset.pairs.filter(pk=pair_pk).first()
    context = campaign_head(request.user, chosen, "campaign") | {
        "judged": judgements_in(chosen, tuple_number=number, pair=pair_pk, page=page_number(request)),
        "tuple_number": number,
        "pair": pair,
        "named": annotators_named(chosen),
        "address": (f"tuple={number}&" if number else "") + (f"pair={pair_pk}&" if pair_pk else ""),
    }
    return render(request, "annotation/campaigns/judgements.html", context)
