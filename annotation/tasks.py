"""What beat asks for, and what pages leave to a worker."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any
from uuid import UUID

from celery import shared_task
from django.utils.translation import gettext as _

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
from annotation.models import Campaign, CampaignWork, SliderArm
from annotation.results.kept_bundles import bundles_tidy
from annotation.results.selectors import score_sets_of
from annotation.results.slider import comparison_mark
from annotation.results.study import study_is_new
from annotation.results.uploading import (
    JudgementOptions,
    judgement_imports_free,
    judgements_carry_out,
    judgements_check,
    judgements_import,
)
from annotation.results.works import (
    bundle_ask,
    study_wanted,
    study_work,
    work_ask,
    work_carry_out,
    work_do_here,
    work_is_quick,
    works_free,
)
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import database_now, worker_invite
from curation.models import ImportBatch, User


@shared_task(name="annotation.expire_leases")
def expire_leases() -> int:
    """Release what was left on screens, so that it goes to others; how many tuples that were.

    Then invite a worker for each design, each import and each other work that none is at, choose what the adaptive
    phases ask for next, tell webhooks of campaigns that have all their judgements, and end the submissions of people
    who left.
    """
    # However wrong the clock of the worker is: what is released too early, somebody else judges a second time.
    at = database_now()
    released = leases_expire(at=at)
    for campaign_pk in designs_free(database_now()).values_list("campaign", flat=True):
        design_invite(campaign_pk)
    for batch_pk in judgement_imports_free(database_now()).values_list("pk", flat=True):
        import_invite(batch_pk)
    for work_pk in works_free(database_now()).values_list("pk", flat=True):
        work_invite(work_pk)
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
    worker_invite(design.name, campaign_pk)


@shared_task(name="annotation.judgements_import")
def judgements_import_task(batch_pk: int) -> bool:
    """Check or import an upload that waits for a worker; whether that was done."""
    return judgements_carry_out(batch_pk=batch_pk)


def import_invite(batch_pk: int) -> None:
    """Invite a worker. Where no message arrives, the next sweep invites again."""
    worker_invite(judgements_import_task.name, batch_pk)


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


@shared_task(name="annotation.work")
def work(work_pk: int) -> bool:
    """Do what somebody asked of a campaign's judgements, if it is still to be had; whether that came to a good end."""
    return work_carry_out(work_pk=work_pk)


def work_invite(work_pk: int) -> None:
    """Invite a worker. Where no message arrives, the next sweep invites again."""
    worker_invite(work.name, work_pk)


def work_now_or_later(
    *, campaign: Campaign, kind: str, asked: Mapping[str, Any], wish: str, by: User | None
) -> CampaignWork:
    """Do small work while somebody waits; for more, ask a worker. The row says which of the two it was.

    Raises UserError where it cannot be done, or where it was done here and failed.
    """
    wanted = work_ask(campaign=campaign, kind=kind, asked=asked, wish=wish, at=database_now(), by=by)
    return _now_or_later(wanted)


def _now_or_later(wanted: CampaignWork) -> CampaignWork:
    if wanted.state == CampaignWork.State.WAITING:
        if work_is_quick(wanted):
            work_do_here(work=wanted)
        else:
            work_invite(wanted.pk)
        try:
            wanted.refresh_from_db()
        except CampaignWork.DoesNotExist as error:
            raise UserError(_("Somebody has withdrawn this.")) from error
    return wanted


def publish_now_or_later(
    *, campaign: Campaign, asked: Mapping[str, Any], client_id: UUID | None, by: User
) -> CampaignWork:
    """Publish scores. client_id: made by the page or the program; sent twice, published once. Without one, the same
    choices are the same wish until something is published.
    """
    wish = (
        str(client_id)
        if client_id
        else f"after {score_sets_of(campaign).values_list('pk', flat=True).first()}"
    )
    return work_now_or_later(campaign=campaign, kind=CampaignWork.Kind.PUBLISH, asked=asked, wish=wish, by=by)


def comparison_ask(*, arm: SliderArm, standardised: bool, by: User) -> CampaignWork:
    """Have both methods compared, as their answers are now."""
    return work_now_or_later(
        campaign=arm.campaign,
        kind=CampaignWork.Kind.METHODS,
        asked={"standardised": standardised},
        wish=comparison_mark(arm, standardised=standardised),
        by=by,
    )


def bundle_now_or_later(*, campaign: Campaign, spreadsheet: bool, by: User) -> CampaignWork:
    """Have the bundle of the campaign made and kept, as the campaign is now."""
    return _now_or_later(bundle_ask(campaign=campaign, spreadsheet=spreadsheet, at=database_now(), by=by))


@shared_task(name="annotation.tidy")
def tidy() -> None:
    """Remove files of bundles that no row names."""
    bundles_tidy(at=database_now())


def study_ask(campaign: Campaign, mark: str, *, at: datetime, by: User) -> None:
    """Ask a worker for a study of the campaign's state, unless one goes on or was made a short while ago."""
    work = study_work(campaign, mark)
    if (work is None or not work.is_underway) and not study_is_new(campaign, at=at):
        _now_or_later(study_wanted(campaign=campaign, mark=mark, at=at, by=by))
