"""Judging for programs: a tuple is claimed, answered, skipped, and the last answer taken back."""

from typing import Any

from django.http.response import HttpResponseBase, StreamingHttpResponse
from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import campaign_for, lease_for
from annotation.bws.files.judgement_files import judgement_lines
from annotation.cards import cards_of
from annotation.judging.assignment import (
    answer_submit,
    judgement_undo,
    tuple_claim,
    tuple_flag,
    tuple_skip,
)
from annotation.judging.choosing import NoTupleReason
from annotation.models import Lease
from annotation.results.record import campaign_judgements, judgement_table
from annotation.serializers import (
    AnswerSerializer,
    ClaimSerializer,
    FlaggedSerializer,
    FlagSerializer,
    SkipSerializer,
    SubmittedSerializer,
    UndoSerializer,
)
from annotation.views.api.participation import participation_of
from curation.views.api.base import SPREADSHEET
from curation.views.tables import for_spreadsheet


class TupleClaim(APIView):
    judging = ("POST",)

    @extend_schema(request=None, responses=ClaimSerializer)
    def post(self, request: Request, campaign_pk: int) -> Response:
        """The tuple for you; the same one until you have answered it."""
        claimed = tuple_claim(participation=participation_of(request, campaign_pk), at=now())
        return Response(ClaimSerializer(_claim(claimed)).data)


def _claim(claimed: Lease | NoTupleReason) -> dict[str, Any]:
    if isinstance(claimed, NoTupleReason):
        nothing = {"nothing": claimed.value, "sentence": str(claimed.label)}
        return {"lease": None, "expires_at": None, "pairs": [], **nothing}
    about = {"lease": claimed.pk, "expires_at": claimed.expires_at, "pairs": cards_of([claimed])[claimed.pk]}
    return {**about, "nothing": "", "sentence": ""}


class Judgements(APIView):
    judging = ("POST",)

    @extend_schema(request=AnswerSerializer, responses=SubmittedSerializer)
    def post(self, request: Request, campaign_pk: int) -> Response:
        """Keep a judgement. The same client_id again answers the same, and changes nothing.

        With `claim` the answer brings the next tuple, as its own claim would.
        """
        asked = AnswerSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        answer = asked.validated_data
        lease = lease_for(request.user, campaign_pk, answer.pop("lease"))  # type: ignore[arg-type]
        submitted = answer_submit(lease=lease, at=now(), **answer)
        judgement, gold, following = submitted.judgement, submitted.gold, submitted.following
        position = judgement.order_shown.index
        shown = {
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
            "next": None if following is None else _claim(following),
        }
        return Response(SubmittedSerializer(shown).data)

    @extend_schema(parameters=[SPREADSHEET], responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def get(self, request: Request, campaign_pk: int) -> HttpResponseBase:
        """The judgements that count, as the file of the K&M scripts; pairs go by their ids, annotators by a code."""
        campaign = campaign_for(request.user, campaign_pk, may="read")  # type: ignore[arg-type]
        judged = campaign_judgements(campaign)
        filed = judged.as_filed(judged.feeding("maxdiff"))
        spreadsheet = for_spreadsheet(request._request)
        lines = judgement_lines(*judgement_table(campaign, filed), spreadsheet=spreadsheet)
        return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")


class JudgementUndo(APIView):
    judging = ("POST",)

    @extend_schema(request=UndoSerializer, responses=ClaimSerializer)
    def post(self, request: Request, campaign_pk: int) -> Response:
        """Undo your last judgement; its tuple is yours again.

        client_id: UUID of the judgement to undo. Repeating the request has no further effect.
        """
        asked = UndoSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        person = participation_of(request, campaign_pk)
        lease = judgement_undo(participation=person, at=now(), client_id=asked.validated_data["client_id"])
        return Response(ClaimSerializer(_claim(lease)).data)


class TupleSkip(APIView):
    judging = ("POST",)

    @extend_schema(request=SkipSerializer, responses=ClaimSerializer)
    def post(self, request: Request, campaign_pk: int) -> Response:
        """Leave a tuple to others, and say why; the answer brings the next one."""
        asked = SkipSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        lease = lease_for(request.user, campaign_pk, said["lease"])  # type: ignore[arg-type]
        tuple_skip(
            participation=lease.participation,
            tuple_id=lease.tuple_id,
            reason=said["reason"],
            note=said["note"],
            at=now(),
        )
        return Response(
            ClaimSerializer(_claim(tuple_claim(participation=lease.participation, at=now()))).data
        )


class TupleFlag(APIView):
    @extend_schema(request=FlagSerializer, responses={201: FlaggedSerializer})
    def post(self, request: Request, campaign_pk: int) -> Response:
        """Say what is wrong with a tuple, or comment on it (`reason` is `comment`); you can still answer it."""
        asked = FlagSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        lease = lease_for(request.user, campaign_pk, said.pop("lease"))  # type: ignore[arg-type]
        place, shown = said.pop("pair"), lease.order_shown
        slot = shown[place] if place is not None and place < len(shown) else place
        flag = tuple_flag(
            participation=lease.participation, tuple_id=lease.tuple_id, slot=slot, at=now(), **said
        )
        return Response(FlaggedSerializer(flag).data, status=201)
