"""The way of a dataset from a file to scores that are used, and where it stands: the strip at the head of its pages."""

from collections.abc import Set
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Exists, OuterRef, Subquery
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import Campaign
from annotation.results.stages import STAGE_FACTS, Stage, stage_of_row, with_stage_facts
from curation.models import Dataset, ScoreSet, Snapshot


class Step(StrEnum):
    IMPORT = "import"
    CAMPAIGN = "campaign"
    JUDGE = "judge"
    PUBLISH = "publish"
    EXPORT = "export"


@dataclass(frozen=True)
class Standing:
    """What decides about the step. stage: of the campaign, None where there is none."""

    pairs: int
    stage: Stage | None
    scored: bool  # scores of people that the site computed; reference scores of a file are not
    kept: bool  # in a snapshot


STEPS = {
    Stage.OPEN: Step.CAMPAIGN,
    Stage.JUDGE: Step.JUDGE,
    Stage.PUBLISH: Step.PUBLISH,
    Stage.EXPORT: Step.EXPORT,
}


def step_of(standing: Standing) -> Step:
    """The step that the dataset is at. One with scores of people needs no campaign."""
    if not standing.pairs:
        return Step.IMPORT
    if standing.stage is not None:
        return STEPS[standing.stage]
    return Step.EXPORT if standing.scored else Step.CAMPAIGN


@dataclass(frozen=True)
class StepShown:
    """A step on the page. action: what the button beside the current one says; empty where the person may not."""

    label: str
    address: str
    here: bool
    action: str = ""


def steps_shown(
    dataset: Dataset, *, pairs: int, rights: Set[str], campaign: Campaign | None = None
) -> list[StepShown]:
    """The steps in order. pairs: how many the dataset has. rights: what the person may do with it. One query.

    campaign: the one that the page is about; else it is the newest that is not archived.
    """
    standing, newest = standing_of(dataset, pairs=pairs, campaign=campaign)
    here = step_of(standing)
    # Step, label, address, what its button says, and the right that the button needs.
    begin = f"{reverse('annotation:campaign_new')}?dataset={dataset.slug}"
    run = reverse("annotation:campaign", args=[newest]) if newest else begin
    publish = reverse("annotation:publish", args=[newest]) if newest else begin
    draft = standing.stage is Stage.OPEN
    export = _("Export or publish") if standing.kept else _("Keep a snapshot and export")
    steps = [
        (
            Step.IMPORT,
            _("Import"),
            reverse("curation:import", args=[dataset.slug]),
            _("Import pairs"),
            "curate",
        ),
        (
            Step.CAMPAIGN,
            _("Campaign"),
            run,
            _("Open the campaign") if draft else _("Plan a campaign"),
            "curate",
        ),
        (Step.JUDGE, _("Annotate"), run, _("See how the annotation goes"), "curate"),
        (Step.PUBLISH, _("Publish"), publish, _("Publish the scores"), "curate"),
        (Step.EXPORT, _("Export"), reverse("curation:export", args=[dataset.slug]), export, "read"),
    ]
    return [
        StepShown(
            label, address, here=step == here, action=action if step == here and right in rights else ""
        )
        for step, label, address, action, right in steps
    ]


def standing_of(
    dataset: Dataset, *, pairs: int, campaign: Campaign | None = None
) -> tuple[Standing, int | None]:
    """Where the dataset stands, and the number of the campaign that it stands in, if there is one.

    One query, for every page of the dataset.
    """
    campaigns = with_stage_facts(Campaign.objects.filter(dataset=OuterRef("pk")))
    newest = campaigns.filter(pk=campaign.pk) if campaign else campaigns.filter(archived=False)
    newest = newest.order_by("-pk")
    of_people = ScoreSet.objects.offered().filter(dataset=OuterRef("pk"), kind=ScoreSet.Kind.HUMAN)
    found: Any = Dataset.objects.filter(pk=dataset.pk).only("pk")
    row = found.annotate(
        newest=Subquery(newest.values("pk")[:1]),
        **{fact: Subquery(newest.values(fact)[:1]) for fact in STAGE_FACTS},
        scored=Exists(of_people),
        kept=Exists(Snapshot.objects.filter(dataset=OuterRef("pk"))),
    ).get()
    stage = None if row.newest is None else stage_of_row(row)
    return Standing(pairs=pairs, stage=stage, scored=row.scored, kept=row.kept), row.newest
