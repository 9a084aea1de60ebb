"""The way of a dataset from a file to scores that are used, and where it stands: the strip at the head of its pages."""

from collections.abc import Set
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Exists, OuterRef, Subquery
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import Campaign
from curation.models import Dataset, ScoreSet, Snapshot


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
    number, state, published, scored, kept = _facts(dataset)
    standing = Standing(pairs=pairs, campaign=state, published=published, scored=scored, kept=kept)
    here = step_of(standing)
    return [
        Stage(label, address, here=step == here, action=action if step == here and right in rights else "")
        for step, label, address, action, right in _steps(dataset, standing, number)
    ]


def _facts(dataset: Dataset) -> tuple[int | None, str, bool, bool, bool]:
    """The newest campaign's number and state, whether its scores are published, whether people gave any scores, and
    whether there is a snapshot: one query, for every page of the dataset.
    """
    newest = Campaign.objects.filter(dataset=OuterRef("pk")).order_by("-pk")
    of_people = ScoreSet.objects.filter(
        dataset=OuterRef("pk"), kind__in=[ScoreSet.Kind.HUMAN, ScoreSet.Kind.REFERENCE]
    )
    found = (
        Dataset.objects.filter(pk=dataset.pk)
        .annotate(newest=Subquery(newest.values("pk")[:1]), state=Subquery(newest.values("state")[:1]))
        .annotate(
            published=Exists(of_people.filter(campaign_ref=OuterRef("newest"))),
            scored=Exists(of_people),
            kept=Exists(Snapshot.objects.filter(dataset=OuterRef("pk"))),
        )
        .values_list("newest", "state", "published", "scored", "kept")
        .get()
    )
    number, state, published, scored, kept = found
    return number, state or "", published, scored, kept


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
