"""Campaigns for programs: /api/v1/campaigns/. Whoever reads the dataset reads them; its members claim and judge."""

from typing import Any

from django.db.models import QuerySet
from django.urls import path, reverse
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import campaign_for, lease_for
from annotation.cards import cards_of
from annotation.crowds.entering import consent_newest
from annotation.crowds.selectors import hours_of, outcomes_of
from annotation.crowds.services import crowd_change, crowd_of
from annotation.judging.assignment import Submission, answer_submit, participation_join, tuple_claim
from annotation.judging.choosing import NoTupleReason
from annotation.models import Campaign, Lease, Participation
from annotation.results.dashboard import campaign_dashboard
from annotation.serializers import (
    AnswerSerializer,
    CampaignSerializer,
    ClaimSerializer,
    CrowdSerializer,
    CrowdShownSerializer,
    HoursSerializer,
    ProgressSerializer,
    SubmittedSerializer,
)
from curation.access import datasets_readable


class CampaignList(ListAPIView[Campaign]):
    """The campaigns of the datasets that you may read, newest first."""

    serializer_class = CampaignSerializer

    def get_queryset(self) -> QuerySet[Campaign]:
        readable = datasets_readable(self.request.user)  # type: ignore[arg-type]
        return Campaign.objects.filter(dataset__in=readable).select_related("dataset").order_by("-pk")

    def rows_after(self, campaigns: QuerySet[Campaign], number: int) -> QuerySet[Campaign]:
        return campaigns.filter(pk__lt=number)


class CampaignDetail(RetrieveAPIView[Campaign]):
    """One campaign: its question, its design and its certificate."""

    serializer_class = CampaignSerializer

    def get_object(self) -> Campaign:
        return campaign_for(self.request.user, self.kwargs["campaign_pk"], may="read")  # type: ignore[arg-type]


class CampaignProgress(APIView):
    @extend_schema(responses=ProgressSerializer)
    def get(self, request: Request, campaign_pk: int) -> Response:
        """How far the campaign is, and how reliable its scores are by now."""
        campaign = campaign_for(request.user, campaign_pk, may="read")  # type: ignore[arg-type]
        return Response(ProgressSerializer(campaign_dashboard(campaign, at=now())).data)


class CrowdDetail(APIView):
    @extend_schema(responses=CrowdShownSerializer)
    def get(self, request: Request, campaign_pk: int) -> Response:
        """How a crowd enters the campaign and leaves it, its entry link, and how many people came to which end."""
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
        """The hours of everybody who judged, to pay by. Exclusion is no part of it."""
        campaign = campaign_for(request.user, campaign_pk, may="oversee")  # type: ignore[arg-type]
        return Response(HoursSerializer(list(hours_of(campaign.participations.all())), many=True).data)


class TupleClaim(APIView):
    @extend_schema(request=None, responses=ClaimSerializer)
    def post(self, request: Request, campaign_pk: int) -> Response:
        """The tuple for you to judge; the same one until you have judged it."""
        claimed = tuple_claim(participation=_participation(request, campaign_pk), at=now())
        return Response(ClaimSerializer(_claim(claimed)).data)


def _claim(claimed: Lease | NoTupleReason) -> dict[str, Any]:
    if isinstance(claimed, NoTupleReason):
        nothing = {"nothing": claimed.value, "sentence": str(claimed.label)}
        return {"lease": None, "expires_at": None, "pairs": [], **nothing}
    about = {"lease": claimed.pk, "expires_at": claimed.expires_at, "pairs": cards_of([claimed])[claimed.pk]}
    return {**about, "nothing": "", "sentence": ""}


class JudgementCreate(APIView):
    @extend_schema(request=AnswerSerializer, responses=SubmittedSerializer)
    def post(self, request: Request, campaign_pk: int) -> Response:
        """Keep a judgement. The same client_id again answers the same, and changes nothing.

        With `claim` the answer brings the next tuple, as a claim of its own would.
        """
        asked = AnswerSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        answer = asked.validated_data
        lease = lease_for(request.user, campaign_pk, answer.pop("lease"))  # type: ignore[arg-type]
        submitted = answer_submit(lease=lease, at=now(), **answer)
        return Response(SubmittedSerializer(_submitted(submitted)).data)


def _submitted(submitted: Submission) -> dict[str, Any]:
    judgement, gold = submitted.judgement, submitted.gold
    position = judgement.order_shown.index
    return {
        "client_id": judgement.client_id,
        "submitted_at": judgement.submitted_at,
        "repeated": submitted.repeated,
        "stopped": submitted.stopped,
        "gold": gold
        and {
            "best_right": gold.best_right,
            "worst_right": gold.worst_right,
            "best": position(gold.best_slot),
            "worst": position(gold.worst_slot),
            "why": gold.why,
        },
        "next": None if submitted.following is None else _claim(submitted.following),
    }


def _participation(request: Request, campaign_pk: int) -> Participation:
    user: Any = request.user
    return participation_join(campaign=campaign_for(user, campaign_pk, may="annotate"), user=user)


urlpatterns = [
    path("campaigns/", CampaignList.as_view(), name="api_campaigns"),
    path("campaigns/<number:campaign_pk>/", CampaignDetail.as_view(), name="api_campaign"),
    path(
        "campaigns/<number:campaign_pk>/progress/", CampaignProgress.as_view(), name="api_campaign_progress"
    ),
    path("campaigns/<number:campaign_pk>/crowd/", CrowdDetail.as_view(), name="api_crowd"),
    path("campaigns/<number:campaign_pk>/crowd/hours/", CrowdHours.as_view(), name="api_crowd_hours"),
    path("campaigns/<number:campaign_pk>/claim/", TupleClaim.as_view(), name="api_claim"),
    path("campaigns/<number:campaign_pk>/judgements/", JudgementCreate.as_view(), name="api_judgements"),
]
