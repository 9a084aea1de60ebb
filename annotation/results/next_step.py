"""Where a campaign stands, in one sentence, and the one thing to do next."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.access import campaign_may
from annotation.models import Campaign
from annotation.results.dashboard import Dashboard
from annotation.results.since import since_said
from annotation.results.stages import Stage, stage_of
from curation.models import User


@dataclass(frozen=True)
class NextStep:
    """label and address of the primary action; empty where the person may do nothing about it, or has to wait."""

    sentence: str
    label: str = ""
    address: str = ""


def next_step(user: User, campaign: Campaign, dashboard: Dashboard, shown: Mapping[str, Any]) -> NextStep:
    """The first of these that applies: look at gold tuples, look at people, publish, export, judge or invite for what
    is missing, invite.

    shown: the context of the dashboard: who needs a look, what waits, what was published.
    """
    step = _step(campaign, dashboard, shown)
    return step if campaign_may(user, campaign, may="curate") else NextStep(step.sentence)


def to_look_at_said(people: int) -> str:
    """That the answers of so many people ask for a look."""
    sentence = ngettext(
        "%(n)d person needs a look before you rely on the judgements.",
        "%(n)d people need a look before you rely on the judgements.",
        people,
    )
    return sentence % {"n": people}


def _step(campaign: Campaign, dashboard: Dashboard, shown: Mapping[str, Any]) -> NextStep:
    counted = {"collected": f"{dashboard.collected:,}", "required": f"{dashboard.required:,}"}
    if doubted := shown.get("golds_doubted"):
        sentence = ngettext(
            "Good annotators miss %(n)d attention check; it may stop the wrong people.",
            "Good annotators miss %(n)d attention checks; they may stop the wrong people.",
            doubted,
        )
        label = ngettext("Look at the attention check", "Look at the attention checks", doubted)
        return NextStep(sentence % {"n": doubted}, label, reverse("annotation:gold", args=[campaign.pk]))
    if to_look_at := len(shown["to_look_at"]):
        label = ngettext("Look at the person", "Look at the people", to_look_at)
        return NextStep(to_look_at_said(to_look_at), label, "#annotators")
    stage = stage_of(
        state=campaign.state,
        complete=dashboard.complete,
        judged=dashboard.collected > 0,
        published=bool(shown["score_sets"]),
    )
    if stage in {Stage.PUBLISH, Stage.EXPORT}:
        return _after_judging(campaign, shown, stage, done=dashboard.complete, counted=counted)
    if campaign.state != Campaign.State.OPEN:
        closed = _("The campaign is closed with %(collected)s of %(required)s judgements.") % counted
        paused = campaign.state == Campaign.State.PAUSED
        return NextStep(_("The campaign is paused; nobody gets tuples.") if paused else closed)
    if not any(row.judgements for row in dashboard.annotators):
        return NextStep(_("Nobody has annotated yet."), *_inviting(shown, _("Invite annotators")))
    return _while_people_judge(shown, counted)


def _while_people_judge(shown: Mapping[str, Any], counted: Mapping[str, str]) -> NextStep:
    waiting = shown.get("waiting")
    if not waiting:
        return NextStep(
            _("People are annotating: %(collected)s of %(required)s judgements are there.") % counted
        )
    sentence = waiting[0]["sentence"]
    if shown["waiting_judge"]:
        return NextStep(sentence, _("Annotate it"), shown["waiting_judge"])
    return NextStep(sentence, *_inviting(shown, _("Invite somebody")))


def _inviting(shown: Mapping[str, Any], label: str) -> tuple[str, str]:
    """The label and the address of the button that makes an invitation; empty where the person may not invite."""
    return (label, "#invite") if shown["invitation_form"] else ("", "")


def _after_judging(
    campaign: Campaign, shown: Mapping[str, Any], stage: Stage, *, done: bool, counted: Mapping[str, str]
) -> NextStep:
    """done: all judgements are there; else the campaign was closed before."""
    if any(work.is_underway for work in shown["works"]):
        return NextStep(_("All judgements are there. A worker publishes the scores."))
    if stage is Stage.EXPORT and (changed := since_said(shown["since"])):
        sentence = _("The newest published scores are older than the judgements: %(changed)s.")
        again = reverse("annotation:publish", args=[campaign.pk])
        return NextStep(sentence % {"changed": ", ".join(changed)}, _("Publish scores again"), again)
    if stage is Stage.EXPORT:
        address = reverse("curation:export", args=[campaign.dataset.slug])
        return NextStep(_("The scores are published."), _("Export the dataset"), address)
    sentence = (
        _("All judgements are there. Nothing is published yet.")
        if done
        else _("The campaign is closed with %(collected)s of %(required)s judgements.") % counted
    )
    return NextStep(sentence, _("Publish these scores"), reverse("annotation:publish", args=[campaign.pk]))
