"""Runs, what they made and what they measured, for programs: /api/v1/runs/, /artifacts/, /evaluations/.

Who sees which is what the pages say (`access.runs_visible`).
"""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from curation.views.api.base import SPREADSHEET, FilesOnly
from mlworkers.access import artifacts_visible, evaluations_visible, runs_visible
from mlworkers.models import Artifact, Evaluation, Run
from mlworkers.serializers import ArtifactSerializer, EvaluationSerializer, RunSerializer, StartSerializer
from mlworkers.views.api.starting import run_started
from mlworkers.views.models import artifact_answer


class RunViewSet(ReadOnlyModelViewSet[Run]):
    """Runs, newest first, with plan, progress, result and files."""

    serializer_class = RunSerializer
    lookup_value_converter = "number"
    queryset = Run.objects.none()  # the schema reads the type of the key from it

    def get_queryset(self) -> QuerySet[Run]:
        runs = runs_visible(self.request.user)  # type: ignore[arg-type]
        return runs.select_related("dataset", "started_by").prefetch_related("artifacts")

    def rows_after(self, runs: QuerySet[Run], number: int) -> QuerySet[Run]:
        return runs.filter(pk__lt=number)

    @extend_schema(request=StartSerializer, responses={201: RunSerializer})
    def create(self, request: Request) -> Response:
        """Start a run. Which kinds there are, and their settings, is at /api/v1/runs/kinds/."""
        user: Any = request.user
        return Response(self.get_serializer(run_started(user, request.data)).data, 201)


class ArtifactViewSet(ReadOnlyModelViewSet[Artifact]):
    """Models and other files that runs made, newest first, with card and checksum."""

    serializer_class = ArtifactSerializer
    lookup_value_converter = "number"
    queryset = Artifact.objects.none()

    def get_queryset(self) -> QuerySet[Artifact]:
        return artifacts_visible(self.request.user).order_by("-pk")  # type: ignore[arg-type]

    def rows_after(self, artifacts: QuerySet[Artifact], number: int) -> QuerySet[Artifact]:
        return artifacts.filter(pk__lt=number)

    @extend_schema(
        parameters=[SPREADSHEET],
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    @action(detail=True, url_path="file", content_negotiation_class=FilesOnly)
    def file(self, request: Request, pk: int) -> HttpResponseBase:
        """The file; a folder comes as one zip file."""
        return artifact_answer(request._request, self.get_object())


class EvaluationViewSet(ReadOnlyModelViewSet[Evaluation]):
    """Figures of models on tests with their intervals, newest first."""

    serializer_class = EvaluationSerializer
    lookup_value_converter = "number"
    queryset = Evaluation.objects.none()

    def get_queryset(self) -> QuerySet[Evaluation]:
        return evaluations_visible(self.request.user).order_by("-pk")  # type: ignore[arg-type]

    def rows_after(self, evaluations: QuerySet[Evaluation], number: int) -> QuerySet[Evaluation]:
        return evaluations.filter(pk__lt=number)
