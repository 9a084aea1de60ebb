"""Who may do what with a campaign. The only way a view gets one."""

from typing import Any, cast

from django.db.models import OuterRef, QuerySet
from django.http import Http404

from annotation.models import Campaign, CampaignWork, CrowdPerson, Lease, Participation
from curation.foundation.statements import built_once
from curation.models import User
from curation.people.access import dataset_allow, dataset_may, role_in


def campaign_for(user: User, pk: int, *, may: str) -> Campaign:
    """The campaign, if `user` may do that with its dataset.

    A stranger gets 404, a member who may not gets 403. A draft does not exist for annotators.
    """
    campaign = Campaign.objects.select_related("dataset").filter(pk=pk).first()
    if campaign is None:
        raise Http404
    campaign_allow(user, campaign, may=may)
    return campaign


def campaign_allow(user: User, campaign: Campaign, *, may: str, role: str | None = None) -> None:
    """Raise what `campaign_for` raises, for a campaign at hand. role: as `dataset_allow` takes it."""
    try:
        dataset_allow(user, campaign.dataset, may=may, role=role)
    except Http404:
        # Who came by a crowd's link belongs to no dataset, and judges in this campaign alone.
        if may != "annotate" or not crowd_has(user, campaign):
            raise
    draft = campaign.state == Campaign.State.DRAFT
    if draft and not dataset_may(user, campaign.dataset, may="read"):
        raise Http404


def crowd_has(user: User, campaign: Campaign) -> bool:
    """Whether the person came to the campaign by its crowd's link."""
    return CrowdPerson.objects.filter(participation__user=user, participation__campaign=campaign).exists()


def takes_part(user: User) -> bool:
    """Whether the person came to any campaign, as a member or by a crowd's link."""
    return Participation.objects.filter(user=user).exists()


def lease_for(user: User, campaign_pk: int, lease_pk: int) -> Lease:
    """The person's own lease of a tuple of the campaign, while they may annotate. One query finds it, its person and
    its campaign, and their role in its dataset.
    """
    lease: Any = _lease_with_role.first(lease_pk, user.pk, campaign_pk)
    if lease is None:
        campaign_for(user, campaign_pk, may="annotate")
        raise Http404
    campaign_allow(user, lease.participation.campaign, may="annotate", role=lease.role)
    return cast("Lease", lease)


@built_once
def _lease_with_role(lease: int, user: int, campaign: int) -> QuerySet[Lease]:
    own = Lease.objects.filter(pk=lease, participation__user=user, participation__campaign=campaign)
    with_role = own.annotate(role=role_in(user, OuterRef("participation__campaign__dataset")))
    return with_role.select_related("participation__campaign__dataset").only(
        "order_shown", "tuple", "participation__campaign__state", "participation__campaign__dataset__archived"
    )


def participation_for(user: User, campaign_pk: int) -> Participation | None:
    """The person's own row in the campaign, while they may annotate, with campaign and dataset; None before they join.

    One query finds it and their role. Raises what `campaign_for` raises.
    """
    person: Any = _participation_with_role.first(user.pk, campaign_pk)
    if person is None:
        return None
    campaign_allow(user, person.campaign, may="annotate", role=person.role)
    return cast("Participation", person)


@built_once
def _participation_with_role(user: int, campaign: int) -> QuerySet[Participation]:
    own = Participation.objects.filter(user=user, campaign=campaign).select_related("campaign__dataset")
    return own.annotate(role=role_in(user, OuterRef("campaign__dataset")))


def work_for(user: User, campaign_pk: int, work_pk: int, *, may: str) -> CampaignWork:
    """What was asked of the campaign's judgements, if `user` may do that with its dataset."""
    campaign = campaign_for(user, campaign_pk, may=may)
    work = campaign.works.filter(pk=work_pk).first()
    if work is None:
        raise Http404
    work.campaign = campaign
    return work


def work_to_end_for(user: User, campaign_pk: int, work_pk: int) -> CampaignWork:
    """The work, to withdraw or dismiss it: people may do that if they may ask for such work."""
    work = work_for(user, campaign_pk, work_pk, may="oversee")
    campaign_allow(user, work.campaign, may=_may_end(work))
    return work


def work_may_end(user: User, work: CampaignWork) -> bool:
    """Whether to offer the button; the view behind it asks `work_to_end_for`."""
    return dataset_may(user, work.campaign.dataset, may=_may_end(work))


def _may_end(work: CampaignWork) -> str:
    """A bundle changes nothing of the campaign, and is made of an archived dataset too."""
    return "oversee" if work.kind == CampaignWork.Kind.BUNDLE else "curate"


def rater_for(user: User, campaign_pk: int) -> Participation:
    """The person's own row in the campaign, where they rate in its slider arm; for all others there is no such page."""
    campaign = campaign_for(user, campaign_pk, may="annotate")
    own = Participation.objects.filter(campaign=campaign, user=user, rates=True)
    person = own.select_related("campaign__dataset", "campaign__slider_arm").first()
    if person is None:
        raise Http404
    return person


def campaign_may(user: User, campaign: Campaign, *, may: str) -> bool:
    """Whether to offer a button; the view behind it asks `campaign_for` again."""
    return dataset_may(user, campaign.dataset, may=may)
