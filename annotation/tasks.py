"""What beat asks for, and what pages leave to a worker."""

import logging
from contextlib import suppress
from datetime import datetime
from typing import Any

from celery import shared_task
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation.campaigns.adapting import blocks_make
from annotation.campaigns.commissioning import (
    design_carry_out,
    design_claim,
    design_commission,
    design_perform,
    designs_free,
)
from annotation.campaigns.finishing import finished_tell
from annotation.campaigns.selectors import design_work_of
from annotation.campaigns.watching import RequestWatch, TakesLonger
from annotation.crowds.leaving import submissions_end_overdue
from annotation.judging.settling import leases_expire
from annotation.models import Campaign
from annotation.results.figures import campaign_mark
from annotation.results.study import study_latest, study_make, study_request
from annotation.results.uploading import (
    JudgementOptions,
    judgement_imports_free,
    judgements_carry_out,
    judgements_check,
    judgements_import,
)
from curation.heartbeats import database_now
from curation.models import ImportBatch, User

logger = logging.getLogger(__name__)


@shared_task(name="annotation.expire_leases")
def expire_leases() -> int:
    """Release what was left on screens, so that it goes to others; how many tuples that were.

    Then invite a worker for each design and each import that none is at, choose what the adaptive phases ask for next,
    tell webhooks of campaigns that have all their judgements, and end the submissions of people who left.
    """
    # However wrong the clock of the worker is: what is released too early, somebody else judges a second time.
    at = database_now()
    released = leases_expire(at=at)
    for campaign_pk in designs_free(database_now()).values_list("campaign", flat=True):
        design_invite(campaign_pk)
    for batch_pk in judgement_imports_free(database_now()).values_list("pk", flat=True):
        import_invite(batch_pk)
    blocks_make()
    finished_tell()
    submissions_end_overdue(at=at)
    return released


@shared_task(name="annotation.design")
def design(campaign_pk: int) -> bool:
    """Design what is asked for the campaign, if it is still to be had; whether that was done."""
    claim = design_claim(campaign_pk=campaign_pk, at=database_now())
    return claim is not None and design_carry_out(claim)


def design_invite(campaign_pk: int) -> None:
    """Invite a worker. Where no message arrives, the next sweep invites again."""
    _send(design, campaign_pk)


@shared_task(name="annotation.judgements_import")
def judgements_import_task(batch_pk: int) -> bool:
    """Check or import an upload that waits for a worker; whether that was done."""
    return judgements_carry_out(batch_pk=batch_pk)


def import_invite(batch_pk: int) -> None:
    """Invite a worker. Where no message arrives, the next sweep invites again."""
    _send(judgements_import_task, batch_pk)


def judgements_check_now_or_later(*, batch: ImportBatch, options: JudgementOptions) -> None:
    """Check a small upload while somebody waits; of a larger one, ask a worker."""
    if not judgements_check(batch=batch, options=options):
        import_invite(batch.pk)


def judgements_import_now_or_later(*, batch: ImportBatch) -> Campaign | None:
    """Import few judgements while somebody waits: the new campaign. Of more, ask a worker: None."""
    campaign = judgements_import(batch=batch)
    if campaign is None:
        import_invite(batch.pk)
    return campaign


def _send(task: Any, pk: int) -> None:
    try:
        task.apply_async(args=(pk,), retry=False, expires=600)
    except OperationalError as error:
        logger.warning("%s(%s): the broker cannot be reached: %s", task.name, pk, error)


def design_now_or_later(
    *, campaign: Campaign, purpose: str, at: datetime, number: int | None = None, by: User | None = None
) -> bool:
    """Do it while somebody waits, where that is quick; False where a worker is asked to do it."""
    known = design_work_of(campaign)
    if known is None or not known.is_long:
        with suppress(TakesLonger):
            watch = RequestWatch()
            design_perform(campaign=campaign, purpose=purpose, number=number, at=at, by=by, watch=watch)
            return True
    design_commission(campaign=campaign, purpose=purpose, at=at, number=number, by=by)
    design_invite(campaign.pk)
    return False


@shared_task(name="annotation.study")
def study(campaign_pk: int) -> bool:
    """Work out what the campaign's dashboard shows; False where that is up to date, or the campaign is gone."""
    campaign = Campaign.objects.filter(pk=campaign_pk).first()
    if campaign is None or not study_latest(campaign, campaign_mark(campaign)).stale:
        return False
    study_make(campaign=campaign, at=timezone.now())
    return True


def study_ask(campaign: Campaign, *, at: datetime) -> None:
    """Ask a worker for a newer study, unless one was asked a short while ago."""
    if study_request(campaign=campaign, at=at):
        _send(study, campaign.pk)
