"""What somebody asks of a campaign's judgements and has computed: while they wait where it is small, else by a worker.

The row is claimed by conditional UPDATEs as designs and runs are, also by a request: where the process that has it is
killed, a worker takes it over. What is computed holds no transaction; what it stores and the row's end are one.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, QuerySet
from django.db.transaction import atomic, on_commit
from django.utils.translation import gettext as _

from annotation.models import Campaign, CampaignWork, SliderArm
from annotation.results.kept_bundles import (
    bundle_files_remove,
    bundle_forget,
    bundle_is_quick,
    bundle_is_there,
    bundle_keep,
    bundle_require,
    bundle_state,
)
from annotation.results.publishing import (
    publication_is_quick,
    publication_require,
    publications_of,
    publications_store,
)
from annotation.results.slider import (
    Comparison,
    comparison_as_json,
    comparison_compute,
    comparison_from_json,
    comparison_is_quick,
    comparison_mark,
    comparison_of,
)
from annotation.results.study import study_compute, study_store
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import database_now, free
from curation.foundation.jobs import Hold, job_claim, job_do
from curation.models import ScoreSet, User

Kind, State = CampaignWork.Kind, CampaignWork.State
Store = Callable[[], dict[str, Any]]
COMPARED_AGAIN_AFTER = timedelta(seconds=60)  # while people rate, every rating outdates the comparison
WORKS_KEPT = 20  # of a campaign and a kind: who asked finds what became of it


@dataclass(frozen=True)
class _Deed:
    """How a kind of work is done. require: raises UserError where it cannot be. is_quick: whether a request does it.

    compute: writes no row, and gives what stores the result in the transaction that ends the work. forget: removes
    files that it wrote, if the work came to no good end.
    """

    require: Callable[[Campaign, Mapping[str, Any]], None]
    is_quick: Callable[[Campaign, Mapping[str, Any]], bool]
    compute: Callable[[CampaignWork], Store]
    forget: Callable[[CampaignWork], None] | None = None


def work_ask(
    *,
    campaign: Campaign,
    kind: str,
    asked: Mapping[str, Any],
    wish: str,
    at: datetime,
    by: User | None = None,
) -> CampaignWork:
    """Note what somebody asks for. The same asked twice is one row; if it failed before, it is to be done again.

    asked: the choices, as JSON has them. wish: what makes two that are alike the same: an id that a page made, or the
    state of the campaign. Raises UserError where it cannot be done.
    """
    key = _key(kind, asked, wish)
    if not CampaignWork.objects.filter(campaign=campaign, key=key).exclude(state=State.FAILED).exists():
        # What is asked for a second time may be there by now, which the first time required that it is not.
        DEEDS[kind].require(campaign, asked)
    first = {"kind": kind, "asked": dict(asked), "asked_by": by, "asked_at": at}
    work, made = CampaignWork.objects.get_or_create(campaign=campaign, key=key, defaults=first)
    if made:
        ended = CampaignWork.objects.filter(
            campaign=campaign, kind=kind, state__in=[State.DONE, State.FAILED]
        )
        old = ended.order_by("-pk").values_list("pk", flat=True)[WORKS_KEPT:]
        _rows_remove(CampaignWork.objects.filter(pk__in=list(old)))
    elif work.state == State.FAILED:
        again = {"state": State.WAITING, "attempt": F("attempt") + 1, "lost": 0, "heartbeat_at": None}
        failed = CampaignWork.objects.filter(pk=work.pk, state=State.FAILED)
        failed.update(**again, message="", asked_by=by, asked_at=at)
        work.refresh_from_db()
    return work


def _key(kind: str, asked: Mapping[str, Any], wish: str) -> str:
    return hashlib.sha256(json.dumps([kind, asked, wish], sort_keys=True).encode()).hexdigest()


def _rows_remove(works: QuerySet[CampaignWork]) -> None:
    """Delete these rows and, once that is certain, the files that were written for them."""
    with atomic():
        filed = set(works.filter(kind=Kind.BUNDLE).values_list("pk", flat=True))
        works.delete()
        if filed:
            # A worker may have ended one in the meantime, which is then none of these rows any more.
            filed -= set(CampaignWork.objects.filter(pk__in=filed).values_list("pk", flat=True))
            on_commit(lambda: bundle_files_remove(filed))


def work_is_quick(work: CampaignWork) -> bool:
    """Whether somebody may wait for it: what it costs is estimated from the number of judgements."""
    return DEEDS[work.kind].is_quick(work.campaign, work.asked)


def works_free(at: datetime) -> QuerySet[CampaignWork]:
    """What no process has begun, and what one began that sends no heartbeat."""
    return CampaignWork.objects.filter(free(at, waiting=[State.WAITING]))


def works_shown(campaign: Campaign, kind: str) -> QuerySet[CampaignWork]:
    """What a page tells of: work that goes on, and work that failed and was not dismissed."""
    return campaign.works.filter(kind=kind, state__in=[State.WAITING, State.RUNNING, State.FAILED])


def score_sets_made(work: CampaignWork) -> QuerySet[ScoreSet]:
    """The score sets that it published."""
    return ScoreSet.objects.filter(pk__in=work.result.get("score_sets", [])).order_by("pk")


@dataclass(frozen=True)
class ComparisonShown:
    """What a page shows of both methods: the newest comparison there is, None before the first.

    work: that makes a newer one, or failed to. due: whether the answers have changed since. computed_at: None where it
    was computed for this page.
    """

    compared: Comparison | None
    work: CampaignWork | None = None
    due: bool = False
    computed_at: datetime | None = None


def comparison_shown(arm: SliderArm, *, standardised: bool, at: datetime) -> ComparisonShown:
    """Few answers are compared here; of more, the page shows what a worker found."""
    if comparison_is_quick(arm):
        return ComparisonShown(comparison_of(arm, standardised=standardised))
    asked = {"standardised": standardised}
    key = _key(Kind.METHODS, asked, comparison_mark(arm, standardised=standardised))
    works = arm.campaign.works.filter(kind=Kind.METHODS, asked=asked)
    # An answer that is taken back leads to a state that was compared before.
    done = works.filter(state=State.DONE, key=key).first() or works.filter(state=State.DONE).first()
    underway = works.filter(state__in=[State.WAITING, State.RUNNING]).first()
    lately = works.filter(state=State.DONE, finished_at__gt=at - COMPARED_AGAIN_AFTER)
    due = done is None or (done.key != key and not lately.exists())
    return ComparisonShown(
        compared=comparison_from_json(done.result) if done else None,
        work=underway or works.filter(key=key, state=State.FAILED).first(),
        due=due and underway is None,
        computed_at=done.finished_at if done else None,
    )


def bundle_ask(*, campaign: Campaign, spreadsheet: bool, at: datetime, by: User | None) -> CampaignWork:
    """Note that somebody wants the bundle. One of this state that is there or under way is the one that is wanted."""
    asked, state = {"spreadsheet": spreadsheet}, bundle_state(campaign)
    key = _key(Kind.BUNDLE, asked, state)
    useless = []
    for work in campaign.works.filter(kind=Kind.BUNDLE, asked=asked, state=State.DONE):
        if work.result["state"] == state and bundle_is_there(work):
            return work
        if work.key == key:  # asked for in this state, and made when it was another; or its file is gone
            useless.append(work.pk)
    _rows_remove(CampaignWork.objects.filter(pk__in=useless))
    return work_ask(campaign=campaign, kind=Kind.BUNDLE, asked=asked, wish=state, at=at, by=by)


def bundles_kept(campaign: Campaign) -> QuerySet[CampaignWork]:
    """The bundles of the campaign that were made and lie ready, the newest first."""
    return campaign.works.filter(kind=Kind.BUNDLE, state=State.DONE)


def bundles_withdraw(campaigns: QuerySet[Campaign]) -> None:
    """Remove the bundles of these campaigns, also those that are being made: they hold what nobody may have now."""
    _rows_remove(CampaignWork.objects.filter(kind=Kind.BUNDLE, campaign__in=campaigns))


def study_work(campaign: Campaign, mark: str) -> CampaignWork | None:
    """The study of the campaign that goes on, or the one of its present state that failed."""
    works = campaign.works.filter(kind=Kind.STUDY)
    underway = works.filter(state__in=[State.WAITING, State.RUNNING]).first()
    return underway or works.filter(key=_key(Kind.STUDY, {}, mark), state=State.FAILED).first()


def study_wanted(*, campaign: Campaign, mark: str, at: datetime, by: User) -> CampaignWork:
    """Note that somebody wants a study of the campaign's present state, of which there is none.

    One that was made when it was in this state before, as before somebody was excluded and came back, has been
    replaced by that of another state since.
    """
    _rows_remove(campaign.works.filter(kind=Kind.STUDY, key=_key(Kind.STUDY, {}, mark), state=State.DONE))
    return work_ask(campaign=campaign, kind=Kind.STUDY, asked={}, wish=mark, at=at, by=by)


def work_remove(*, work: CampaignWork) -> None:
    """Withdraw work that goes on, or dismiss work that failed. Nothing of it is stored; what is done stays."""
    _rows_remove(CampaignWork.objects.filter(pk=work.pk).exclude(state=State.DONE))


def work_do_here(*, work: CampaignWork) -> None:
    """Do small work in the request that asked for it. Raises UserError where it fails, and forgets the work then."""
    work_carry_out(work_pk=work.pk, beats=False)
    failed = CampaignWork.objects.filter(pk=work.pk, state=State.FAILED).first()
    if failed is not None:
        _rows_remove(CampaignWork.objects.filter(pk=failed.pk))
        raise UserError(failed.message)


def work_carry_out(*, work_pk: int, beats: bool = True) -> bool:
    """Do the work, if it is still to be had, to one of its ends; whether it came to a good one.

    beats: whether heartbeats are sent, for which small work in a request is too short.
    """
    hold = job_claim(
        works_free(database_now()).filter(pk=work_pk),
        at=database_now(),
        gave_up=_(
            "%(number)s workers stopped responding during this work, usually because of too little memory; give the "
            "worker more memory."
        ),
    )
    broke = _("An unexpected error stopped it; the log describes it. Ask for it again.")
    return hold is not None and job_do(hold, _do, broke=broke, fails=_failed, beats=beats)


def _failed(hold: Hold[CampaignWork], sentence: str) -> None:
    hold.rows.update(state=State.FAILED, message=sentence, finished_at=database_now())


def _do(hold: Hold[CampaignWork]) -> None:
    work = hold.job
    deed, is_good = DEEDS[work.kind], False
    try:
        store = deed.compute(work)
        with atomic():
            result = store()
            hold.end(result=result, message="", finished_at=database_now())
        is_good = True
    finally:
        if not is_good and deed.forget is not None:
            deed.forget(work)


def _publish(work: CampaignWork) -> Store:
    campaign = work.campaign
    scored = publications_of(campaign=campaign, **work.asked)

    def store() -> dict[str, Any]:
        made = publications_store(campaign=campaign, publications=scored, by=work.asked_by)
        return {"score_sets": [score_set.pk for score_set in made]}

    return store


def _nothing_required(_campaign: Campaign, _asked: Mapping[str, Any]) -> None:
    """Whoever reads the campaign may have it computed."""


def _methods_are_quick(campaign: Campaign, _asked: Mapping[str, Any]) -> bool:
    return comparison_is_quick(_arm(campaign))


def _arm(campaign: Campaign) -> SliderArm:
    arm = SliderArm.objects.filter(campaign=campaign).select_related("campaign__dataset").first()
    if arm is None:
        raise UserError(_("The rating-scale condition of “%(name)s” was removed."), name=campaign.name)
    return arm


def _methods(work: CampaignWork) -> Store:
    compared = comparison_compute(_arm(work.campaign), standardised=work.asked["standardised"])
    return lambda: comparison_as_json(compared)


def _never_quick(_campaign: Campaign, _asked: Mapping[str, Any]) -> bool:
    """A page that may study a campaign does so itself, without being asked (`study_is_quick`)."""
    return False


def _study(work: CampaignWork) -> Store:
    computed = study_compute(work.campaign)

    def store() -> dict[str, Any]:
        study_store(campaign=work.campaign, computed=computed, at=database_now())
        return {}

    return store


def _bundle(work: CampaignWork) -> Store:
    kept = bundle_keep(work)

    def store() -> dict[str, Any]:
        older = bundles_kept(work.campaign).filter(asked=work.asked, pk__lt=work.pk)
        _rows_remove(older)
        return kept

    return store


DEEDS: dict[str, _Deed] = {
    Kind.PUBLISH.value: _Deed(publication_require, publication_is_quick, _publish),
    Kind.STUDY.value: _Deed(_nothing_required, _never_quick, _study),
    Kind.METHODS.value: _Deed(_nothing_required, _methods_are_quick, _methods),
    Kind.BUNDLE.value: _Deed(bundle_require, bundle_is_quick, _bundle, bundle_forget),
}
