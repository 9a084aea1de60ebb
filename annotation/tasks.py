"""What beat asks for, and what pages leave to a worker."""

import logging
from datetime import datetime

from celery import shared_task
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation.adapting import decks_make
from annotation.figures import campaign_mark
from annotation.models import Campaign
from annotation.settling import leases_expire
from annotation.studying import study_make, study_shown, study_wanted

logger = logging.getLogger(__name__)


@shared_task(name="annotation.expire_leases")
def expire_leases() -> int:
    """Release what was left on screens, so that it goes to others; how many tuples that were.

    Then choose what the adaptive phases ask for next.
    """
    released = leases_expire(at=timezone.now())
    decks_make()
    return released


@shared_task(name="annotation.study")
def study(campaign_pk: int) -> bool:
    """Work out what the campaign's dashboard shows; False where that is up to date, or the campaign is gone."""
    campaign = Campaign.objects.filter(pk=campaign_pk).first()
    if campaign is None or not study_shown(campaign, campaign_mark(campaign)).stale:
        return False
    study_make(campaign=campaign, at=timezone.now())
    return True


def study_ask(campaign: Campaign, *, at: datetime) -> None:
    """Ask a worker for a newer study, unless one was asked a short while ago."""
    if not study_wanted(campaign=campaign, at=at):
        return
    try:
        study.apply_async(args=(campaign.pk,), retry=False, expires=600)
    except OperationalError as error:
        logger.warning("Campaign %s: the broker cannot be reached: %s", campaign.pk, error)
