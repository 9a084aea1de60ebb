"""Campaigns for programs: made, moved through their states, copied, read, published and taken away."""

from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse
from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from annotation.access import campaign_for, work_for, work_to_end_for
from annotation.campaigns.cloning import campaign_clone
from annotation.campaigns.cost import campaign_proposed
from annotation.campaigns.selectors import design_work_of
from annotation.campaigns.services import campaign_create
from annotation.forms.campaigns import CampaignForm
from annotation.forms.publishing import PublishForm
from annotation.models import Campaign, CampaignDesign, CampaignWork, Tuple
from annotation.results.dashboard import campaign_dashboard
from annotation.results.norming import sessions_of
from annotation.results.selectors import score_sets_of
from annotation.results.stages import with_stage_facts
from annotation.results.works import score_sets_made, work_remove
from annotation.serializers import (
    BundleChoicesSerializer,
    CampaignSerializer,
    CopySerializer,
    DatasetSerializer,
    DesignSerializer,
    GuidelineSerializer,
    NormingSerializer,
    ProgressSerializer,
    ResultSerializer,
    TupleSerializer,
    WorkSerializer,
)
from annotation.tasks import bundle_now_or_later, publish_now_or_later
from annotation.views.campaigns import MOVES
from annotation.views.publishing import bundle_answer, bundle_kept_answer
from curation.people.access import dataset_for, datasets_readable
from curation.views.api.base import FilesOnly
from curation.views.api.bodies import body_of, form_filled

DraftSerializer = body_of(
    CampaignForm, "CampaignDraft", dataset=serializers.CharField(help_text="The dataset's short name.")
)
ResultsSerializer = body_of(PublishForm, "PublishChoices")
MoveSerializer = type(
    "CampaignMoveSerializer",
    (serializers.Serializer,),
    {"move": serializers.ChoiceField(choices=list(MOVES)), "__doc__": ""},
)


class CampaignList(ListAPIView[Campaign]):
    """The campaigns of the datasets that you may read, newest first."""

    serializer_class = CampaignSerializer

    def get_queryset(self) -> QuerySet[Campaign]:
        readable = datasets_readable(self.request.user)  # type: ignore[arg-type]
        campaigns = Campaign.objects.filter(dataset__in=readable).select_related("dataset")
        return with_stage_facts(campaigns).order_by("-pk")

    def rows_after(self, campaigns: QuerySet[Campaign], number: int) -> QuerySet[Campaign]:
        return campaigns.filter(pk__lt=number)

    @extend_schema(request=DraftSerializer, responses={201: CampaignSerializer})
    def post(self, request: Request) -> Response:
        """Make a draft, with the fields of the page's form. What is left out gets the value that the page proposes."""
        sent: Any = request.data
        asked = DatasetSerializer(data=sent)
        asked.is_valid(raise_exception=True)
        user: Any = request.user
        dataset = dataset_for(user, asked.validated_data["dataset"], may="curate")
        proposed = campaign_proposed(dataset)
        form = form_filled(sent, partial(CampaignForm, dataset, instance=proposed), also={"dataset"})
        campaign = campaign_create(dataset=dataset, by=user, **form.cleaned_data)
        return Response(CampaignSerializer(campaign).data, status=201)


class CampaignDetail(RetrieveAPIView[Campaign]):
    """One campaign: its question, its design and its certificate."""

    serializer_class = CampaignSerializer

    def get_object(self) -> Campaign:
        return campaign_for(self.request.user, self.kwargs["campaign_pk"], may="read")  # type: ignore[arg-type]


class CampaignProgress(APIView):
    @extend_schema(responses=ProgressSerializer)
    def get(self, request: Request, campaign_pk: int) -> Response:
        """Progress of the campaign, and reliability of its scores."""
        campaign = campaign_for(request.user, campaign_pk, may="read")  # type: ignore[arg-type]
        return Response(ProgressSerializer(campaign_dashboard(campaign, at=now())).data)


class CampaignMove(APIView):
    @extend_schema(request=MoveSerializer, responses={200: CampaignSerializer, 202: CampaignSerializer})
    def post(self, request: Request, campaign_pk: int) -> Response:
        """Open, pause, resume, close, archive or restore a campaign.

        Where a design takes longer than a request may, a worker makes it, and the campaign is a draft until then: the
        status is 202, and the header `Location` has the address that says how far it is.
        """
        asked = MoveSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        user: Any = request.user
        campaign = campaign_for(user, campaign_pk, may="curate")
        MOVES[asked.validated_data["move"]](campaign=campaign, by=user)
        campaign.refresh_from_db()
        shown = CampaignSerializer(campaign).data
        work = design_work_of(campaign)
        if work is None or not work.is_underway:
            return Response(shown)
        address = reverse("api_design", args=[campaign.pk], request=request)
        return Response(shown, status=202, headers={"Location": address})


class Design(APIView):
    @extend_schema(responses=DesignSerializer)
    def get(self, request: Request, campaign_pk: int) -> Response:
        """Progress of a design that takes longer than a request."""
        campaign = campaign_for(request.user, campaign_pk, may="read")  # type: ignore[arg-type]
        work = design_work_of(campaign)
        asked = work if work is not None and work.is_long else CampaignDesign(state="")
        return Response(DesignSerializer(asked).data)


