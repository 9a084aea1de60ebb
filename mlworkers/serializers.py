"""Runs and their files, as programs read them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from mlworkers.models import Artifact, Evaluation, Run


class ArtifactSerializer(serializers.ModelSerializer[Artifact]):
    name = serializers.CharField(read_only=True)
    download = serializers.SerializerMethodField()

    class Meta:
        model = Artifact
        fields = ["id", "run", "kind", "name", "sha256", "size", "card", "created_at", "download"]

    @extend_schema_field(serializers.URLField())
    def get_download(self, artifact: Artifact) -> str:
        names = {"pk": artifact.run_id, "artifact_pk": artifact.pk}
        return reverse("mlworkers:artifact_download", kwargs=names, request=self.context.get("request"))


class RunSerializer(serializers.ModelSerializer[Run]):
    dataset = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    started_by = serializers.StringRelatedField[Any]()
    artifacts = ArtifactSerializer(many=True, read_only=True)

    class Meta:
        model = Run
        fields = [
            "id",
            "kind",
            "dataset",
            "plan",
            "queue",
            "state",
            "attempt",
            "done",
            "total",
            "message",
            "result",
            "started_by",
            "created_at",
            "started_at",
            "finished_at",
            "artifacts",
        ]


class EvaluationSerializer(serializers.ModelSerializer[Evaluation]):
    class Meta:
        model = Evaluation
        fields = [
            "id",
            "run",
            "artifact",
            "model",
            "label",
            "source",
            "suite",
            "part",
            "metric",
            "value",
            "low",
            "high",
            "n",
            "seed",
            "created_at",
        ]
