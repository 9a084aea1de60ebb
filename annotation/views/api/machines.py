"""Machines that judge tuples of a campaign, for programs."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import campaign_for
from annotation.campaigns.machine_block import tuples_reserve
from annotation.models import Campaign
from annotation.results.machines import block_of, machines_compared
from annotation.serializers import BlockRequestSerializer, MachinesSerializer


class MachineList(APIView):
    @extend_schema(responses=MachinesSerializer)
    def get(self, request: Request, campaign_pk: int) -> Response:
        """The model annotators of the campaign, compared with people. They count for nothing else."""
        return Response(_machines(campaign_for(request.user, campaign_pk, may="read")))  # type: ignore[arg-type]

    @extend_schema(request=BlockRequestSerializer, responses={201: MachinesSerializer})
    def post(self, request: Request, campaign_pk: int) -> Response:
        """Sample the tuples that model annotators answer, once for all. Runs `judge_tuples` take the block's number."""
        user: Any = request.user
        campaign = campaign_for(user, campaign_pk, may="curate")
        asked = BlockRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        tuples_reserve(campaign=campaign, number=asked.validated_data["tuples"], by=user)
        return Response(_machines(campaign), status=201)


def _machines(campaign: Campaign) -> dict[str, Any]:
    block = block_of(campaign)
    shown = {
        "block": block.pk if block else None,
        "tuples": len(block.tuples) if block else 0,
        "machines": machines_compared(campaign, block) if block else [],
    }
    data: dict[str, Any] = MachinesSerializer(shown).data
    return data
