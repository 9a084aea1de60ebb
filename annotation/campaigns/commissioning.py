"""Designs that a worker makes: asked for, claimed, carried out, taken over where a worker sends no heartbeat.

Every move is one conditional UPDATE on (campaign, attempt), so of two workers one gets the work. One that was paused
while another took over writes nothing: before it writes, it looks under the campaign's lock whether its claim holds.
"""

import logging
import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from annotation.campaigns.growing import campaign_grow, growth_preview
from annotation.campaigns.rounds import campaign_lock, campaign_require
from annotation.campaigns.services import campaign_open, campaign_preview
from annotation.campaigns.watching import NOBODY, Watch
from annotation.models import Campaign, CampaignDesign
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import (
    LOST_MAX,
    ClaimLost,
    beating,
    claim_first,
    connection_lost,
    database_now,
    free,
    held,
)
from curation.models import User

Purpose, State = CampaignDesign.Purpose, CampaignDesign.State

logger = logging.getLogger(__name__)


class DesignStopped(ClaimLost):
    """The work is no longer this worker's: cancelled, replaced or taken over. Stop, and write nothing."""


@dataclass(frozen=True)
class Claim:
    """The right to carry out what is asked for a campaign, until somebody else claims it."""

    campaign_pk: int
    attempt: int


def design_perform(
    *,
    campaign: Campaign,
    purpose: str,
    number: int | None,
    at: datetime,
    by: User | None = None,
    watch: Watch = NOBODY,
) -> None:
    """Do what was asked for, here and now."""
    if purpose == Purpose.OPEN:
        campaign_open(campaign=campaign, at=at, by=by, watch=watch)
    elif purpose == Purpose.GROW:
        campaign_grow(campaign=campaign, number=number, by=by, watch=watch)
    else:
        campaign_preview(campaign=campaign, watch=watch)


@transaction.atomic
def design_commission(
    *, campaign: Campaign, purpose: str, at: datetime, number: int | None = None, by: User | None = None
) -> CampaignDesign:
    """Note that a worker should do it, and who asked.

    Raises UserError where that cannot be, or other work is underway.
    """
    campaign = campaign_lock(campaign)
    if purpose == Purpose.GROW:
        growth_preview(campaign=campaign, number=number)
    else:
        campaign_require(campaign, Campaign.State.DRAFT)
    work, _made = CampaignDesign.objects.get_or_create(campaign=campaign)
    if work.is_underway and work.purpose != Purpose.PREVIEW:
        raise UserError(
            _("A worker designs tuples for “%(name)s” already; wait for it or cancel it first."),
            name=campaign.name,
        )
    asked = {"purpose": purpose, "number": number, "state": State.WAITING, "asked_at": at, "message": ""}
    fresh = {"attempt": F("attempt") + 1, "lost": 0, "heartbeat_at": None, "done": 0, "total": 0}
    CampaignDesign.objects.filter(pk=work.pk).update(**asked, **fresh, asked_by=by)
    work.refresh_from_db()
    return work


def designs_free(at: datetime) -> QuerySet[CampaignDesign]:
    """What no worker has begun, and what a worker began that sends no heartbeat."""
    return CampaignDesign.objects.filter(free(at, waiting=[State.WAITING]))


def design_claim(*, campaign_pk: int, at: datetime) -> Claim | None:
    """Take what is asked for the campaign; None where there is nothing to take."""
    gave_up = _(
        "%(number)s workers stopped responding during this design, usually because of too little memory; lower the "
        "tuples per pair or the number of pairs, or give the worker more memory."
    ) % {"number": LOST_MAX}
    work = claim_first(
        designs_free(at).filter(campaign=campaign_pk),
        at=at,
        given_up={"state": State.FAILED, "message": gave_up},
        done=0,
        total=0,
    )
    return Claim(campaign_pk, work.attempt) if work else None


def design_carry_out(claim: Claim) -> bool:
    """Carry the claimed work out, to one of its ends; whether it came to a good one."""
    work = _ours(claim).select_related("campaign__dataset", "asked_by").first()
    if work is None:
        return False
    watch = Progress(claim)
    try:
        with watch.heartbeat():
            design_perform(
                campaign=work.campaign,
                purpose=work.purpose,
                number=work.number,
                at=database_now(),
                by=work.asked_by,
                watch=watch,
            )
    except DesignStopped:
        return False
    except UserError as error:
        _ours(claim).update(state=State.FAILED, message=str(error))
        return False
    except Exception as error:
        if connection_lost(error):  # its heartbeat goes stale, and another worker is invited
            logger.warning("Campaign %s: the database went away: %s", claim.campaign_pk, error)
            return False
        logger.exception("Campaign %s: the design failed", claim.campaign_pk)
        message = _("An unexpected error stopped the worker; its log describes it. Ask for the design again.")
        _ours(claim).update(state=State.FAILED, message=message)
        return False
    return True


def _ours(claim: Claim) -> QuerySet[CampaignDesign]:
    return held(CampaignDesign.objects.filter(campaign=claim.campaign_pk), attempt=claim.attempt)


class Progress(Watch):
    """Notes how far a worker is. A thread with its own connection writes the note about once a second.

    So it is seen while the tuples are written in one transaction, and no note comes from a worker that is killed.
    """

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._note = {"done": 0, "total": 0, "message": _("Pairs are being put together.")}
        self._lost = threading.Event()

    def searched(self, done: int, total: int) -> None:
        if self._lost.is_set():
            raise DesignStopped
        self._note = {"done": done, "total": total, "message": _("Pairs are being put together.")}

    def writes(self) -> None:
        if not _ours(self._claim).exists():
            raise DesignStopped

    def written(self, done: int, total: int) -> None:
        self._note = {"done": done, "total": total, "message": _("Tuples are being written.")}

    def heartbeat(self) -> AbstractContextManager[None]:
        return beating("design heartbeat", self._beat)

    def _beat(self, at: datetime) -> None:
        if not _ours(self._claim).update(heartbeat_at=at, **self._note):
            self._lost.set()
            raise DesignStopped
