"""The study that the pages of a campaign show."""

from contextlib import suppress
from datetime import datetime

from annotation.campaigns.watching import RequestWatch, TakesLonger
from annotation.models import Campaign
from annotation.results.dashboard import Dashboard
from annotation.results.study import CampaignFindings, study_is_quick, study_latest, study_make


def study_shown(campaign: Campaign, dashboard: Dashboard, *, at: datetime) -> CampaignFindings:
    """The study of the campaign as it is, made now where that is quick; else the last one there is."""
    latest = study_latest(campaign, dashboard.mark)
    judged = dashboard.collected + dashboard.extra + dashboard.excluded
    if latest.stale and judged and study_is_quick(campaign, judged):
        with suppress(TakesLonger):
            return study_make(campaign=campaign, at=at, report=RequestWatch().searched)
    return latest
