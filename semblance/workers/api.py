"""The workers for programs of staff: /api/v1/workers/, and draining one."""

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.foundation.heartbeats import database_now
from mlworkers.access import installation_allow
from mlworkers.models import WorkerHeartbeat
from mlworkers.runs.draining import worker_drain, worker_undrain
from semblance.workers.listing import WorkerRow, WorkerState, worker_rows


class DoingSerializer(serializers.Serializer[Any]):
    words = serializers.CharField()
    seconds = serializers.IntegerField(allow_null=True)


class WorkerSerializer(serializers.Serializer[Any]):
    """A worker. doing: what it carries out; drained: it takes no more work and has none, so that it can be stopped."""

    id = serializers.IntegerField(source="worker.pk")
    name = serializers.CharField(source="worker.name")
    queues = serializers.ListField(source="worker.queues", child=serializers.CharField())
    device = serializers.CharField(source="worker.device")
    devices = serializers.IntegerField(source="worker.devices", help_text="The number of accelerators.")
    version = serializers.CharField(source="worker.version")
    started_at = serializers.DateTimeField(source="worker.started_at", allow_null=True)
    seen_at = serializers.DateTimeField(source="worker.seen_at")
    state = serializers.ChoiceField(choices=WorkerState.choices)
    doing = DoingSerializer(many=True)


class Workers(APIView):
    @extend_schema(responses=WorkerSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The workers of the site, those that live first, for staff."""
        user: Any = request.user
        installation_allow(user)
        return Response(WorkerSerializer(worker_rows(database_now()), many=True).data)


class WorkerDrain(APIView):
    @extend_schema(request=None, responses=WorkerSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Let a worker take no more work and hand back its runs. Ask again until its state is “drained”."""
        user: Any = request.user
        installation_allow(user)
        worker_drain(worker=get_object_or_404(WorkerHeartbeat, pk=pk), by=user, at=database_now())
        return Response(WorkerSerializer(_row(pk)).data)


class WorkerUndrain(APIView):
    @extend_schema(request=None, responses=WorkerSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Let a drained worker take work again."""
        user: Any = request.user
        installation_allow(user)
        worker_undrain(worker=get_object_or_404(WorkerHeartbeat, pk=pk), by=user)
        return Response(WorkerSerializer(_row(pk)).data)


def _row(pk: int) -> WorkerRow:
    """Raises Http404 for a worker that has ended in the meantime."""
    rows = {row.worker.pk: row for row in worker_rows(database_now())}
    if pk not in rows:
        raise Http404
    return rows[pk]
