"""Designs that a worker makes: asked for, claimed, carried out, taken over where a worker sends no heartbeat.

Every move is one conditional UPDATE on (campaign, attempt), so of two workers one gets the work. One that was paused
while another took over writes nothing: before it writes, it looks under the campaign's lock whether its claim holds.
"""

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
from curation.foundation.heartbeats import database_now, free
from curation.foundation.jobs import Hold, job_claim, job_do
from curation.models import User

Purpose, State = CampaignDesign.Purpose, CampaignDesign.State


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


def design_claim(*, campaign_pk: int, at: datetime) -> Hold[CampaignDesign] | None:
    """Take what is asked for the campaign; None where there is nothing to take."""
    free_now = designs_free(at).select_related("campaign__dataset", "asked_by")
    return job_claim(
        free_now.filter(campaign=campaign_pk),
        at=at,
        gave_up=_(
            "%(number)s workers stopped responding during this design, usually because of too little memory; lower the "
            "tuples per pair or the number of pairs, or give the worker more memory."
        ),
        done=0,
        total=0,
    )


def design_carry_out(hold: Hold[CampaignDesign]) -> bool:
    """Carry the claimed work out, to one of its ends; whether it came to a good one."""
    broke = _("An unexpected error stopped the worker; its log describes it. Ask for the design again.")
    return job_do(hold, _design, broke=broke)


def _design(hold: Hold[CampaignDesign]) -> None:
    hold.require()
    work, watch = hold.job, Progress(hold)
    watch.searched(0, 0)
    design_perform(
        campaign=work.campaign,
        purpose=work.purpose,
        number=work.number,
        at=database_now(),
        by=work.asked_by,
        watch=watch,
    )


class Progress(Watch):
    """Writes the progress of a design on its job. Raises ClaimLost where another worker took it over."""

    def __init__(self, hold: Hold[CampaignDesign]) -> None:
        self._hold = hold

    def searched(self, done: int, total: int) -> None:
        self._hold.note(done=done, total=total, message=_("Pairs are being put together."))

    def writes(self) -> None:
        self._hold.require()

    def written(self, done: int, total: int) -> None:
        self._hold.note(done=done, total=total, message=_("Tuples are being written."))
