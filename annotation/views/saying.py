"""What was done with a campaign, said with a link to the campaign."""

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import Campaign
from curation.views.said import success_say


def campaign_say(request: HttpRequest, campaign: Campaign, sentence: str, *, then: str = "") -> None:
    """then: what comes next, as the words of the link; “See the campaign” without it."""
    address = reverse("annotation:campaign", args=[campaign.pk])
    success_say(request, sentence, then=then or _("See the campaign"), address=address)
