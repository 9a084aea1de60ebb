"""Who may do what with a campaign. The only way a view gets one."""

from django.http import Http404

from annotation.models import Campaign, CrowdPerson, Lease, Participation
from curation.access import dataset_allow, dataset_may
from curation.models import User


def campaign_for(user: User, pk: int, *, may: str) -> Campaign:
    """The campaign, if `user` may do that with its dataset.

    A stranger gets 404, a member who may not gets 403. A draft does not exist for annotators.
    """
    campaign = Campaign.objects.select_related("dataset").filter(pk=pk).first()
    if campaign is None:
        raise Http404
    campaign_allow(user, campaign, may=may)
    return campaign


def campaign_allow(user: User, campaign: Campaign, *, may: str) -> None:
    """Raise what `campaign_for` raises, for a campaign at hand."""
    try:
        dataset_allow(user, campaign.dataset, may=may)
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
    its campaign.
    """
    own = Lease.objects.filter(pk=lease_pk, participation__user=user, participation__campaign=campaign_pk)
    lease = own.select_related("participation__campaign__dataset").first()
    if lease is None:
        campaign_for(user, campaign_pk, may="annotate")
        raise Http404
    campaign_allow(user, lease.participation.campaign, may="annotate")
    return lease


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
