"""The stage of a campaign: which step comes next. Its page, the head of its dataset's pages and the API ask here."""

from enum import StrEnum
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet

from annotation.models import Campaign, Judgement, Tuple
from curation.models import ScoreSet

# What `stage_of_row` reads of a row.
STAGE_FACTS = ("state", "stage_incomplete", "stage_judged", "stage_published")


class Stage(StrEnum):
    """open: a draft. judge: judgements are missing. publish: nothing is published yet. export: scores are published."""

    OPEN = "open"
    JUDGE = "judge"
    PUBLISH = "publish"
    EXPORT = "export"


def stage_of(*, state: str, complete: bool, judged: bool, published: bool) -> Stage:
    """complete: all required judgements are collected. judged: some are. published: the campaign has score sets.

    What was published before the end does not end the judging.
    """
    if state == Campaign.State.DRAFT:
        return Stage.OPEN
    if complete or state == Campaign.State.CLOSED:
        if published:
            return Stage.EXPORT
        if judged:
            return Stage.PUBLISH
    return Stage.JUDGE


def with_stage_facts(campaigns: QuerySet[Campaign]) -> QuerySet[Campaign]:
    """Campaigns with what `stage_of_row` reads, from indexes alone."""
    tuples = Tuple.objects.filter(campaign=OuterRef("pk"))
    judged = Judgement.objects.filter(
        participation__campaign=OuterRef("pk"), status=Judgement.Status.COLLECTED
    )
    return campaigns.annotate(
        stage_incomplete=Exists(tuples.filter(collected__lt=F("required"))),
        stage_judged=Exists(judged),
        stage_published=Exists(
            ScoreSet.objects.offered().filter(dataset=OuterRef("dataset"), campaign_ref=OuterRef("pk"))
        ),
    )


def stage_of_row(campaign: Any) -> Stage:
    """The stage of a campaign from `with_stage_facts`, or of a row with its `STAGE_FACTS`; of any other campaign, which
    takes one query.
    """
    row = campaign
    if not hasattr(row, "stage_judged"):
        row = with_stage_facts(Campaign.objects.filter(pk=campaign.pk)).get()
    return stage_of(
        state=row.state,
        complete=row.stage_judged and not row.stage_incomplete,
        judged=row.stage_judged,
        published=row.stage_published,
    )
