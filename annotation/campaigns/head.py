"""The top of each of a campaign's pages: its state, its moves and its tabs."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.access import campaign_may
from annotation.campaigns.selectors import design_work_of, flags_open, guidelines_written
from annotation.models import Campaign
from annotation.results.selectors import judges_of
from curation.models import User, mark_shown

RARER = {"campaign_design", "machines", "crowd", "inbox"}


def campaign_head(user: User, campaign: Campaign, here: str) -> dict[str, Any]:
    """The part of the context that every page of a campaign shares. `here` names the page."""
    flags = flags_open(campaign)
    draft = campaign.state == Campaign.State.DRAFT
    names = {
        "campaign": _("Design") if draft else _("Progress"),
        "analysis": _("Analysis"),
        "scores": _("Scores"),
        **({} if draft else {"campaign_design": _("Design")}),
        "machines": _("Model annotators"),
        "gold": _("Attention checks"),
        "guidelines": _("Guidelines"),
        "crowd": _("Crowd"),
        "inbox": _("Inbox (%(number)d)") % {"number": flags} if flags else _("Inbox"),
    }
    tabs = [
        {
            "name": name,
            "label": label,
            "address": reverse(f"annotation:{name}", args=[campaign.pk]),
            "here": name == here,
        }
        for name, label in names.items()
        if not (draft and name in {"analysis", "scores", "machines", "inbox"})
    ]
    # A draft has few tabs. Later the rarer ones are folded, but for the page itself and an inbox that waits.
    folded = set() if draft else RARER - {here} - ({"inbox"} if flags else set())
    return {
        "campaign": campaign,
        "mark": mark_shown(judges_of(campaign)),
        "dataset": campaign.dataset,
        "tabs": [tab for tab in tabs if tab["name"] not in folded],
        "more_tabs": [tab for tab in tabs if tab["name"] in folded],
        "unguided": draft and not guidelines_written(campaign),
        "curates": campaign_may(user, campaign, may="curate"),
        "design_work": design_work_of(campaign),
    }
