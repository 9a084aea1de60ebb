"""A campaign's crowd for programs: its settings, its link, and the hours to pay by."""

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import campaign_for
from annotation.crowds.entering import consent_newest
from annotation.crowds.selectors import hours_of, outcomes_of
from annotation.crowds.services import crowd_change, crowd_of
from annotation.models import Campaign
from annotation.serializers import CrowdSerializer, CrowdShownSerializer, HoursSerializer


class CrowdDetail(APIView):
    @extend_schema(responses=CrowdShownSerializer)
    def get(self, request: Request, campaign_pk: int) -> Response:
        """How a crowd enters the campaign and leaves it, and how many people came to which end."""
        return Response(_crowd(campaign_for(request.user, campaign_pk, may="oversee")))  # type: ignore[arg-type]

    @extend_schema(request=CrowdSerializer(partial=True), responses=CrowdShownSerializer)
    def patch(self, request: Request, campaign_pk: int) -> Response:
        """Change what is named; the first time, what is not named gets Prolific's names and drawn codes."""
        campaign = campaign_for(request.user, campaign_pk, may="curate")  # type: ignore[arg-type]
        crowd = crowd_of(campaign)
        asked = CrowdSerializer(data=request.data, partial=True)
        asked.is_valid(raise_exception=True)
        settings = dict(asked.validated_data)
        newest = consent_newest(crowd) if crowd.pk else None
        consent = settings.pop("consent", newest.text if newest else "")
        crowd_change(campaign=campaign, by=request.user, consent=consent, **settings)  # type: ignore[arg-type]
        return Response(_crowd(campaign))


def _crowd(campaign: Campaign) -> dict[str, Any]:
    crowd = crowd_of(campaign)
    consent = consent_newest(crowd) if crowd.pk else None
    settings = {name: getattr(crowd, name) for name in CrowdSerializer.Meta.fields if name != "consent"}
    return {
        "settings": settings | {"consent": consent.text if consent else ""},
        "consent_version": consent.version if consent else None,
        "entry": reverse("annotation:crowd_entry", args=[crowd.token]) if crowd.pk else "",
        "outcomes": {name or "underway": n for name, n in outcomes_of(crowd)} if crowd.pk else {},
    }


class CrowdHours(APIView):
    @extend_schema(responses=HoursSerializer(many=True))
    def get(self, request: Request, campaign_pk: int) -> Response:
        """The hours of each annotator, to pay by. Exclusion does not change them."""
        campaign = campaign_for(request.user, campaign_pk, may="oversee")  # type: ignore[arg-type]
        return Response(HoursSerializer(list(hours_of(campaign.participations.all())), many=True).data)
