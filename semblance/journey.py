"""The way of a dataset from a file to scores that are used, and where it stands: the strip at the head of its pages."""

from collections.abc import Set
from dataclasses import dataclass
from enum import StrEnum

from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import Campaign
from curation.models import Dataset, ScoreSet


class Step(StrEnum):
    IMPORT = "import"
    CAMPAIGN = "campaign"
    JUDGE = "judge"
    PUBLISH = "publish"
    EXPORT = "export"


@dataclass(frozen=True)
class Standing:
    """What decides about the step. campaign: the state of the newest one, or nothing."""

    pairs: int
    campaign: str
    published: bool  # scores of the newest campaign
    scored: bool  # scores of people, from a campaign or from a file
    kept: bool  # in a snapshot


def step_of(standing: Standing) -> Step:
    """The step that the dataset is at. Scores from a file need no campaign; a newer campaign begins the way anew."""
    if not standing.pairs:
        return Step.IMPORT
    if standing.published:
        return Step.EXPORT
    match standing.campaign:
        case Campaign.State.CLOSED:
            return Step.PUBLISH
        case Campaign.State.OPEN | Campaign.State.PAUSED:
            return Step.JUDGE
        case Campaign.State.DRAFT:
            return Step.CAMPAIGN
    return Step.EXPORT if standing.scored else Step.CAMPAIGN


@dataclass(frozen=True)
class Stage:
    """A step on the page. action: what the button beside the current one says; empty where the person may not."""

    label: str
    address: str
    here: bool
    action: str = ""


def stages_of(dataset: Dataset, *, pairs: int, rights: Set[str]) -> list[Stage]:
    """The steps in order. pairs: how many the dataset has. rights: what the person may do with it."""
    newest = Campaign.objects.filter(dataset=dataset).order_by("-pk").values_list("pk", "state").first()
    number, state = newest or (None, "")
    of_people = [ScoreSet.Kind.HUMAN, ScoreSet.Kind.REFERENCE]
    campaigns = list(
        ScoreSet.objects.filter(dataset=dataset, kind__in=of_people).values_list("campaign_ref", flat=True)
    )
    standing = Standing(
        pairs=pairs,
        campaign=state,
        published=number is not None and number in campaigns,
        scored=bool(campaigns),
        kept=dataset.snapshots.exists(),
    )
    here = step_of(standing)
    return [
        Stage(label, address, here=step == here, action=action if step == here and right in rights else "")
        for step, label, address, action, right in _steps(dataset, standing, number)
    ]


def _steps(
    dataset: Dataset, standing: Standing, campaign: int | None
) -> list[tuple[Step, str, str, str, str]]:
    """Step, label, address, what its button says, and the right that the button needs."""
    begin = f"{reverse('annotation:campaign_new')}?dataset={dataset.slug}"
    run = reverse("annotation:campaign", args=[campaign]) if campaign else begin
    publish = reverse("annotation:publish", args=[campaign]) if campaign else begin
    draft = standing.campaign == Campaign.State.DRAFT
    export = _("Export or publish") if standing.kept else _("Keep a snapshot and export")
    return [
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
        (Step.JUDGE, _("Judge"), run, _("See how judging goes"), "curate"),
        (Step.PUBLISH, _("Publish"), publish, _("Publish the scores"), "curate"),
        (Step.EXPORT, _("Export"), reverse("curation:export", args=[dataset.slug]), export, "read"),
    ]
