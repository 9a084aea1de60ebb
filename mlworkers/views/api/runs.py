"""Runs, what they made and what they measured, for programs, read-only: /api/v1/runs/, /artifacts/, /evaluations/.

Who sees which is what the pages say (`access.runs_visible`).
"""

from django.db.models import QuerySet
from rest_framework.viewsets import ReadOnlyModelViewSet

from mlworkers.access import artifacts_visible, evaluations_visible, runs_visible
from mlworkers.models import Artifact, Evaluation, Run
from mlworkers.serializers import ArtifactSerializer, EvaluationSerializer, RunSerializer


class RunViewSet(ReadOnlyModelViewSet[Run]):
    """Runs, newest first: their plan, how far they are, what came of them, and their files."""

    serializer_class = RunSerializer
    lookup_value_converter = "number"
    queryset = Run.objects.none()  # the schema reads the type of the key from it

    def get_queryset(self) -> QuerySet[Run]:
        runs = runs_visible(self.request.user)  # type: ignore[arg-type]
        return runs.select_related("dataset", "started_by").prefetch_related("artifacts")


class ArtifactViewSet(ReadOnlyModelViewSet[Artifact]):
    """Models and other files that runs made, newest first, with card and checksum."""

    serializer_class = ArtifactSerializer
    lookup_value_converter = "number"
    queryset = Artifact.objects.none()

    def get_queryset(self) -> QuerySet[Artifact]:
        return artifacts_visible(self.request.user).order_by("-pk")  # type: ignore[arg-type]


class EvaluationViewSet(ReadOnlyModelViewSet[Evaluation]):
    """Figures of models on tests with their intervals, newest first."""

    serializer_class = EvaluationSerializer
    lookup_value_converter = "number"
    queryset = Evaluation.objects.none()

    def get_queryset(self) -> QuerySet[Evaluation]:
        return evaluations_visible(self.request.user).order_by("-pk")  # type: ignore[arg-type]
