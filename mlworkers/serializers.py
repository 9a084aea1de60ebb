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
        names = {"pk": artifact.pk}
        return reverse("artifact-file", kwargs=names, request=self.context.get("request"))


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


class DefaultField(serializers.JSONField):
    """The default of a setting; null where the setting is required or may stay empty."""

    def to_representation(self, value: Any) -> Any:
        return getattr(value, "value", value)


class SettingSerializer(serializers.Serializer[Any]):
    """A setting of a plan."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name, not the attribute
    type = serializers.CharField(source="type_name")
    required = serializers.BooleanField()  # type: ignore[assignment]
    default = DefaultField()
    unit = serializers.CharField()
    choices = serializers.ListField(child=serializers.CharField())
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    refers_to = serializers.CharField(help_text="what the value names, such as a score set")
    help = serializers.CharField()


class KindSerializer(serializers.Serializer[Any]):
    """A kind of run."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    description = serializers.CharField()
    queue = serializers.CharField()
    settings = SettingSerializer(many=True)


class StartAgainSerializer(serializers.Serializer[Any]):
    launch = serializers.UUIDField(
        required=False, help_text="a UUID of your making: sent twice, it starts one run"
    )


class StartSerializer(StartAgainSerializer):
    """A run to start: its kind, and the settings of its plan that differ from the defaults."""

    kind = serializers.CharField(help_text="its name in /api/v1/runs/kinds/")
    plan = serializers.DictField(help_text="by the names of the settings")