class CampaignCopy(APIView):
    @extend_schema(request=CopySerializer, responses={201: CampaignSerializer})
    def post(self, request: Request, campaign_pk: int) -> Response:
        """A new draft with the settings, guidelines and attention checks of a campaign."""
        asked = CopySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        user: Any = request.user
        campaign = campaign_for(user, campaign_pk, may="curate")
        clone = campaign_clone(campaign=campaign, by=user, **asked.validated_data)
        return Response(CampaignSerializer(clone).data, status=201)


class Guidelines(APIView):
    judging = ("GET",)

    @extend_schema(responses=GuidelineSerializer(many=True))
    def get(self, request: Request, campaign_pk: int) -> Response:
        """The guidelines with their worked examples, the newest version first. Annotators read the newest one."""
        user: Any = request.user
        campaign = campaign_for(user, campaign_pk, may="annotate")
        return Response(GuidelineSerializer(campaign.guidelines.all(), many=True).data)


class Norming(APIView):
    @extend_schema(responses=NormingSerializer(many=True))
    def get(self, request: Request, campaign_pk: int) -> Response:
        """The calibration sessions, newest first, with agreement before and after the discussion."""
        user: Any = request.user
        campaign = campaign_for(user, campaign_pk, may="read")
        return Response(NormingSerializer(sessions_of(campaign), many=True).data)


class TupleList(ListAPIView[Tuple]):
    """The tuples in the order of the design, without attention checks and repeated questions."""

    serializer_class = TupleSerializer

    def get_queryset(self) -> QuerySet[Tuple]:
        campaign = campaign_for(self.request.user, self.kwargs["campaign_pk"], may="read")  # type: ignore[arg-type]
        return campaign.tuples.for_scores().prefetch_related("items__pair").order_by("pk")

    def rows_after(self, tuples: QuerySet[Tuple], number: int) -> QuerySet[Tuple]:
        return tuples.filter(pk__gt=number)


class CampaignResults(APIView):
    @extend_schema(responses=ResultSerializer(many=True))
    def get(self, request: Request, campaign_pk: int) -> Response:
        """The score sets that were published from the campaign. The API of its dataset has their scores."""
        campaign = campaign_for(request.user, campaign_pk, may="read")  # type: ignore[arg-type]
        return Response(ResultSerializer(score_sets_of(campaign), many=True).data)

    @extend_schema(
        request=ResultsSerializer, responses={201: ResultSerializer(many=True), 202: WorkSerializer}
    )
    def post(self, request: Request, campaign_pk: int) -> Response:
        """Publish scores of the judgements that count, with the choices of the page.

        Where that takes over a second, a worker does it: the status is 202, and the header `Location` has the address
        that says how far it is and, once it is done, what was published.
        """
        user: Any = request.user
        campaign = campaign_for(user, campaign_pk, may="curate")
        form = form_filled(request.data, partial(PublishForm, campaign=campaign))
        asked = dict(form.cleaned_data)
        work = publish_now_or_later(campaign=campaign, asked=asked, client_id=asked.pop("client_id"), by=user)
        if work.state == CampaignWork.State.DONE:
            return Response(ResultSerializer(score_sets_made(work), many=True).data, status=201)
        return _later(request, work)


def _later(request: Request, work: CampaignWork) -> Response:
    address = reverse("api_campaign_work", args=[work.campaign_id, work.pk], request=request)
    return Response(_shown(request, work), status=202, headers={"Location": address})


def _shown(request: Request, work: CampaignWork) -> Any:
    return WorkSerializer(work, context={"request": request}).data


class CampaignWorkDetail(APIView):
    @extend_schema(responses=WorkSerializer)
    def get(self, request: Request, campaign_pk: int, work_pk: int) -> Response:
        """Progress of a computation on a campaign's judgements, and what it published."""
        user: Any = request.user
        return Response(_shown(request, work_for(user, campaign_pk, work_pk, may="read")))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, campaign_pk: int, work_pk: int) -> Response:
        """Withdraw work that goes on, or dismiss work that failed. What is done stays."""
        user: Any = request.user
        work_remove(work=work_to_end_for(user, campaign_pk, work_pk))
        return Response(status=204)


class CampaignBundle(APIView):
    content_negotiation_class = FilesOnly

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, campaign_pk: int) -> FileResponse:
        """The bundle of a small campaign, from which anybody can compute the scores again.

        Where making it takes over a second, this is refused; `POST …/bundle/` has a worker make it.
        """
        campaign = campaign_for(request.user, campaign_pk, may="oversee")  # type: ignore[arg-type]
        return bundle_answer(campaign)


class BundleMake(APIView):
    @extend_schema(request=BundleChoicesSerializer, responses={201: WorkSerializer, 202: WorkSerializer})
    def post(self, request: Request, campaign_pk: int) -> Response:
        """Make the bundle of a campaign, which is kept: of the same state of the campaign, once.

        Where that takes over a second, a worker does it: the status is 202, and the header `Location` has the address
        that says how far it is and, once it is done, where the file is. A newer bundle takes the place of the last one.
        """
        user: Any = request.user
        campaign = campaign_for(user, campaign_pk, may="oversee")
        asked = BundleChoicesSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        work = bundle_now_or_later(campaign=campaign, by=user, **asked.validated_data)
        if work.has_bundle:
            return Response(_shown(request, work), status=201)
        return _later(request, work)


class KeptBundle(APIView):
    content_negotiation_class = FilesOnly

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, campaign_pk: int, work_pk: int) -> FileResponse:
        """A bundle that was made and kept; 404 while it is being made."""
        user: Any = request.user
        return bundle_kept_answer(work_for(user, campaign_pk, work_pk, may="oversee"))
